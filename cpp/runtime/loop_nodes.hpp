// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "graph/backend.hpp"
#include "runtime/graph_task.hpp"

namespace op2::runtime {

/// @brief The work of a node in a graph of loops.
using LoopKernel = std::shared_ptr<GraphTask>;

class LoopNodes;

/// @brief The place of a node among the nodes of its graph.
struct LoopNodeDetails {
  LoopNodeDetails() = default;
  explicit LoopNodeDetails(graph::IsRoot /*root*/) : is_root(true) {}

  bool is_root = false;
  const LoopNodes* owner = nullptr;  ///< null: not added yet
  std::size_t number = 0;            ///< in the order of adding
  std::vector<std::size_t> before;   ///< numbers of the nodes to wait for
};

using LoopNode = graph::KernelNode<LoopKernel, LoopNodeDetails>;

/// @brief The nodes of a graph of loops under construction, for all backends that replay nodes in
/// the order of adding.
class LoopNodes {
 public:
  /// @throws InternalError if the node is of a graph already.
  void add(const std::shared_ptr<LoopNode>& node);
  /// @throws InternalError if one of the two was not added, or the order contradicts the order of
  /// adding.
  void order(LoopNode& node, const LoopNode& before) const;
  /// @brief The work of all nodes, each behind the nodes to wait for.
  /// @throws InternalError if a node is not behind the root.
  [[nodiscard]] std::vector<LoopKernel> in_order() const;
  /// @brief For each task of in_order() the ascending numbers of the tasks to wait for.
  [[nodiscard]] std::vector<std::vector<std::size_t>> waits() const;

 private:
  std::vector<std::shared_ptr<LoopNode>> nodes_;
};

}  // namespace op2::runtime
