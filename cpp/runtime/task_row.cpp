// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/task_row.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace op2::runtime {

TaskRow::TaskRow(std::vector<std::shared_ptr<GraphTask>> tasks) : tasks_(std::move(tasks)) {
  if (std::ranges::find(tasks_, nullptr) != tasks_.end()) {
    throw UsageError("a row of tasks has one that is null; pass loops, fills and copies only");
  }
}

bool TaskRow::run() {
  bool has_copied = false;
  for (const std::shared_ptr<GraphTask>& task : tasks_) has_copied |= task->run();
  return has_copied;
}

}  // namespace op2::runtime
