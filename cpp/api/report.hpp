// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What the loops of a program were, as `op2.dispatch.report()` says in Python.
namespace op2 {

/// @brief Runs of all loops of a kernel on a backend, by a strategy.
struct LoopReport {
  std::string loop;
  std::string backend;
  std::string strategy;
  std::int64_t n_calls = 0;
  double seconds = 0;        ///< in calls; on a device the time to enqueue
  double plan_seconds = 0;   ///< to build plans: colours, blocks
  std::int64_t n_bytes = 0;  ///< moved at least, by all calls
  /// Why compiled forms before this did not suit the mesh, such as "Map 'to' leads to an entity
  /// twice"; empty: the first was taken.
  std::vector<std::string> rejected = {};
  /// Measurements that chose the code, such as "measured (exact): 2.0 us, 6.0 us by the rules:
  /// block, 4 lanes"; empty: the order of the program.
  std::vector<std::string> measured = {};
};

/// @brief All loops made so far, by name, backend and strategy.
struct Report {
  std::vector<LoopReport> loops;
  std::vector<std::string> problems = {};  ///< files of measured choices that are not used

  /// @brief A table, a line for each.
  [[nodiscard]] std::string text() const;
};

/// @brief What was hit so far. Waits for nothing.
[[nodiscard]] Report report();

}  // namespace op2
