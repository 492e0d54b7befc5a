// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/graph_task.hpp"

namespace op2::runtime {

/// @brief Tasks that are run one after the other in one call, so that nothing is to be done between
/// them: what a chain does again and again. On a device all are enqueued.
///
/// Unlike a Sequence it never waits, and tasks may be such as cannot be recorded.
class TaskRow {
 public:
  /// @throws UsageError if one of them is null.
  explicit TaskRow(std::vector<std::shared_ptr<GraphTask>> tasks);

  /// @return Whether values were copied between host and devices; see GraphTask::run().
  /// @throws As GraphTask::run(): what comes behind has not run then.
  bool run();

  [[nodiscard]] std::size_t size() const { return tasks_.size(); }

 private:
  std::vector<std::shared_ptr<GraphTask>> tasks_;
};

}  // namespace op2::runtime
