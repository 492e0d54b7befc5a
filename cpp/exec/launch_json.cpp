// SPDX-License-Identifier: BSD-3-Clause
#include "exec/launch_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <variant>

#include "base/overload.hpp"

namespace op2::exec {
namespace {

constexpr std::array<std::string_view, 7> signs = {"+", "-", "*", "/", "%", "<", "=="};

/// Names are identifiers, and texts of C have no quotation marks: nothing is escaped.
class JsonWriter {
 public:
  JsonWriter(const LaunchProgram& program, std::span<const abi::Parameter> arguments)
      : program_(program), arguments_(arguments) {}

  [[nodiscard]] std::string steps(const Steps& all) const {
    std::string out;
    for (const Step& one : all) {
      out += out.empty() ? "" : ", ";
      out += std::visit([this](const auto& node) { return step(node); }, one.node);
    }
    return "[" + out + "]";
  }

 private:
  [[nodiscard]] const std::string& name(int argument) const {
    return arguments_[static_cast<std::size_t>(argument)].name;
  }
  /// With parentheses around operations, so that it can be an operand.
  [[nodiscard]] std::string operand(const Value& value) const {
    return std::visit([&](const auto& node) { return expression(node); }, value.node);
  }
  [[nodiscard]] std::string text(const Value& value) const {
    const std::string whole = operand(value);
    return whole.starts_with('(') ? whole.substr(1, whole.size() - 2) : whole;
  }

  static std::string expression(const Number& node) { return fmt::format("{}", node.value); }
  static std::string expression(const Variable& node) { return node.name; }
  [[nodiscard]] std::string expression(const Entry& node) const {
    return fmt::format("{}[{}]", name(node.argument), text(node.at[0]));
  }
  [[nodiscard]] std::string expression(const IsThere& node) const {
    return fmt::format("is_there({})", name(node.argument));
  }
  [[nodiscard]] std::string expression(const Operation& node) const {
    const Value& left = node.operands[0];
    const Value& right = node.operands[1];
    if (node.op == Operator::least) return fmt::format("least({}, {})", text(left), text(right));
    return fmt::format("({} {} {})", operand(left), signs.at(static_cast<std::size_t>(node.op)),
                       operand(right));
  }
  [[nodiscard]] std::string expression(const Choice& node) const {
    const auto& of = node.operands;
    return fmt::format("({} ? {} : {})", operand(of[0]), operand(of[1]), operand(of[2]));
  }
  [[nodiscard]] std::string expression(const BlocksOf& node) const {
    return fmt::format("blocks_for({})", text(node.items[0]));
  }
  [[nodiscard]] std::string expression(const StrideOf& node) const {
    const auto found = std::ranges::find_if(arguments_, [&node](const abi::Parameter& one) {
      return one.role == abi::Role::data && one.index == node.data;
    });
    return fmt::format("stride_of({})", found == arguments_.end() ? "" : found->name);
  }

  [[nodiscard]] std::string step(const Set& node) const {
    return fmt::format(R"({{"step": "set", "variable": "{}", "value": "{}"}})", node.variable,
                       text(node.value));
  }
  [[nodiscard]] std::string step(const Repeat& node) const {
    return fmt::format(
        R"({{"step": "repeat", "variable": "{}", "begin": "{}", "end": "{}", "body": {}}})",
        node.variable, text(node.begin), text(node.end), steps(node.body));
  }
  [[nodiscard]] std::string step(const When& node) const {
    return fmt::format(R"({{"step": "when", "condition": "{}", "then": {}}})", text(node.condition),
                       steps(node.then));
  }
  [[nodiscard]] std::string step(const Allocate& node) const {
    return fmt::format(
        R"({{"step": "allocate", "memory": "scratch{}", "bytes": "{} * {}", "zero": {}}})",
        node.scratch, operand(node.extent), node.item_bytes, node.is_zero);
  }
  [[nodiscard]] std::string step(const LaunchStep& node) const {
    const LaunchedKernel& kernel = program_.kernels[static_cast<std::size_t>(node.kernel)];
    std::string given;
    for (const auto& argument : node.arguments) {
      const auto* slot = std::get_if<MemorySlot>(&argument);
      const std::string one = slot == nullptr    ? text(std::get<Value>(argument))
                              : slot->is_scratch ? fmt::format("scratch{}", slot->index)
                                                 : name(slot->index);
      given += fmt::format("{}\"{}\"", given.empty() ? "" : ", ", one);
    }
    return fmt::format(R"({{"step": "launch", "kernel": "{}", "most_lanes": {}, "grid": "{}", )"
                       R"("items": "{}", "arguments": [{}]}})",
                       kernel.name, kernel.max_lanes,
                       grid_names.at(static_cast<std::size_t>(node.grid)), text(node.items), given);
  }

  const LaunchProgram& program_;
  std::span<const abi::Parameter> arguments_;
};

}  // namespace

std::string launch_json(const LaunchProgram& program, std::span<const abi::Parameter> arguments) {
  return JsonWriter(program, arguments).steps(program.steps);
}

}  // namespace op2::exec
