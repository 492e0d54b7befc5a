// SPDX-License-Identifier: BSD-3-Clause
#include "exec/launch_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "base/canonical.hpp"
#include "base/canonical_reader.hpp"
#include "base/overload.hpp"

namespace op2::exec {
namespace {

constexpr std::array<std::string_view, 8> operators = {"add",    "subtract", "multiply", "divide",
                                                       "modulo", "less",     "equal",    "least"};

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
    out_.open("launch")
        .number(node.kernel)
        .text(grid_names.at(static_cast<std::size_t>(node.grid)));
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
  Reader(std::string_view text, const LaunchScope& scope) : in_(text), scope_(scope) {}

  LaunchProgram program() {
    LaunchProgram program;
    in_.open("launch program");
    in_.open("kernels");
    while (!in_.is_at_close()) {
      std::string name = in_.text();
      program.kernels.push_back({std::move(name), below(most_lanes, "a number of lanes")});
    }
    in_.close();
    n_kernels_ = program.kernels.size();
    program.steps = steps();
    in_.close();
    if (!in_.is_at_end()) in_.fail("nothing more");
    return program;
  }

 private:
  static constexpr std::size_t most_lanes = 1 << 20;
  static constexpr std::size_t most_item_bytes = 1 << 20;
  static constexpr std::size_t most_scratch = 1 << 20;

  /// A number from 0 to @p n - 1.
  int below(std::size_t n, std::string_view what) {
    const int number = in_.small();
    if (number < 0 || static_cast<std::size_t>(number) >= n) {
      in_.fail(fmt::format("{} from 0 to {} before", what, static_cast<std::int64_t>(n) - 1));
    }
    return number;
  }
  int argument() { return below(scope_.n_arguments, "the number of an argument"); }

  std::string variable() {
    std::string name = in_.text();
    if (!variables_.contains(name)) in_.fail("a variable that is there before");
    return name;
  }

  Value value() { return value_of(in_.open()); }

  /// The rest of the record @p kind.
  Value value_of(std::string_view kind) {
    Value made = node(kind);
    in_.close();
    return made;
  }

  Value node(std::string_view kind) {
    if (kind == "number") return {Number{in_.number()}};
    if (kind == "variable") return {Variable{variable()}};
    if (kind == "there") return {IsThere{argument()}};
    if (kind == "stride") return {StrideOf{below(scope_.n_data, "the number of data")}};
    if (kind == "blocks") return {BlocksOf{values(1)}};
    if (kind == "choice") return {Choice{values(3)}};
    if (kind == "entry") {
      const int from = argument();
      const int n_bytes = in_.small();
      if (n_bytes != 4 && n_bytes != 8) in_.fail("entries of 4 or 8 bytes before");
      return {Entry{from, n_bytes, values(1)}};
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
      Value made = value();
      variables_.insert(name);
      return {Set{std::move(name), std::move(made)}};
    }
    if (kind == "repeat") return {repeat()};
    if (kind == "when") {
      Value condition = value();
      return {When{std::move(condition), steps()}};
    }
    if (kind == "allocate") {
      Allocate made;
      made.scratch = below(most_scratch, "the number of scratch memory");
      made.item_bytes = below(most_item_bytes, "bytes of an item");
      made.is_zero = in_.flag();
      made.extent = value();
      scratch_.insert(made.scratch);
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
    variables_.insert(made.variable);
    made.body = steps();
    return made;
  }

  LaunchStep launch() {
    LaunchStep made;
    made.kernel = below(n_kernels_, "the number of a kernel");
    const std::string grid = in_.text();
    const auto* known = std::ranges::find(grid_names, grid);
    if (known == grid_names.end()) in_.fail("a kind of grid before");
    made.grid = static_cast<GridKind>(known - grid_names.begin());
    made.items = value();
    while (!in_.is_at_close()) {
      const std::string_view kind = in_.open();
      if (kind != "memory") {
        made.arguments.emplace_back(value_of(kind));
        continue;
      }
      made.arguments.emplace_back(memory());
      in_.close();
    }
    return made;
  }

  MemorySlot memory() {
    if (!in_.flag()) return {false, argument()};
    const int index = in_.small();
    if (!scratch_.contains(index)) in_.fail("scratch memory that is there before");
    return {true, index};
  }

  CanonicalReader in_;
  LaunchScope scope_;
  std::size_t n_kernels_ = 0;
  std::set<std::string> variables_ = {"begin", "end"};
  std::set<int> scratch_;
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

LaunchProgram read_launch_program(std::string_view text, const LaunchScope& scope) {
  return Reader(text, scope).program();
}

}  // namespace op2::exec
