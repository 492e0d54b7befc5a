// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "graph/backend.hpp"
#include "runtime/graph_task.hpp"

namespace op2::runtime {

/// @brief What a node of a graph of loops runs.
using LoopKernel = std::shared_ptr<GraphTask>;

class LoopNodes;

/// @brief Where a node stands among those of its graph.
struct LoopNodeDetails {
  LoopNodeDetails() = default;
  explicit LoopNodeDetails(graph::IsRoot /*root*/) : is_root(true) {}

  bool is_root = false;
  const LoopNodes* owner = nullptr;  ///< null: it was not added yet
  std::size_t number = 0;            ///< in the order in which nodes were added
  std::vector<std::size_t> before;   ///< numbers of those that it waits for
};

using LoopNode = graph::KernelNode<LoopKernel, LoopNodeDetails>;

/// @brief The nodes of a graph of loops that is being built, for all backends that replay them in
/// the order in which they were added.
class LoopNodes {
 public:
  /// @throws InternalError if the node is of a graph already.
  void add(const std::shared_ptr<LoopNode>& node);
  /// @throws InternalError if one of the two was not added, or the order contradicts that of
  /// adding.
  void order(LoopNode& node, const LoopNode& before) const;
  /// @brief What the nodes run, each behind those that it waits for.
  /// @throws InternalError if a node is not behind the root.
  [[nodiscard]] std::vector<LoopKernel> in_order() const;
  /// @brief For each of in_order() the numbers of those there that it waits for, ascending.
  [[nodiscard]] std::vector<std::vector<std::size_t>> waits() const;

 private:
  std::vector<std::shared_ptr<LoopNode>> nodes_;
};

}  // namespace op2::runtime
