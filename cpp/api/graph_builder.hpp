// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "api/graphs.hpp"
#include "api/op2.hpp"
#include "base/access.hpp"

namespace op2 {

class GraphBuilder;

namespace api {

struct BuilderState;

/// @brief A use of values by a node.
struct NodeUse {
  DataPointer data;
  DType dtype;
  Access access;
};

/// @brief The uses of a loop: arguments and Consts.
[[nodiscard]] std::vector<NodeUse> uses_of(LoopState& loop);
/// @brief The name of a loop's kernel.
[[nodiscard]] const std::string& name_of(const LoopState& loop);

}  // namespace api

/// @brief A place in a graph under construction: later nodes follow.
class GraphNode {
 public:
  /// @brief Add a loop behind this place.
  /// @throws UsageError if the graph is built already.
  GraphNode then(Loop loop) const;  // NOLINT(modernize-use-nodiscard)

  /// @brief Add setting all values of an object to a number.
  /// @throws UsageError as then().
  template <class T>
  GraphNode then_fill(const api::Held<T>& target, std::type_identity_t<T> value) const {
    api::GraphSteps steps;
    steps.fill(target, value);
    return added("fill", std::move(steps), {{target.state(), api::dtype_of<T>(), Access::write}});
  }

  /// @brief Add a copy of all values, converted to the type of the target.
  /// @throws UsageError as then(), and for different numbers of values.
  template <class S, class T>
  GraphNode then_copy(const api::Held<S>& source, const api::Held<T>& target) const {
    api::GraphSteps steps;
    steps.copy(source, target);
    return added("copy", std::move(steps),
                 {{source.state(), api::dtype_of<S>(), Access::read},
                  {target.state(), api::dtype_of<T>(), Access::write}});
  }

 private:
  friend class GraphBuilder;

  GraphNode(std::shared_ptr<api::BuilderState> state, std::vector<std::size_t> after)
      : state_(std::move(state)), after_(std::move(after)) {}
  [[nodiscard]] GraphNode added(std::string what, api::GraphSteps steps,
                                std::vector<api::NodeUse> uses) const;

  std::shared_ptr<api::BuilderState> state_;
  std::vector<std::size_t> after_;
};

/// @brief Builds a Graph of loops in an order that the program says, checked for races.
///
/// Nodes without an order must not use values that one of them writes; sums into the same values
/// may change places. A submit runs the nodes in the order of their addition.
///
///     op2::GraphBuilder builder("step");
///     const auto left = builder.then(flux), right = builder.then(source);
///     builder.when_all({left, right}).then(update);
///     op2::Graph step = builder.instantiate();
///     step.submit(100);
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "graph");

  /// @brief The place before all nodes.
  [[nodiscard]] GraphNode root() const;
  /// @brief Add a loop that waits for no other. @throws UsageError if the graph is built already.
  GraphNode then(Loop loop) const;  // NOLINT(modernize-use-nodiscard)
  /// @brief The place behind all of some nodes; of no nodes, before all.
  /// @throws UsageError for a node of another graph.
  [[nodiscard]] GraphNode when_all(std::initializer_list<GraphNode> nodes) const;
  [[nodiscard]] GraphNode when_all(const std::vector<GraphNode>& nodes) const;

  /// @brief End the construction. Values of the Graph are those of all nodes, by name.
  /// @throws UsageError if unordered nodes conflict, naming both and the values, and the builder
  /// stays open; or if the graph is built already.
  [[nodiscard]] Graph instantiate() const;

 private:
  std::shared_ptr<api::BuilderState> state_;
};

}  // namespace op2
