// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/graph_task.hpp"

#include <set>

namespace op2::runtime {

bool is_in_place(const std::vector<std::shared_ptr<GraphTask>>& tasks) {
  std::set<std::pair<mesh::Buffer*, mesh::Buffer*>> odd;
  for (const std::shared_ptr<GraphTask>& task : tasks) {
    const auto pair = task->exchanged();
    if (pair.first != nullptr && !odd.insert(pair).second) odd.erase(pair);
  }
  return odd.empty();
}

}  // namespace op2::runtime
