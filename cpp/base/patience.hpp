// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>

#include "base/clock.hpp"

namespace op2 {

/// @brief Called about every 50 ms during a wait; may throw to give up the wait.
///
/// The only way an interrupt (Ctrl-C) reaches a thread that waits for a compiler. Empty: never.
using InterruptCheck = std::function<void()>;

/// @brief How long to wait, and the check that can end a wait early.
struct Patience {
  double seconds = 0.0;
  InterruptCheck interrupted;
};

/// @brief A wait by polling, from its construction on.
class Wait {
 public:
  explicit Wait(const Patience& patience) : patience_(patience) {}

  /// @brief Whether to go on polling: false once the time is over.
  /// @throws Any exception of the interrupt check.
  [[nodiscard]] bool goes_on() {
    const auto now = Clock::now();
    if (patience_.interrupted && now - last_check_ > std::chrono::milliseconds(50)) {
      last_check_ = now;
      patience_.interrupted();
    }
    return std::chrono::duration<double>(now - start_).count() < patience_.seconds;
  }

 private:
  const Patience& patience_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_check_ = start_;
};

}  // namespace op2
