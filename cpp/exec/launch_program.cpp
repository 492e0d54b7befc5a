// SPDX-License-Identifier: BSD-3-Clause
#include "exec/launch_program.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/canonical.hpp"
#include "base/canonical_reader.hpp"
#include "base/overload.hpp"

namespace op2::exec {
namespace {

constexpr std::array<std::string_view, 8> operators = {"add",    "subtract", "multiply", "divide",
                                                       "modulo", "less",     "equal",    "least"};
constexpr std::array<std::string_view, 3> grids = {"items", "blocks", "single"};

// ------------------------------------------------------------------------------- who asks what

bool asks(const Value& value) {
  const auto any = [](const std::vector<Value>& operands) {
    return std::ranges::any_of(operands, asks);
  };
  return std::visit(overload{[](const BlocksOf&) { return true; },
                             [any](const Entry& entry) { return any(entry.at); },
                             [any](const Operation& operation) { return any(operation.operands); },
                             [any](const Choice& choice) { return any(choice.operands); },
                             [](const auto&) { return false; }},
                    value.node);
}

bool asks(const std::variant<MemorySlot, Value>& argument) {
  const auto* value = std::get_if<Value>(&argument);
  return value != nullptr && asks(*value);
}

bool any_asks(const Steps& steps) {
  return std::ranges::any_of(steps, [](const Step& step) {
    return std::visit(
        overload{[](const Set& set) { return asks(set.value); },
                 [](const Repeat& repeat) {
                   return asks(repeat.begin) || asks(repeat.end) || any_asks(repeat.body);
                 },
                 [](const When& when) { return asks(when.condition) || any_asks(when.then); },
                 [](const Allocate& allocate) { return asks(allocate.extent); },
                 [](const LaunchStep& launch) {
                   return asks(launch.items) ||
                          std::ranges::any_of(launch.arguments,
                                              [](const auto& argument) { return asks(argument); });
                 }},
        step.node);
  });
}

// -------------------------------------------------------------------------------------- writing

class Writer {
 public:
  void write(const LaunchProgram& program) {
    out_.open("launch program").open("kernels");
    for (const LaunchedKernel& kernel : program.kernels) {
      out_.text(kernel.name).number(kernel.max_lanes);
    }
    out_.close();
    write(program.steps);
    out_.close();
  }

  [[nodiscard]] const std::string& text() const { return out_.str(); }

 private:
  void write(const Value& value) {
    std::visit([this](const auto& node) { fields(node); }, value.node);
    out_.close();
  }
  void write(const std::vector<Value>& values) {
    for (const Value& value : values) write(value);
  }
  void write(const Steps& steps) {
    out_.open("steps");
    for (const Step& step : steps) {
      std::visit([this](const auto& node) { fields(node); }, step.node);
      out_.close();
    }
    out_.close();
  }

  void fields(const Number& node) { out_.open("number").number(node.value); }
  void fields(const Variable& node) { out_.open("variable").text(node.name); }
  void fields(const Entry& node) {
    out_.open("entry").number(node.argument).number(node.n_bytes);
    write(node.at);
  }
  void fields(const IsThere& node) { out_.open("there").number(node.argument); }
  void fields(const Operation& node) {
    out_.open(operators.at(static_cast<std::size_t>(node.op)));
    write(node.operands);
  }
  void fields(const Choice& node) {
    out_.open("choice");
    write(node.operands);
  }
  void fields(const BlocksOf& node) {
    out_.open("blocks");
    write(node.items);
  }
  void fields(const StrideOf& node) { out_.open("stride").number(node.data); }

  void fields(const Set& node) {
    out_.open("set").text(node.variable);
    write(node.value);
  }
  void fields(const Repeat& node) {
    out_.open("repeat").text(node.variable);
    write(node.begin);
    write(node.end);
    write(node.body);
  }
  void fields(const When& node) {
    out_.open("when");
    write(node.condition);
    write(node.then);
  }
  void fields(const Allocate& node) {
    out_.open("allocate").number(node.scratch).number(node.item_bytes).flag(node.is_zero);
    write(node.extent);
  }
  void fields(const LaunchStep& node) {
    out_.open("launch").number(node.kernel).text(grids.at(static_cast<std::size_t>(node.grid)));
    write(node.items);
    for (const auto& argument : node.arguments) {
      if (const auto* slot = std::get_if<MemorySlot>(&argument)) {
        out_.open("memory").flag(slot->is_scratch).number(slot->index).close();
      } else {
        write(std::get<Value>(argument));
      }
    }
  }

  Canonical out_;
};

// -------------------------------------------------------------------------------------- reading

class Reader {
 public:
  explicit Reader(std::string_view text) : in_(text) {}

  LaunchProgram program() {
    LaunchProgram program;
    in_.open("launch program");
    in_.open("kernels");
    while (!in_.is_at_close()) {
      std::string name = in_.text();
      program.kernels.push_back({std::move(name), in_.small()});
    }
    in_.close();
    n_kernels_ = static_cast<int>(program.kernels.size());
    program.steps = steps();
    in_.close();
    if (!in_.is_at_end()) in_.fail("nothing more");
    return program;
  }

 private:
  Value value() { return value_of(in_.open()); }

  /// The rest of the record @p kind.
  Value value_of(std::string_view kind) {
    Value made = node(kind);
    in_.close();
    return made;
  }

  Value node(std::string_view kind) {
    if (kind == "number") return {Number{in_.number()}};
    if (kind == "variable") return {Variable{in_.text()}};
    if (kind == "there") return {IsThere{in_.small()}};
    if (kind == "stride") return {StrideOf{in_.small()}};
    if (kind == "blocks") return {BlocksOf{values(1)}};
    if (kind == "choice") return {Choice{values(3)}};
    if (kind == "entry") {
      const int argument = in_.small();
      const int n_bytes = in_.small();
      if (n_bytes != 4 && n_bytes != 8) in_.fail("entries of 4 or 8 bytes before");
      return {Entry{argument, n_bytes, values(1)}};
    }
    const auto* op = std::ranges::find(operators, kind);
    if (op == operators.end()) in_.fail("a kind of value before");
    return {Operation{static_cast<Operator>(op - operators.begin()), values(2)}};
  }

  std::vector<Value> values(int n) {
    std::vector<Value> found;
    for (int i = 0; i < n; ++i) found.push_back(value());
    return found;
  }

  Steps steps() {
    Steps found;
    in_.open("steps");
    while (!in_.is_at_close()) {
      found.push_back(step(in_.open()));
      in_.close();
    }
    in_.close();
    return found;
  }

  Step step(std::string_view kind) {
    if (kind == "set") {
      std::string name = in_.text();
      return {Set{std::move(name), value()}};
    }
    if (kind == "repeat") return {repeat()};
    if (kind == "when") {
      Value condition = value();
      return {When{std::move(condition), steps()}};
    }
    if (kind == "allocate") {
      Allocate made{in_.small(), in_.small(), {}, in_.flag()};
      made.extent = value();
      return {std::move(made)};
    }
    if (kind == "launch") return {launch()};
    in_.fail("a kind of step before");
  }

  Repeat repeat() {
    Repeat made;
    made.variable = in_.text();
    made.begin = value();
    made.end = value();
    made.body = steps();
    return made;
  }

  LaunchStep launch() {
    LaunchStep made;
    made.kernel = in_.small();
    if (made.kernel < 0 || made.kernel >= n_kernels_) in_.fail("a known kernel before");
    const std::string grid = in_.text();
    const auto* known = std::ranges::find(grids, grid);
    if (known == grids.end()) in_.fail("a kind of grid before");
    made.grid = static_cast<GridKind>(known - grids.begin());
    made.items = value();
    while (!in_.is_at_close()) {
      const std::string_view kind = in_.open();
      if (kind != "memory") {
        made.arguments.emplace_back(value_of(kind));
        continue;
      }
      const bool is_scratch = in_.flag();
      made.arguments.emplace_back(MemorySlot{is_scratch, in_.small()});
      in_.close();
    }
    return made;
  }

  CanonicalReader in_;
  int n_kernels_ = 0;
};

}  // namespace

bool asks_for_blocks(const LaunchProgram& program) {
  return any_asks(program.steps);
}

std::string canonical(const LaunchProgram& program) {
  Writer writer;
  writer.write(program);
  return writer.text();
}

LaunchProgram read_launch_program(std::string_view text) {
  return Reader(text).program();
}

}  // namespace op2::exec
