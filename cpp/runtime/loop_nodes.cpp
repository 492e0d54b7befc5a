// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/loop_nodes.hpp"

#include <set>
#include <utility>

#include "base/error.hpp"

namespace op2::runtime {

void LoopNodes::add(const std::shared_ptr<LoopNode>& node) {
  LoopNodeDetails& details = node->details();
  if (details.owner != nullptr) throw InternalError("a node was added to two graphs, or twice");
  if (details.is_root != nodes_.empty())
    throw InternalError("a graph has one root, its first node");
  details.owner = this;
  details.number = nodes_.size();
  nodes_.push_back(node);
}

void LoopNodes::order(LoopNode& node, const LoopNode& before) const {
  LoopNodeDetails& details = node.details();
  if (details.owner != this || before.details().owner != this) {
    throw InternalError("nodes are ordered before both were added to the graph");
  }
  if (before.details().number >= details.number) {
    throw InternalError("a node waits for one that was added behind it");
  }
  details.before.push_back(before.details().number);
}

std::vector<LoopKernel> LoopNodes::in_order() const {
  std::vector<LoopKernel> found;
  for (const std::shared_ptr<LoopNode>& node : nodes_) {
    const LoopNodeDetails& details = node->details();
    if (!details.is_root && details.before.empty()) {
      throw InternalError("a node of a graph is not behind its root");
    }
    if (node->kernel() != nullptr) found.push_back(*node->kernel());
  }
  return found;
}

std::vector<std::vector<std::size_t>> LoopNodes::waits() const {
  std::vector<std::vector<std::size_t>> found;
  std::vector<std::set<std::size_t>> loops;  // of each node: its own, or those that it joins
  for (const std::shared_ptr<LoopNode>& node : nodes_) {
    std::set<std::size_t> before;
    for (const std::size_t one : node->details().before) {
      before.insert(loops[one].begin(), loops[one].end());
    }
    if (node->kernel() == nullptr) {
      loops.push_back(std::move(before));
      continue;
    }
    loops.push_back({found.size()});
    found.emplace_back(before.begin(), before.end());
  }
  return found;
}

}  // namespace op2::runtime
