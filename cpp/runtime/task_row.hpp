// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/graph_task.hpp"

namespace op2::runtime {

/// @brief Tasks run in sequence by a single call, with nothing to do between them: the repeated
/// work of a chain. On a device all are enqueued.
///
/// Unlike a Sequence a row never waits, and tasks need not be recordable.
class TaskRow {
 public:
  /// @throws UsageError if a task is null.
  explicit TaskRow(std::vector<std::shared_ptr<GraphTask>> tasks);

  /// @return Whether values were copied between host and devices; see GraphTask::run().
  /// @throws As GraphTask::run(): later tasks have not run then.
  bool run();

  [[nodiscard]] std::size_t size() const { return tasks_.size(); }

 private:
  std::vector<std::shared_ptr<GraphTask>> tasks_;
};

}  // namespace op2::runtime
