// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What the loops of a program were, as `op2.dispatch.report()` says in Python.
namespace op2 {

/// @brief Runs of all loops of a kernel on a backend, by a strategy.
struct LoopReport {
  std::string loop;          ///< name of the kernel
  std::string backend;       ///< name of the backend
  std::string strategy;      ///< how updates of two threads are kept apart
  std::int64_t n_calls = 0;  ///< runs so far
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

/// @brief Calls of an operation of algebra, by a library or by the run-time itself, while
/// Options::blas allowed libraries.
struct OperationReport {
  std::string operation;     ///< such as "dot of float64"
  std::string library;       ///< its file, or the name of an op2::Library; empty: none, own code
  std::int64_t n_calls = 0;  ///< calls so far
  double seconds = 0;        ///< in calls
  /// Why libraries did not serve these calls, such as "cblas: cost"; empty: none was refused.
  std::string rejected = {};
};

/// @brief All loops made so far, by name, backend and strategy, and all calls of algebra.
struct Report {
  std::vector<LoopReport> loops;  ///< by name, backend and strategy
  /// Files of measured choices that are not used, and libraries that do not open.
  std::vector<std::string> problems = {};
  std::vector<OperationReport> operations = {};  ///< by operation, type and library

  /// @brief A table, a line for each.
  [[nodiscard]] std::string text() const;
};

/// @brief What was hit so far. Waits for nothing.
[[nodiscard]] Report report();

}  // namespace op2
