// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/trace.hpp"
#include "runtime/host/team_choice.hpp"

namespace op2::runtime {

/// @brief The cost of all loops of a name so far; shared by all PreparedLoops of the name.
struct Timing {
  explicit Timing(std::shared_ptr<Trace> noted = std::make_shared<Trace>())
      : trace(std::move(noted)) {}

  std::atomic<std::int64_t> n_calls = 0;
  std::atomic<std::int64_t> nanoseconds = 0;  ///< in run(), without plans; on a device the time to
                                              ///< enqueue
  std::atomic<std::int64_t> plan_nanoseconds = 0;  ///< building plans
  std::atomic<std::int64_t> useful_bytes = 0;      ///< of all calls
  std::atomic<std::int64_t> operations = 0;        ///< of the calls with known operations
  std::atomic<std::int64_t> n_unknown = 0;         ///< calls with unknown operations
  std::atomic<std::int64_t> n_double = 0;          ///< calls with operands of eight bytes

  // Of the calls timed by a device's own clock, during a profile.
  std::atomic<std::int64_t> n_measured = 0;
  std::atomic<std::int64_t> measured_nanoseconds = 0;
  std::atomic<std::int64_t> measured_bytes = 0;

  std::shared_ptr<Trace> trace;  ///< never null

  /// @brief Count @p n calls with the bytes and operations of each; -1 operations: unknown.
  void count(std::int64_t n, std::int64_t bytes, std::int64_t n_operations, int float_bytes) {
    n_calls += n;
    useful_bytes += n * bytes;
    (n_operations < 0 ? n_unknown : operations) += n_operations < 0 ? n : n * n_operations;
    if (float_bytes > 4) n_double += n;
  }

  /// @brief Facts about threads for loops of this name over @p n_elements. Loops are prepared anew
  /// when options change, and would have to measure again.
  [[nodiscard]] std::shared_ptr<TeamChoice> team_choice(std::int64_t n_elements,
                                                        const TeamRules& rules) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<TeamChoice>& found = choices_[{n_elements, rules}];
    if (!found) found = std::make_shared<TeamChoice>(rules);
    return found;
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::map<std::pair<std::int64_t, TeamRules>, std::shared_ptr<TeamChoice>> choices_;
};

}  // namespace op2::runtime
