// SPDX-License-Identifier: BSD-3-Clause
#include "api/graph_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/object_states.hpp"
#include "base/error.hpp"
#include "graph/dag.hpp"

namespace op2 {
namespace api {

struct BuilderState {
  struct Node {
    std::string what;
    GraphSteps steps;
    std::vector<std::size_t> after;
    std::vector<NodeUse> uses;
    std::shared_ptr<BuilderState> inside;  // of a repetition; else null
  };

  std::string name;
  std::vector<Node> nodes;
  bool is_built = false;
};

const std::string& name_of(const DataState& data) {
  return data.name;
}

std::string text_of(double number) {
  return fmt::format("{}", number);
}

std::string text_of(std::int64_t number) {
  return fmt::format("{}", number);
}

std::string text_of(std::uint64_t number) {
  return fmt::format("{}", number);
}

}  // namespace api

namespace {

constexpr std::size_t most_races = 5;  // shown in a message

void check_open(const api::BuilderState& state) {
  if (!state.is_built) return;
  throw UsageError(fmt::format(
      "graph '{}' is built already, and takes no more nodes; make another op2::GraphBuilder",
      state.name));
}

/// The memory of each use, as numbers: equal where ranges overlap.
class MemoryNumbers {
 public:
  explicit MemoryNumbers(const std::vector<api::BuilderState::Node>& nodes) {
    for (const auto& node : nodes) {
      for (const api::NodeUse& use : node.uses) ranges_.emplace(begin(use), use.data.get());
    }
    const std::byte* end = nullptr;
    for (const auto& [at, data] : ranges_) {
      if (at >= end) names_.push_back(data->name);
      numbers_.emplace(data, static_cast<int>(names_.size()) - 1);
      end = std::max(end, at + std::max<std::int64_t>(data->buffer->n_bytes(), 1));
    }
  }

  [[nodiscard]] int of(const api::NodeUse& use) const { return numbers_.at(use.data.get()); }
  [[nodiscard]] const std::string& name(int number) const {
    return names_[static_cast<std::size_t>(number)];
  }

 private:
  static const std::byte* begin(const api::NodeUse& use) {
    return static_cast<const std::byte*>(use.data->buffer->data());
  }

  std::multimap<const std::byte*, const api::DataState*> ranges_;
  std::map<const api::DataState*, int> numbers_;
  std::vector<std::string> names_;  // of the first object there
};

void check_races(const api::BuilderState& state) {
  const MemoryNumbers numbers(state.nodes);
  std::vector<graph::Node> nodes;
  for (const auto& one : state.nodes) {
    graph::Node& node = nodes.emplace_back(graph::Node{one.after, {}});
    for (const api::NodeUse& use : one.uses) node.uses.push_back({numbers.of(use), use.access});
  }
  const std::vector<graph::Conflict> found = graph::races(nodes);
  if (found.empty()) {
    for (const auto& one : state.nodes) {
      if (one.inside) check_races(*one.inside);
    }
    return;
  }
  std::string lines;
  for (std::size_t i = 0; i < std::min(found.size(), most_races); ++i) {
    const graph::Conflict& one = found[i];
    lines += fmt::format("  node {} '{}' and node {} '{}': {}\n", one.earlier,
                         state.nodes[one.earlier].what, one.later, state.nodes[one.later].what,
                         numbers.name(one.memory));
  }
  if (found.size() > most_races) lines += fmt::format("  and {} more\n", found.size() - most_races);
  throw UsageError(fmt::format(
      "graph '{}': nothing orders nodes that use the same data, and one of them writes it:\n{}put "
      "one behind the other with then() or when_all()",
      state.name, lines));
}

/// Each object once, in the order of the first use.
std::vector<api::GraphValues> values_of(const api::BuilderState& state) {
  std::vector<api::GraphValues> found;
  for (const auto& node : state.nodes) {
    for (const api::NodeUse& use : node.uses) {
      auto known = std::ranges::find(found, use.data, &api::GraphValues::data);
      if (known == found.end()) {
        found.push_back({use.data->name, use.dtype, use.data, use.access != Access::write, false});
        known = found.end() - 1;
      }
      known->is_output = known->is_output || use.access != Access::read;
    }
  }
  return found;
}

/// The uses of a repetition: each object once. There may be no pass, so old values count.
std::vector<api::NodeUse> uses_of_all(const Condition& condition,
                                      const api::BuilderState& repeated) {
  std::vector<api::NodeUse> found = condition.uses();
  const auto add = [&found](const api::NodeUse& use) {
    const auto known = std::ranges::find(found, use.data, &api::NodeUse::data);
    if (known == found.end()) {
      found.push_back(use);
    } else if (known->access != use.access) {
      known->access = Access::rw;
    }
  };
  for (const auto& node : repeated.nodes) std::ranges::for_each(node.uses, add);
  for (api::NodeUse& use : found) {
    if (use.access == Access::write) use.access = Access::rw;
  }
  return found;
}

}  // namespace

GraphNode GraphNode::added(std::string what, api::GraphSteps steps,
                           std::vector<api::NodeUse> uses) const {
  return added(std::move(what), std::move(steps), std::move(uses), nullptr);
}

GraphNode GraphNode::added(std::string what, api::GraphSteps steps, std::vector<api::NodeUse> uses,
                           std::shared_ptr<api::BuilderState> inside) const {
  check_open(*state_);
  state_->nodes.push_back(
      {std::move(what), std::move(steps), after_, std::move(uses), std::move(inside)});
  return {state_, {state_->nodes.size() - 1}};
}

GraphNode GraphNode::while_(const Condition& condition, std::int64_t most,
                            const std::function<void(const GraphBuilder&)>& body) const {
  check_open(*state_);
  if (most < 1) {
    throw UsageError(fmt::format("graph '{}': while_: most must be a positive number, got {}",
                                 state_->name, most));
  }
  if (!body) {
    throw UsageError(
        fmt::format("graph '{}': while_: there is no function for the body", state_->name));
  }
  const GraphBuilder repeated("while " + condition.text());
  body(repeated);
  std::shared_ptr<api::BuilderState> inside = repeated.state_;
  inside->is_built = true;
  api::GraphSteps once;
  for (const auto& node : inside->nodes) once.add(node.steps);
  api::GraphSteps steps;
  steps.repeat([condition] { return condition.holds(); }, most, std::move(once));
  std::vector<api::NodeUse> uses = uses_of_all(condition, *inside);
  std::string what = inside->name;
  return added(std::move(what), std::move(steps), std::move(uses), std::move(inside));
}

GraphNode GraphNode::then(Loop loop) const {
  std::vector<api::NodeUse> uses = api::uses_of(*loop.state());
  std::string name = api::name_of(*loop.state());
  api::GraphSteps steps;
  steps.loop(std::move(loop));
  return added(std::move(name), std::move(steps), std::move(uses));
}

GraphBuilder::GraphBuilder(std::string name) : state_(std::make_shared<api::BuilderState>()) {
  state_->name = std::move(name);
}

GraphNode GraphBuilder::root() const {
  return {state_, {}};
}

GraphNode GraphBuilder::then(Loop loop) const {
  return root().then(std::move(loop));
}

GraphNode GraphBuilder::when_all(std::initializer_list<GraphNode> nodes) const {
  return when_all(std::vector<GraphNode>(nodes));
}

GraphNode GraphBuilder::when_all(const std::vector<GraphNode>& nodes) const {
  std::vector<std::size_t> after;
  for (const GraphNode& node : nodes) {
    if (node.state_ != state_) {
      throw UsageError(fmt::format("graph '{}': when_all: a node belongs to graph '{}'",
                                   state_->name, node.state_->name));
    }
    after.insert(after.end(), node.after_.begin(), node.after_.end());
  }
  return {state_, std::move(after)};
}

Graph GraphBuilder::instantiate() const {
  check_open(*state_);
  check_races(*state_);
  state_->is_built = true;
  api::GraphSteps steps;
  for (const auto& node : state_->nodes) steps.add(node.steps);
  return {state_->name, std::move(steps), values_of(*state_)};
}

}  // namespace op2
