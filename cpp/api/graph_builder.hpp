// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
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
[[nodiscard]] const std::string& name_of(const DataState& data);
/// @brief A number in messages.
[[nodiscard]] std::string text_of(double number);
[[nodiscard]] std::string text_of(std::int64_t number);
[[nodiscard]] std::string text_of(std::uint64_t number);

/// @brief Compare as numbers, whatever the types.
template <class L, class R>
bool is_less(L left, R right) {
  if constexpr (std::is_integral_v<L> && std::is_integral_v<R>) {
    return std::cmp_less(left, right);
  } else {
    return left < right;
  }
}
template <class L, class R>
bool is_at_most(L left, R right) {
  if constexpr (std::is_integral_v<L> && std::is_integral_v<R>) {
    return std::cmp_less_equal(left, right);
  } else {
    return left <= right;
  }
}

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// @brief A side of a comparison.
template <class T>
struct GlobalSide {
  Global<T> global;
  [[nodiscard]] T value() const { return global.read()[0]; }
  [[nodiscard]] std::string text() const { return name_of(*global.state()); }
  void add_uses(std::vector<NodeUse>& uses) const {
    uses.push_back({global.state(), dtype_of<T>(), Access::read});
  }
};
template <class T>
struct NumberSide {
  T number;
  [[nodiscard]] T value() const { return number; }
  [[nodiscard]] std::string text() const {
    if constexpr (std::is_floating_point_v<T>) {
      return text_of(static_cast<double>(number));
    } else if constexpr (std::is_signed_v<T>) {
      return text_of(static_cast<std::int64_t>(number));
    } else {
      return text_of(static_cast<std::uint64_t>(number));
    }
  }
  void add_uses(std::vector<NodeUse>& /*uses*/) const {}
};

/// @brief The side at the right of a Global of @p T: a number is rounded to a real type, as in
/// NumPy.
template <class T, class R>
auto side_of(const Global<R>& right) {
  return GlobalSide<R>{right};
}
template <class T, Number N>
auto side_of(N number) {
  using Kept = std::conditional_t<std::is_floating_point_v<T>, T, N>;
  return NumberSide<Kept>{static_cast<Kept>(number)};
}

}  // namespace api

/// @brief A comparison of a Global of one real number with a number or another such Global, made by
/// `residual > 0.1` and the like. GraphBuilder::while_() looks at the values before each pass.
class Condition {
 public:
  /// @param[in] sign In words.
  /// @param[in] compare Called with both numbers at each look.
  template <class T, class Right, class Compare>
  Condition(const Global<T>& left, const char* sign, const Right& right, Compare compare) {
    const api::GlobalSide<T> one{left};
    const auto other = api::side_of<T>(right);
    text_ = one.text() + " " + sign + " " + other.text();
    holds_ = [one, other, compare] { return compare(one.value(), other.value()); };
    one.add_uses(uses_);
    other.add_uses(uses_);
  }

  /// @brief Whether the condition holds now. Waits for a device with newer values.
  [[nodiscard]] bool holds() const { return holds_(); }
  /// @brief The comparison in words, such as "residual > 0.1".
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<api::NodeUse>& uses() const { return uses_; }

 private:
  std::string text_;
  std::function<bool()> holds_;
  std::vector<api::NodeUse> uses_;
};

/// @brief Conditions. @p right is a number, or a Global of one number.
template <api::Number T, class Right>
Condition operator<(const Global<T>& left, const Right& right) {
  return {left, "<", right, [](auto one, auto other) { return api::is_less(one, other); }};
}
template <api::Number T, class Right>
Condition operator<=(const Global<T>& left, const Right& right) {
  return {left, "<=", right, [](auto one, auto other) { return api::is_at_most(one, other); }};
}
template <api::Number T, class Right>
Condition operator>(const Global<T>& left, const Right& right) {
  return {left, ">", right, [](auto one, auto other) { return api::is_less(other, one); }};
}
template <api::Number T, class Right>
Condition operator>=(const Global<T>& left, const Right& right) {
  return {left, ">=", right, [](auto one, auto other) { return api::is_at_most(other, one); }};
}

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

  /// @brief Add a scan: each entity gets the sum, minimum or maximum over all entities before, see
  /// scan(). Between two types values are converted first. The host scans.
  /// @param[in] operation Access::inc for sums, Access::min or Access::max.
  /// @param[in] inclusive Whether the entity itself counts.
  /// @throws UsageError as then(), for different numbers of values, another operation, or an order
  /// of complex numbers.
  template <class S, class T, int Dim>
  GraphNode then_scan(const Dat<S, Dim>& source, const Dat<T, Dim>& target,
                      Access operation = Access::inc, bool inclusive = false) const {
    api::GraphSteps steps;
    steps.scan(source, target, operation, inclusive);
    return added("scan", std::move(steps),
                 {{source.state(), api::dtype_of<S>(), Access::read},
                  {target.state(), api::dtype_of<T>(), Access::write}});
  }

  /// @brief Add nodes repeated as long as a condition holds, as one node.
  /// @param[in] condition Looked at before each pass.
  /// @param[in] most So many passes at most.
  /// @param[in] body Called once, now, with the builder of the repeated nodes.
  /// @throws UsageError as then(), for a number of passes that is not positive, or no body. Errors
  /// of the body pass on, and nothing is added then.
  GraphNode while_(const Condition& condition, std::int64_t most,
                   const std::function<void(const GraphBuilder&)>& body) const;

 private:
  friend class GraphBuilder;

  GraphNode(std::shared_ptr<api::BuilderState> state, std::vector<std::size_t> after)
      : state_(std::move(state)), after_(std::move(after)) {}
  [[nodiscard]] GraphNode added(std::string what, api::GraphSteps steps,
                                std::vector<api::NodeUse> uses) const;
  GraphNode added(std::string what, api::GraphSteps steps, std::vector<api::NodeUse> uses,
                  std::shared_ptr<api::BuilderState> inside) const;

  std::shared_ptr<api::BuilderState> state_;
  std::vector<std::size_t> after_;
};

/// @brief Builds a Graph of loops in an order that the program says, checked for races.
///
/// Nodes without an order must not use values that one of them writes; sums into the same values
/// may change places. The nodes of a while_() are checked in the same way, and count as one node
/// outside. A submit runs the nodes in the order of their addition.
///
///     op2::GraphBuilder builder("step");
///     const auto left = builder.then(flux), right = builder.then(source);
///     builder.when_all({left, right}).then(update);
///     op2::Graph step = builder.instantiate();
///     step.submit(100);
class GraphBuilder {
 public:
  /// @param[in] name In messages.
  explicit GraphBuilder(std::string name = "graph");

  /// @brief The place before all nodes.
  [[nodiscard]] GraphNode root() const;
  /// @brief Add a loop that waits for no other. @throws UsageError if the graph is built already.
  GraphNode then(Loop loop) const;  // NOLINT(modernize-use-nodiscard)
  /// @brief Repeat nodes behind no other, see GraphNode::while_().
  ///
  ///     builder.while_(residual > 1e-8, 1000, [&](const op2::GraphBuilder& again) {
  ///       again.then(sweep).then_fill(residual, 0.0).then(measure);
  ///     });
  /// @throws UsageError as GraphNode::while_().
  GraphNode while_(const Condition& condition,
                   std::int64_t most,  // NOLINT(modernize-use-nodiscard)
                   const std::function<void(const GraphBuilder&)>& body) const {
    return root().while_(condition, most, body);
  }
  /// @brief The place behind all of some nodes; of no nodes, before all.
  /// @throws UsageError for a node of another graph.
  [[nodiscard]] GraphNode when_all(std::initializer_list<GraphNode> nodes) const;
  [[nodiscard]] GraphNode when_all(const std::vector<GraphNode>& nodes) const;

  /// @brief End the construction. Values of the Graph are those of all nodes, by name.
  /// @throws UsageError if unordered nodes conflict, naming both and the values, and the builder
  /// stays open; or if the graph is built already.
  [[nodiscard]] Graph instantiate() const;

 private:
  friend class GraphNode;

  std::shared_ptr<api::BuilderState> state_;
};

}  // namespace op2
