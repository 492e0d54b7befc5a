// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"

/// The interface that a backend implements for graphs, and the construction of graphs through the
/// interface.
///
/// The customisation points are those of source document 001: a graph is constructed with an
/// instance of its execution space; add_node() is called for every node, the root and aggregates
/// too, before any add_predecessor() with the node.
namespace op2::graph {

/// @brief Marks a node as the root, before all others.
struct IsRoot {};
/// @brief Marks a node as a mere join of others.
struct IsAggregate {};

/// @brief A backend's data in each node.
template <class D>
concept NodeDetails = std::default_initializable<D> && std::constructible_from<D, IsRoot>;

/// @brief A node: its kernel, and the backend's data. A node never moves, so both can be pointed
/// to.
template <class Kernel, NodeDetails Details>
class KernelNode {
 public:
  explicit KernelNode(IsRoot root) : details_(root) {}
  explicit KernelNode(IsAggregate /*aggregate*/) {}
  explicit KernelNode(Kernel kernel) : kernel_(std::move(kernel)) {}
  KernelNode(const KernelNode&) = delete;
  KernelNode& operator=(const KernelNode&) = delete;
  ~KernelNode() = default;

  /// @brief The work of each submit; null for the root and for aggregates.
  [[nodiscard]] const Kernel* kernel() const { return kernel_ ? &*kernel_ : nullptr; }
  [[nodiscard]] Details& details() { return details_; }
  [[nodiscard]] const Details& details() const { return details_; }

 private:
  std::optional<Kernel> kernel_;
  Details details_{};
};

template <class G>
using NodeOf = KernelNode<typename G::Kernel, typename G::Details>;

/// @brief A node of a graph under construction. Copies are the same node.
template <class G>
class NodeRef {
 public:
  explicit NodeRef(std::shared_ptr<NodeOf<G>> node) : node_(std::move(node)) {}
  [[nodiscard]] NodeOf<G>& node() const { return *node_; }

 private:
  std::shared_ptr<NodeOf<G>> node_;
};

/// @brief A backend's graph. All nodes and edges before instantiate() make up each submit().
template <class G>
concept GraphBackend = NodeDetails<typename G::Details> &&
    std::constructible_from<G, typename G::Space> &&
    requires(G& graph, const G& ready, const std::shared_ptr<NodeOf<G>>& node,
             const NodeRef<G>& predecessor, std::span<const NodeRef<G>> several, std::int64_t n) {
  { graph.create_root_node_ptr() } -> std::same_as<std::shared_ptr<NodeOf<G>>>;
  { graph.create_aggregate_ptr(several) } -> std::same_as<std::shared_ptr<NodeOf<G>>>;
  graph.add_node(node);
  graph.add_predecessor(node, predecessor);
  graph.instantiate();
  graph.submit(n);
  { ready.get_execution_space() } -> std::convertible_to<typename G::Space>;
};

/// @brief A graph while nodes can be added. The construction cannot be submitted, and the finished
/// graph cannot be changed.
template <GraphBackend G>
class Construction {
 public:
  explicit Construction(typename G::Space space)
      : graph_(std::make_unique<G>(std::move(space))),
        root_(added(graph_->create_root_node_ptr())) {}

  /// @brief The node before all nodes.
  [[nodiscard]] const NodeRef<G>& root() const { return root_; }

  [[nodiscard]] NodeRef<G> then(const NodeRef<G>& before, typename G::Kernel kernel) {
    NodeRef<G> made = added(std::make_shared<NodeOf<G>>(std::move(kernel)));
    graph_->add_predecessor(last_, before);
    return made;
  }

  [[nodiscard]] NodeRef<G> when_all(std::span<const NodeRef<G>> several) {
    NodeRef<G> made = added(graph_->create_aggregate_ptr(several));
    for (const NodeRef<G>& one : several) graph_->add_predecessor(last_, one);
    return made;
  }

  /// @brief End the construction.
  [[nodiscard]] std::unique_ptr<G> instantiate() && {
    graph_->instantiate();
    return std::move(graph_);
  }

 private:
  NodeRef<G> added(std::shared_ptr<NodeOf<G>> node) {
    graph_->add_node(node);
    last_ = node;
    return NodeRef<G>(std::move(node));
  }

  std::unique_ptr<G> graph_;
  std::shared_ptr<NodeOf<G>> last_;
  NodeRef<G> root_;
};

/// @brief A node in written form.
template <class Kernel>
struct Step {
  std::vector<std::size_t> after;                  ///< earlier steps in the list; none: the start
  std::variant<Kernel, std::vector<Step>> what{};  ///< a kernel, or the steps of another graph
};

namespace inside {

template <GraphBackend G>
NodeRef<G> joined(Construction<G>& construction, const std::vector<NodeRef<G>>& several,
                  const NodeRef<G>& none) {
  if (several.empty()) return none;
  return several.size() == 1 ? several.front() : construction.when_all(several);
}

/// Add steps behind a node, and return the last ones, without a successor among them.
template <GraphBackend G>
std::vector<NodeRef<G>> add(Construction<G>& construction, const NodeRef<G>& start,
                            const std::vector<Step<typename G::Kernel>>& steps) {
  std::vector<NodeRef<G>> made;
  std::vector<bool> is_end(steps.size(), true);
  for (const Step<typename G::Kernel>& step : steps) {
    std::vector<NodeRef<G>> several;
    for (const std::size_t before : step.after) {
      if (before >= made.size()) throw UsageError("graph: a step waits for one behind it");
      several.push_back(made[before]);
      is_end[before] = false;
    }
    const NodeRef<G> before = joined(construction, several, start);
    if (const auto* kernel = std::get_if<0>(&step.what)) {
      made.push_back(construction.then(before, *kernel));
    } else {
      made.push_back(
          joined(construction, add(construction, before, std::get<1>(step.what)), before));
    }
  }
  std::vector<NodeRef<G>> ends;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (is_end[i]) ends.push_back(made[i]);
  }
  return ends;
}

}  // namespace inside

/// @brief The graph of some steps on a backend, ready to be submitted.
/// @throws UsageError if a step waits for a later step.
template <GraphBackend G>
[[nodiscard]] std::unique_ptr<G> lowered(typename G::Space space,
                                         const std::vector<Step<typename G::Kernel>>& steps) {
  Construction<G> construction(std::move(space));
  (void)inside::add(construction, construction.root(), steps);
  return std::move(construction).instantiate();
}

}  // namespace op2::graph
