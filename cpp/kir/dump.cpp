// SPDX-License-Identifier: BSD-3-Clause
#include "kir/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/overload.hpp"
#include "kir/instructions.hpp"

namespace op2::kir {
namespace {

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
    case Grid::teams:
      return "teams";
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
  const std::string data = fmt::format("{} {}", name_of(rows.dtype), rows.data);
  const auto* together = std::get_if<Together>(&rows.layout);
  const std::string by =
      together == nullptr ? " by " + std::get<Apart>(rows.layout).stride : std::string();
  const auto listed = [&](const ListedRows& of) {
    std::string out = fmt::format("{}[{}] x{}", data, list(of.entries), rows.dim);
    if (together != nullptr) out += fmt::format(" of {}", together->stride);
    out += fmt::format("{} from {}", by, rows.component);
    if (rows.arity > 1 && of.any_entry) out += " any " + dump(*of.any_entry);
    if (of.climbs && std::ranges::any_of(*of.climbs, [](std::int64_t by) { return by != 0; })) {
      out += fmt::format(" climbing {}", fmt::join(*of.climbs, ", "));
    }
    return out;
  };
  return std::visit(overload{
                        [&](const OwnRow& own) {
                          return fmt::format("{}[{}] x{}{}", data, dump(own.element), rows.dim, by);
                        },
                        [&](const MapRows& through) {
                          return fmt::format(
                              "{}[{}[{}] x{}{}] x{}{}", data, through.map, dump(through.element),
                              through.ragged ? " at most " : "", rows.arity, rows.dim, by);
                        },
                        listed,
                    },
                    rows.which);
}

std::string dump(const Entries& entries) {
  const std::string rows = entries.rows.empty()
                               ? fmt::format("{}[{}]", entries.row_map, dump(entries.element))
                               : list(entries.rows);
  std::string own;
  if (entries.begin) own += " from " + dump(*entries.begin);
  if (entries.n_rows) own += " rows " + dump(*entries.n_rows);
  if (entries.n_columns) own += " columns " + dump(*entries.n_columns);
  return fmt::format("{} {}[{}[{}] + {}] x{}x{} of {}x{}{}{}{}", name_of(entries.dtype),
                     entries.data, entries.row_start, rows, entries.position, entries.row_arity,
                     entries.col_arity, entries.row_dim, entries.col_dim,
                     entries.dropped > 0 ? fmt::format(" below {}", entries.dropped) : "",
                     entries.unrolled ? " unrolled" : "", own);
}

constexpr const char* at_names[] = {"at0", "at1", "at2", "at3"};

std::string dump(const Intrinsic& intrinsic) {
  std::vector<std::string> all, at;
  for (const Expr& operand : intrinsic.operands) {
    const bool is_address =
        std::holds_alternative<Offset>(operand.node) || std::holds_alternative<Name>(operand.node);
    at.push_back(is_address ? dump(Expr{element_at(operand)}) : dump(operand));
    all.push_back(dump(operand));
  }
  std::vector<fmt::argument> given(all.begin(), all.end());  // those without names first
  for (std::size_t i = 0; i < std::min(at.size(), std::size(at_names)); ++i) {
    given.push_back(fmt::arg(at_names[i], at[i]));
  }
  const std::string rest = fmt::format("{}", fmt::join(at.begin() + 1, at.end(), ", "));
  given.push_back(fmt::arg("rest", rest));
  given.push_back(fmt::arg("n", intrinsic.extent));
  given.push_back(fmt::arg("op", symbol(intrinsic.update)));
  given.push_back(fmt::arg("type", name_of(intrinsic.type.dtype)));
  return fmt::vformat(row_of(intrinsic.name).text, given.data(), given.size());
}

std::string step_of(const For& loop) {
  if (!loop.step_name.empty()) return " by " + loop.step_name;
  return loop.step == 1 ? "" : fmt::format(" by {}", loop.step);
}

std::string columns_of(const For& loop) {
  if (!loop.columns) return "";
  const Columns& columns = *loop.columns;
  return fmt::format(" of columns of {} from {} ({}, {}, {})", dump(columns.n_cells),
                     dump(columns.first_level), columns.row, columns.level, columns.element);
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
                             decl.value ? " = " + dump(*decl.value) : ""));
          },
          [&line](const Assign& assign) {
            line(fmt::format("{} {} {}", dump(assign.target), symbol(assign.update),
                             dump(assign.value)));
          },
          [&line](const Copy& copy) {
            line(fmt::format("copy {} of {} {} {}", copy.n, dump(copy.target), symbol(copy.update),
                             dump(copy.value)));
          },
          [&line](const Atomic& atomic) {
            line(fmt::format("atomic {} {} {}", dump(atomic.target), symbol(atomic.update),
                             dump(atomic.value)));
          },
          [&line](const CallUser& call) {
            line(fmt::format("kernel{}({})", call.kernel == 0 ? "" : std::to_string(call.kernel),
                             list(call.arguments)));
          },
          [&line](const Call& call) {
            line(fmt::format("call {}({})", call.function, list(call.arguments)));
          },
          [&line, &out, depth](const For& loop) {
            line(fmt::format("for {} {} in [{}, {}){}{}", symbol(loop.axis), loop.index,
                             dump(loop.begin), dump(loop.end), step_of(loop), columns_of(loop)));
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
          [&line](const Intrinsic& intrinsic) { line(dump(intrinsic)); },
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

}  // namespace

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

std::string dump(const Stmt& stmt) {
  std::string out;
  dump(out, stmt, 0);
  return out;
}

}  // namespace op2::kir
