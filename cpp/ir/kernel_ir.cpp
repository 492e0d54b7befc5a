// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_ir.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"

namespace op2::kir {
namespace {

std::optional<std::int64_t> constant(const Expr& expr) {
  const auto* value = std::get_if<Integer>(&expr.node);
  return value == nullptr ? std::nullopt : std::optional(value->value);
}

Expr binary(BinaryOp op, Expr left, Expr right) {
  return {Binary{op, {std::move(left), std::move(right)}}};
}

std::string_view symbol(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
      return "+";
    case BinaryOp::subtract:
      return "-";
    case BinaryOp::multiply:
      return "*";
    case BinaryOp::divide:
      return "/";
    case BinaryOp::less:
      return "<";
    case BinaryOp::equal:
      return "==";
  }
  return "";
}

std::string_view symbol(Update update) {
  switch (update) {
    case Update::set:
      return "=";
    case Update::add:
      return "+=";
    case Update::min:
      return "min=";
    case Update::max:
      return "max=";
  }
  return "";
}

std::string list(const std::vector<Expr>& expressions) {
  std::string out;
  for (const Expr& expr : expressions) {
    if (!out.empty()) out += ", ";
    out += dump(expr);
  }
  return out;
}

std::string dump(const Rows& rows) {
  return fmt::format("{} {}[{}[{}] x{}] x{}", name_of(rows.dtype), rows.data, rows.map,
                     dump(rows.element), rows.arity, rows.dim);
}

std::string dump(const Entries& entries) {
  return fmt::format("{} {}[{}[{}[{}]] + {}] x{}x{} of {}x{}{}{}", name_of(entries.dtype),
                     entries.data, entries.row_start, entries.row_map, dump(entries.element),
                     entries.position, entries.row_arity, entries.col_arity, entries.row_dim,
                     entries.col_dim,
                     entries.dropped > 0 ? fmt::format(" below {}", entries.dropped) : "",
                     entries.unrolled ? " unrolled" : "");
}

void dump(std::string& out, const Block& block, int depth);

void dump(std::string& out, const Stmt& stmt, int depth) {
  const std::string pad(static_cast<std::size_t>(2 * depth), ' ');
  const auto line = [&out, &pad](const std::string& text) { out += pad + text + "\n"; };
  std::visit(
      overload{
          [&line](const Decl& decl) {
            line(fmt::format("decl {}{}{} {}{}{}", decl.type.is_const ? "const " : "",
                             name_of(decl.type.dtype), decl.type.is_pointer ? "*" : "", decl.name,
                             decl.extent > 0 ? fmt::format("[{}]", decl.extent) : "",
                             decl.value.empty() ? "" : " = " + dump(decl.value.front())));
          },
          [&line](const Assign& assign) {
            line(fmt::format("{} {} {}", dump(assign.target), symbol(assign.update),
                             dump(assign.value)));
          },
          [&line](const Atomic& atomic) {
            line(fmt::format("atomic {} {} {}", dump(atomic.target), symbol(atomic.update),
                             dump(atomic.value)));
          },
          [&line](const CallUser& call) { line(fmt::format("kernel({})", list(call.arguments))); },
          [&line](const Call& call) {
            line(fmt::format("call {}({})", call.function, list(call.arguments)));
          },
          [&line, &out, depth](const For& loop) {
            line(fmt::format("for {} {} in [{}, {})",
                             loop.axis == Axis::thread ? "thread" : "serial", loop.index,
                             dump(loop.begin), dump(loop.end)));
            dump(out, loop.body, depth + 1);
          },
          [&line, &out, depth](const If& branch) {
            line(fmt::format("if {}", dump(branch.condition)));
            dump(out, branch.then, depth + 1);
          },
          [&line, &out, depth](const Region& region) {
            line("region");
            dump(out, region.body, depth + 1);
          },
          [&line](const Gather& gather) {
            line(fmt::format("gather {} = {}", gather.pack, dump(gather.rows)));
          },
          [&line](const Scatter& scatter) {
            line(fmt::format("scatter{} {} {} {}", scatter.sync == Sync::atomic ? " atomic" : "",
                             dump(scatter.rows), symbol(scatter.update), scatter.pack));
          },
          [&line](const MatInsert& insert) {
            line(fmt::format("insert{} {} {} {}", insert.sync == Sync::atomic ? " atomic" : "",
                             dump(insert.entries), symbol(insert.update), insert.pack));
          },
      },
      stmt.node);
}

void dump(std::string& out, const Block& block, int depth) {
  for (const Stmt& stmt : block) dump(out, stmt, depth);
}

std::string dump(const Parameter& parameter) {
  return fmt::format("{}{}{} {}", parameter.type.is_const ? "const " : "",
                     name_of(parameter.type.dtype), parameter.type.is_pointer ? "*" : "",
                     parameter.name);
}

std::string dump(const std::vector<Parameter>& parameters) {
  std::string out;
  for (const Parameter& parameter : parameters) {
    if (!out.empty()) out += ", ";
    out += dump(parameter);
  }
  return out;
}

/// Visit every statement of a block, outer ones first.
template <class Visitor>
void walk(const Block& block, const Visitor& visit) {
  for (const Stmt& stmt : block) {
    visit(stmt);
    if (const auto* loop = std::get_if<For>(&stmt.node)) walk(loop->body, visit);
    if (const auto* branch = std::get_if<If>(&stmt.node)) walk(branch->then, visit);
    if (const auto* region = std::get_if<Region>(&stmt.node)) walk(region->body, visit);
  }
}

void check_calls(const Module& module, const Block& block) {
  walk(block, [&module](const Stmt& stmt) {
    const auto* call = std::get_if<Call>(&stmt.node);
    if (call == nullptr) return;
    const auto callee =
        std::find_if(module.functions.begin(), module.functions.end(),
                     [call](const Function& function) { return function.name == call->function; });
    if (callee == module.functions.end()) {
      throw InternalError(fmt::format("call of unknown function '{}'", call->function));
    }
    if (callee->parameters.size() + 2 != call->arguments.size()) {
      throw InternalError(fmt::format("call of '{}' with {} arguments, expected {}", call->function,
                                      call->arguments.size(), callee->parameters.size() + 2));
    }
  });
}

void check_names(const std::string& where, const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    throw InternalError(fmt::format("{}: parameter '{}' twice", where, *twice));
  }
}

}  // namespace

Expr integer(std::int64_t value) {
  return {Integer{value}};
}
Expr name(std::string text) {
  return {Name{std::move(text)}};
}
Expr element(std::string array, Expr subscript) {
  return {Element{std::move(array), {std::move(subscript)}}};
}
Expr offset(std::string array, Expr subscript) {
  if (constant(subscript) == 0) return name(std::move(array));
  return {Offset{std::move(array), {std::move(subscript)}}};
}
Expr builtin(Builtin value) {
  return {value};
}
Expr scratch_at(Expr bytes) {
  return {ScratchAt{{std::move(bytes)}}};
}
Expr widen(Expr narrow) {
  return {Widen{{std::move(narrow)}}};
}
Expr minimum(Expr left, Expr right) {
  return {Minimum{{std::move(left), std::move(right)}}};
}
Expr select(Expr condition, Expr then, Expr otherwise) {
  return {Select{{std::move(condition), std::move(then), std::move(otherwise)}}};
}
Expr less(Expr left, Expr right) {
  return binary(BinaryOp::less, std::move(left), std::move(right));
}
Expr equal(Expr left, Expr right) {
  return binary(BinaryOp::equal, std::move(left), std::move(right));
}

Expr operator+(Expr left, Expr right) {
  if (constant(left) == 0) return right;
  if (constant(right) == 0) return left;
  if (constant(left) && constant(right)) return integer(*constant(left) + *constant(right));
  return binary(BinaryOp::add, std::move(left), std::move(right));
}

Expr operator-(Expr left, Expr right) {
  if (constant(right) == 0) return left;
  return binary(BinaryOp::subtract, std::move(left), std::move(right));
}

Expr operator*(Expr left, Expr right) {
  if (constant(left) == 0 || constant(right) == 1) return left;
  if (constant(right) == 0 || constant(left) == 1) return right;
  if (constant(left) && constant(right)) return integer(*constant(left) * *constant(right));
  return binary(BinaryOp::multiply, std::move(left), std::move(right));
}

Expr operator/(Expr left, Expr right) {
  if (constant(right) == 1) return left;
  return binary(BinaryOp::divide, std::move(left), std::move(right));
}

std::span<const std::string_view> local_names() {
  static constexpr std::array<std::string_view, 21> names{
      "begin", "end",     "n",       "i",      "c",       "k",      "t",
      "o",     "slot",    "n_slots", "colour", "block",   "target", "first",
      "last",  "context", "argv",    "argc",   "scratch", "j",      "r"};
  return names;
}

void verify(const Module& module) {
  if (!module.kernel) throw InternalError("module without a kernel");
  std::vector<std::string> functions{module.launch_name};
  for (const Function& function : module.functions) functions.push_back(function.name);
  std::sort(functions.begin(), functions.end());
  const auto twice = std::adjacent_find(functions.begin(), functions.end());
  if (twice != functions.end()) throw InternalError(fmt::format("function '{}' twice", *twice));
  for (const Function& function : module.functions) {
    check_names(function.name, function.parameters);
    check_calls(module, function.body);
  }
  check_names(module.launch_name, module.argv);
  check_calls(module, module.launch);
}

bool is_expanded(const Module& module) {
  bool expanded = true;
  const auto check = [&expanded](const Stmt& stmt) {
    const auto* assign = std::get_if<Assign>(&stmt.node);
    if (std::holds_alternative<Gather>(stmt.node) || std::holds_alternative<Scatter>(stmt.node) ||
        std::holds_alternative<MatInsert>(stmt.node) ||
        (assign != nullptr && assign->update != Update::set && assign->update != Update::add)) {
      expanded = false;
    }
  };
  for (const Function& function : module.functions) walk(function.body, check);
  walk(module.launch, check);
  return expanded;
}

std::string dump(const Expr& expr) {
  return std::visit(
      overload{
          [](const Integer& value) { return fmt::format("{}", value.value); },
          [](const Name& value) { return value.name; },
          [](const Element& value) {
            return fmt::format("{}[{}]", value.array, dump(value.subscript.front()));
          },
          [](const Offset& value) {
            return fmt::format("&{}[{}]", value.array, dump(value.subscript.front()));
          },
          [](const Binary& value) {
            return fmt::format("({} {} {})", dump(value.operands[0]), symbol(value.op),
                               dump(value.operands[1]));
          },
          [](const Widen& value) { return fmt::format("long({})", list(value.operands)); },
          [](const Minimum& value) { return fmt::format("min({})", list(value.operands)); },
          [](const Select& value) { return fmt::format("select({})", list(value.operands)); },
          [](const ScratchAt& value) {
            return fmt::format("@scratch[{}]", dump(value.bytes.front()));
          },
          [](const Builtin&) { return std::string("@threads"); },
      },
      expr.node);
}

std::string dump(const Module& module) {
  std::string out;
  for (const Function& function : module.functions) {
    out += fmt::format("function {}({})\n", function.name, dump(function.parameters));
    dump(out, function.body, 1);
  }
  out += fmt::format("launch {}({})\n", module.launch_name, dump(module.argv));
  dump(out, module.launch, 1);
  return out;
}

}  // namespace op2::kir
