// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

namespace op2::jit {

/// @brief Called about every 50 ms while something is waited for; may throw to give up the wait.
///
/// The only way an interrupt (Ctrl-C) reaches a thread that waits for a compiler. Empty: never.
using InterruptCheck = std::function<void()>;

/// @brief How long to wait, and for whom to stop earlier.
struct Patience {
  double seconds = 0.0;
  InterruptCheck interrupted;
};

}  // namespace op2::jit
