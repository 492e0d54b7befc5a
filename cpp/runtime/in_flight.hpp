// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace op2::runtime {

/// @brief The loops enqueued since the host last waited: one of them is to blame for a fault.
///
/// Bounded, so a program that never waits does not grow; forgets the oldest first. Not safe to
/// share between threads.
class InFlight {
 public:
  /// @brief Note a launch. Allocates nothing once the names have been seen for a while.
  void add(const std::string& loop);
  /// @brief All of them are done.
  void clear();
  [[nodiscard]] bool is_empty() const { return n_added_ == 0; }

  /// @brief The loops to blame: "par_loop 'res'", or "one of the par_loops 'adt', 'res'", each
  /// once, in the order of enqueueing.
  [[nodiscard]] std::string blame() const;
  /// @brief Whether blame() names a single loop.
  [[nodiscard]] bool is_certain() const;

 private:
  static constexpr std::size_t most = 64;
  [[nodiscard]] std::vector<std::string> names() const;

  std::array<std::string, most> names_;  // a ring; entries keep their memory
  std::size_t n_added_ = 0;
};

}  // namespace op2::runtime
