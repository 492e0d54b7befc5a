// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_ir.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "ir/kir_walk.hpp"

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
    case BinaryOp::modulo:
      return "%";
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

std::string_view symbol(Axis axis) {
  switch (axis) {
    case Axis::serial:
      return "serial";
    case Axis::thread:
      return "thread";
    case Axis::grid:
      return "grid";
    case Axis::block:
      return "block";
    case Axis::lane:
      return "lane";
    case Axis::vector:
      return "vector";
  }
  return "";
}

std::string_view symbol(Builtin builtin) {
  switch (builtin) {
    case Builtin::n_threads:
      return "@threads";
    case Builtin::block_id:
      return "@block";
    case Builtin::n_blocks:
      return "@blocks";
    case Builtin::lane_id:
      return "@lane";
    case Builtin::n_lanes:
      return "@lanes";
    case Builtin::global_id:
      return "@global";
    case Builtin::n_global:
      return "@globals";
  }
  return "";
}

std::string_view symbol(Grid grid) {
  switch (grid) {
    case Grid::items:
      return "items";
    case Grid::blocks:
      return "blocks";
    case Grid::single:
      return "single";
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
  if (!rows.entries.empty()) {
    std::string out = fmt::format("{} {}[", name_of(rows.dtype), rows.data);
    for (const Expr& entry : rows.entries) {
      out += fmt::format("{}{}", &entry == &rows.entries.front() ? "" : ", ", dump(entry));
    }
    return out + fmt::format("] x{} of {} from {}", rows.dim, rows.stride, rows.component);
  }
  const std::string by = rows.columns.empty() ? "" : fmt::format(" by {}", rows.columns);
  if (rows.map.empty()) {
    return fmt::format("{} {}[{}] x{}{}", name_of(rows.dtype), rows.data, dump(rows.element),
                       rows.dim, by);
  }
  return fmt::format("{} {}[{}[{}] x{}] x{}{}", name_of(rows.dtype), rows.data, rows.map,
                     dump(rows.element), rows.arity, rows.dim, by);
}

std::string dump(const Entries& entries) {
  const std::string rows = entries.rows.empty()
                               ? fmt::format("{}[{}]", entries.row_map, dump(entries.element))
                               : list(entries.rows);
  return fmt::format("{} {}[{}[{}] + {}] x{}x{} of {}x{}{}{}", name_of(entries.dtype), entries.data,
                     entries.row_start, rows, entries.position, entries.row_arity,
                     entries.col_arity, entries.row_dim, entries.col_dim,
                     entries.dropped > 0 ? fmt::format(" below {}", entries.dropped) : "",
                     entries.unrolled ? " unrolled" : "");
}

std::string dump(const LaneRows& rows) {
  return fmt::format("{} {}[{}] x{}, rows{} at {}", name_of(rows.dtype), rows.pack, dump(rows.at),
                     rows.dim, rows.data.empty() ? "" : " of " + rows.data, list(rows.starts));
}

std::string step_of(const For& loop) {
  if (!loop.step_name.empty()) return " by " + loop.step_name;
  return loop.step == 1 ? "" : fmt::format(" by {}", loop.step);
}

void dump(std::string& out, const Block& block, int depth);

void dump(std::string& out, const Stmt& stmt, int depth) {
  const std::string pad(static_cast<std::size_t>(2 * depth), ' ');
  const auto line = [&out, &pad](const std::string& text) { out += pad + text + "\n"; };
  std::visit(
      overload{
          [&line](const Decl& decl) {
            line(fmt::format("decl {}{}{}{}{} {}{}{}",
                             decl.storage == Storage::block ? "shared " : "",
                             decl.type.is_const ? "const " : "", name_of(decl.type.dtype),
                             decl.type.lanes > 0 ? fmt::format("x{}", decl.type.lanes) : "",
                             decl.type.is_pointer ? "*" : "", decl.name,
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
            line(fmt::format("for {} {} in [{}, {}){}", symbol(loop.axis), loop.index,
                             dump(loop.begin), dump(loop.end), step_of(loop)));
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
          [&line](const Barrier& barrier) {
            line(barrier.global_memory ? "barrier global" : "barrier");
          },
          [&line](const Arrive& arrive) {
            line(fmt::format("arrive {} of {} at {}", arrive.flag, dump(arrive.n), arrive.counter));
          },
          [&line](const Launch& launch) {
            line(fmt::format("launch {} over {} {} ({})", launch.function, dump(launch.items),
                             symbol(launch.grid), list(launch.arguments)));
          },
          [&line](const Scratch& scratch) {
            line(fmt::format("scratch {}{} {}[{}]", scratch.is_zero ? "zero " : "",
                             name_of(scratch.dtype), scratch.name, dump(scratch.extent)));
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
          [&line](const LaneGather& gather) {
            line(fmt::format("gather lanes of {}{}", dump(gather.rows),
                             gather.gather_bytes == 0
                                 ? ""
                                 : fmt::format(" by instructions of {}", gather.gather_bytes)));
          },
          [&line](const LaneTurn& turn) {
            line(fmt::format("{} = rows of {}[{}] x{}", turn.rows, turn.pack, dump(turn.at),
                             turn.width));
          },
          [&line](const LaneStore& store) {
            line(fmt::format("{}[{}] x{} {} {}[{}]", store.data, dump(store.start), store.width,
                             symbol(store.update), store.rows, dump(store.lane)));
          },
          [&line](const LaneAdd& add) {
            line(fmt::format("{} += {} x{}, {} live lanes", add.sum, add.pack, add.extent,
                             dump(add.n_live)));
          },
          [&line](const LaneShare& share) {
            line(fmt::format("{} {} {}[{}] x{} where {}[{}...] >= 0", share.sum,
                             symbol(share.update), share.pack, dump(share.at), share.extent,
                             share.entries, dump(share.first)));
          },
          [&line](const LaneFold& fold) {
            line(fmt::format("{} {} lanes of {} x{}", fold.data, symbol(fold.update), fold.pack,
                             fold.extent));
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

const Function& callee_of(const Module& module, const std::string& name) {
  const auto callee =
      std::find_if(module.functions.begin(), module.functions.end(),
                   [&name](const Function& function) { return function.name == name; });
  if (callee == module.functions.end()) {
    throw InternalError(fmt::format("call of unknown function '{}'", name));
  }
  return *callee;
}

void check_count(const std::string& function, std::size_t given, std::size_t expected) {
  if (given == expected) return;
  throw InternalError(
      fmt::format("call of '{}' with {} arguments, expected {}", function, given, expected));
}

void check_call(const Module& module, const Call& call) {
  const Function& callee = callee_of(module, call.function);
  if (callee.is_kernel) {
    throw InternalError(fmt::format("call of '{}', which must be launched", call.function));
  }
  check_count(call.function, call.arguments.size(), callee.parameters.size() + 2);
}

void check_launch(const Module& module, const Launch& launch) {
  const Function& callee = callee_of(module, launch.function);
  if (!callee.is_kernel) {
    throw InternalError(fmt::format("launch of '{}', which must be called", launch.function));
  }
  check_count(launch.function, launch.arguments.size(), callee.parameters.size());
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Parameter& parameter = callee.parameters[i];
    if (parameter.type.is_pointer && !std::holds_alternative<Name>(launch.arguments[i].node)) {
      throw InternalError(fmt::format("launch of '{}': '{}' for pointer '{}' is not a name",
                                      launch.function, dump(launch.arguments[i]), parameter.name));
    }
  }
}

/// The runtime evaluates the launch of a grid, and knows these statements only.
bool is_evaluated(const Stmt& stmt) {
  return std::visit(overload{
                        [](const Decl& decl) { return decl.extent == 0 && !decl.type.is_pointer; },
                        [](const Assign& assign) { return assign.update == Update::set; },
                        [](const For& loop) { return loop.axis == Axis::serial; },
                        [](const If&) { return true; },
                        [](const Launch&) { return true; },
                        [](const Scratch&) { return true; },
                        [](const auto& /*other*/) { return false; },
                    },
                    stmt.node);
}

bool is_of_launch(const Stmt& stmt) {
  return std::holds_alternative<Launch>(stmt.node) || std::holds_alternative<Scratch>(stmt.node);
}

bool is_of_block(const Stmt& stmt) {
  if (const auto* loop = std::get_if<For>(&stmt.node)) {
    return loop->axis == Axis::grid || loop->axis == Axis::block || loop->axis == Axis::lane;
  }
  if (const auto* decl = std::get_if<Decl>(&stmt.node)) return decl->storage == Storage::block;
  return std::holds_alternative<Barrier>(stmt.node) || std::holds_alternative<Arrive>(stmt.node);
}

bool is_vector_loop(const Stmt& stmt) {
  const auto* loop = std::get_if<For>(&stmt.node);
  return loop != nullptr && loop->axis == Axis::vector;
}

bool is_of_team(const Stmt& stmt) {
  const auto* loop = std::get_if<For>(&stmt.node);
  return std::holds_alternative<Region>(stmt.node) ||
         (loop != nullptr && loop->axis == Axis::thread);
}

void check_statements(const Module& module, const Function& function) {
  for_each_stmt(function.body, [&](const Stmt& stmt) {
    if (const auto* call = std::get_if<Call>(&stmt.node)) check_call(module, *call);
    if (is_of_launch(stmt)) throw InternalError(function.name + ": a launch within a function");
    if (function.is_kernel ? is_of_team(stmt) : is_of_block(stmt)) {
      throw InternalError(function.name + ": lanes that the backend does not have");
    }
  });
}

void check_launch_body(const Module& module) {
  const bool is_grid = has_kernels(module);
  for_each_stmt(module.launch, [&](const Stmt& stmt) {
    if (const auto* call = std::get_if<Call>(&stmt.node)) check_call(module, *call);
    if (const auto* launch = std::get_if<Launch>(&stmt.node)) check_launch(module, *launch);
    if (is_grid ? !is_evaluated(stmt) : is_of_launch(stmt) || is_of_block(stmt)) {
      std::string text;
      dump(text, stmt, 0);
      throw InternalError(
          fmt::format("{}: not a statement of this launch: {}", module.launch_name, text));
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
Expr shuffle(Expr value, Expr lane, int width) {
  return {Shuffle{{std::move(value), std::move(lane)}, width}};
}
Expr blocks_for(Expr items) {
  return {BlocksFor{{std::move(items)}}};
}
Expr lane_of(std::string array, Expr subscript, Expr lane) {
  return {LaneOf{std::move(array), {std::move(subscript), std::move(lane)}}};
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

Expr operator%(Expr left, Expr right) {
  if (constant(right) == 1) return integer(0);
  return binary(BinaryOp::modulo, std::move(left), std::move(right));
}

std::span<const std::string_view> local_names() {
  static constexpr auto names = std::to_array<std::string_view>(
      {"begin",    "end",        "n",       "i",      "c",          "k",          "t",
       "o",        "slot",       "n_slots", "colour", "block",      "target",     "first",
       "last",     "context",    "argv",    "argc",   "scratch",    "lane",       "chunk",
       "round",    "own_colour", "entry",   "row",    "level",      "n_levels",   "layer",
       "position", "column",     "part",    "next",   "lane_first", "lane_items", "group",
       "side",     "at"});
  return names;
}

std::vector<RowPiece> row_pieces(int dim, int lanes) {
  std::vector<RowPiece> pieces;
  for (int begin = 0; begin < dim; begin += pieces.back().size) {
    int size = 1;
    while (2 * size <= dim - begin && 2 * size <= lanes) size *= 2;
    pieces.push_back({begin, size});
  }
  return pieces;
}

bool has_kernels(const Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(),
                     [](const Function& function) { return function.is_kernel; });
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
    check_statements(module, function);
  }
  check_names(module.launch_name, module.argv);
  check_launch_body(module);
}

bool is_expanded(const Module& module) {
  bool expanded = true;
  const auto check = [&expanded](const Stmt& stmt) {
    const auto* assign = std::get_if<Assign>(&stmt.node);
    if (std::holds_alternative<Gather>(stmt.node) || std::holds_alternative<Scatter>(stmt.node) ||
        std::holds_alternative<MatInsert>(stmt.node) || is_vector_loop(stmt) ||
        (assign != nullptr && assign->update != Update::set && assign->update != Update::add)) {
      expanded = false;
    }
  };
  for (const Function& function : module.functions) for_each_stmt(function.body, check);
  for_each_stmt(module.launch, check);
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
          [](const Shuffle& value) {
            return fmt::format("shuffle{}({})", value.width, list(value.operands));
          },
          [](const Stride& value) { return fmt::format("@stride({})", value.argument); },
          [](const BlocksFor& value) { return fmt::format("@blocks_for({})", list(value.items)); },
          [](const LaneOf& value) {
            return fmt::format("{}[{}][{}]", value.array, dump(value.operands[0]),
                               dump(value.operands[1]));
          },
          [](const Builtin& value) { return std::string(symbol(value)); },
      },
      expr.node);
}

std::string dump(const Module& module) {
  std::string out;
  for (const Function& function : module.functions) {
    out += fmt::format("{} {}({})\n", function.is_kernel ? "kernel" : "function", function.name,
                       dump(function.parameters));
    dump(out, function.body, 1);
  }
  out += fmt::format("launch {}({})\n", module.launch_name, dump(module.argv));
  dump(out, module.launch, 1);
  return out;
}

}  // namespace op2::kir
