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

/// @brief What loops of one name have cost so far; shared by all PreparedLoops of that name.
struct Timing {
  explicit Timing(std::shared_ptr<Trace> noted = std::make_shared<Trace>())
      : trace(std::move(noted)) {}

  std::atomic<std::int64_t> n_calls = 0;
  std::atomic<std::int64_t> nanoseconds = 0;  ///< in run(), plans apart; on a device to enqueue it
  std::atomic<std::int64_t> plan_nanoseconds = 0;  ///< building plans
  std::atomic<std::int64_t> useful_bytes = 0;      ///< of all calls

  // Of the calls that a device measured by its own clock, while somebody profiled.
  std::atomic<std::int64_t> n_measured = 0;
  std::atomic<std::int64_t> measured_nanoseconds = 0;
  std::atomic<std::int64_t> measured_bytes = 0;

  std::shared_ptr<Trace> trace;  ///< never null

  /// @brief What loops of this name over so many elements know of threads. Loops are prepared anew
  /// when options change, and would have to find it out again.
  [[nodiscard]] std::shared_ptr<TeamChoice> team_choice(std::int64_t n_elements,
                                                        const TeamRules& rules) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<TeamChoice>& found = choices_[{n_elements, rules}];
    if (!found) found = std::make_shared<TeamChoice>(rules);
    return found;
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::map<std::pair<std::int64_t, TeamRules>, std::shared_ptr<TeamChoice>> choices_;
};

}  // namespace op2::runtime
