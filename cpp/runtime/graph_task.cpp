// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/graph_task.hpp"

#include <map>

namespace op2::runtime {

bool is_in_place(const std::vector<std::shared_ptr<GraphTask>>& tasks) {
  std::map<mesh::Buffer*, mesh::Buffer*> memory;  // whose each has now, of those that differ
  const auto memory_of = [&memory](mesh::Buffer* buffer) {
    const auto found = memory.find(buffer);
    return found == memory.end() ? buffer : found->second;
  };
  const auto give = [&memory](mesh::Buffer* buffer, mesh::Buffer* of) {
    if (buffer == of) {
      memory.erase(buffer);
    } else {
      memory[buffer] = of;
    }
  };
  for (const std::shared_ptr<GraphTask>& task : tasks) {
    const auto [first, second] = task->exchanged();
    if (first == nullptr) continue;
    mesh::Buffer* const of_first = memory_of(first);
    give(first, memory_of(second));
    give(second, of_first);
  }
  return memory.empty();
}

}  // namespace op2::runtime
