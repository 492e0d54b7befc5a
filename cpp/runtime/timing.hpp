// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/trace.hpp"

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
};

}  // namespace op2::runtime
