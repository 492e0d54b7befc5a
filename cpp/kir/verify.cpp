// SPDX-License-Identifier: BSD-3-Clause
#include "kir/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "kernel/walk.hpp"
#include "kir/dump.hpp"
#include "kir/instructions.hpp"
#include "kir/verify_barriers.hpp"
#include "kir/walk.hpp"

namespace op2::kir {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw InternalError(what);
}

// ------------------------------------------------------------------------------------- types

/// What an expression is. Numbers in the text fit every type of number.
struct Kind {
  enum class Of : std::uint8_t { number, index, value, vector, pointer };
  Of of = Of::index;
  DType dtype = DType::int64;  ///< of a value, of a vector's parts, of what a pointer points to
  int lanes = 0;               ///< of a vector, or what a pointer points to
  bool is_const = false;       ///< of what a pointer points to
  int depth = 0;               ///< of a pointer: how many times it can be followed
};

constexpr Kind index_kind{};

Kind kind_of(DType dtype, int lanes) {
  if (lanes > 0) return {Kind::Of::vector, dtype, lanes};
  return {is_integer(dtype) ? Kind::Of::index : Kind::Of::value, dtype};
}

Kind kind_of(const VariableType& type, int extent) {
  const int depth = (type.is_pointer ? 1 : 0) + (extent > 0 ? 1 : 0);
  if (depth == 0) return kind_of(type.dtype, type.lanes);
  return {Kind::Of::pointer, type.dtype, type.lanes, type.is_const, depth};
}

Kind pointed_to(Kind pointer) {
  if (--pointer.depth > 0) return pointer;
  return kind_of(pointer.dtype, pointer.lanes);
}

std::string text_of(const Kind& kind) {
  if (kind.of == Kind::Of::number) return "a number";
  const std::string lanes = kind.lanes > 0 ? fmt::format("x{}", kind.lanes) : "";
  const std::string stars(static_cast<std::size_t>(kind.depth), '*');
  return fmt::format("{}{}{}{}", kind.is_const ? "const " : "", name_of(kind.dtype), lanes, stars);
}

bool is_index(const Kind& kind) {
  return kind.of == Kind::Of::index || kind.of == Kind::Of::number;
}

bool is_scalar(const Kind& kind) {
  return is_index(kind) || kind.of == Kind::Of::value;
}

/// May @p value be kept where @p place is wanted?
bool fits(const Kind& place, const Kind& value) {
  if (value.of == Kind::Of::number) return place.of != Kind::Of::pointer;
  if (place.of == Kind::Of::index) return value.of == Kind::Of::index;
  if (place.of != value.of || place.dtype != value.dtype || place.lanes != value.lanes)
    return false;
  return place.depth == value.depth && (place.is_const || !value.is_const);
}

/// Numbers of one kind: memory holds narrower ones than what is computed with.
bool converts(const Kind& place, const Kind& value) {
  if (place.of != Kind::Of::value || value.of != Kind::Of::value || place.lanes != value.lanes)
    return false;
  const auto is_real = [](DType dtype) { return is_floating(dtype) || is_half(dtype); };
  return (is_real(place.dtype) && is_real(value.dtype)) ||
         (is_complex(place.dtype) && is_complex(value.dtype));
}

// ------------------------------------------------------------------------------------- scopes

struct Variable {
  Kind kind;
  bool is_const = false;  ///< itself
  int extent = 0;         ///< of an array; 0: not known
  bool is_index = false;  ///< of a loop
};

/// Walks one function in the order of its text.
class Checker {
 public:
  explicit Checker(const Module& module) : module_(module) {}

  void declare(const std::string& name, const Variable& variable) {
    if (scope_.find(name) != nullptr) fail(fmt::format("'{}' is declared a second time", name));
    scope_.declare(name, variable);
  }

  void declare(const Parameter& parameter) {
    declare(parameter.name, {kind_of(parameter.type, 0), parameter.type.is_const, 0});
  }

  void block(const Block& statements) {
    scope_.enter();
    for (const Stmt& stmt : statements) {
      stmt_ = &stmt;
      check(stmt);
    }
    scope_.leave();
  }

  /// The statement that is looked at.
  [[nodiscard]] const Stmt* stmt() const { return stmt_; }

 private:
  void check(const Stmt& stmt) {
    check_arg(stmt);
    std::visit(overload{
                   [this](const Decl& decl) { declaration(decl); },
                   [this](const Assign& assign) { store(assign.target, assign.value); },
                   [this](const Copy& copy) { check_copy(copy); },
                   [this](const Atomic& atomic) {
                     store(atomic.target, atomic.value);
                     if (kind(atomic.target).dtype != atomic.dtype)
                       fail("an atomic of another type");
                   },
                   [this](const CallUser& call) { check_kernel(call); },
                   [this](const Call& call) { check_call(call); },
                   [this](const For& loop) { check_loop(loop); },
                   [this](const If& branch) {
                     condition(branch.condition);
                     block(branch.then);
                   },
                   [this](const Region& region) { block(region.body); },
                   [](const Barrier&) {},
                   [this](const Intrinsic& intrinsic) { check_intrinsic(intrinsic); },
                   [this](const Launch& launch) { check_launch(launch); },
                   [this](const Scratch& scratch) {
                     index(scratch.extent);
                     declare(scratch.name, {{Kind::Of::pointer, scratch.dtype, 0, false, 1}});
                   },
                   [this](const Gather& gather) { packed(gather.pack, gather.rows, false); },
                   [this](const Scatter& scatter) { packed(scatter.pack, scatter.rows, true); },
                   [this](const MatInsert& insert) { inserted(insert); },
               },
               stmt.node);
  }

  /// The argument that a statement is for is one of the loop's.
  void check_arg(const Stmt& stmt) const {
    std::visit(
        [this](const auto& node) {
          if constexpr (requires { node.arg; }) {
            if (node.arg < no_arg || node.arg >= module_.n_args) {
              fail(fmt::format("argument number {} of {}", node.arg, module_.n_args));
            }
          }
        },
        stmt.node);
  }

  // ------------------------------------------------------------------------------- statements

  void declaration(const Decl& decl) {
    const Kind whole = kind_of(decl.type, decl.extent);
    if (decl.value) {
      const Kind value = kind(*decl.value);
      Kind place = decl.extent > 0 ? pointed_to(whole) : whole;
      // scratch memory is untyped until it gets a name
      const bool is_scratch = std::holds_alternative<ScratchAt>(decl.value->node);
      if (!fits(place, value) && !(is_scratch && decl.type.is_pointer)) {
        fail(fmt::format("'{}' is {}, its value {}", decl.name, text_of(place), text_of(value)));
      }
    }
    const bool is_fixed = decl.extent == 0 && decl.type.is_const && !decl.type.is_pointer;
    declare(decl.name, {whole, is_fixed, decl.extent});
  }

  void check_copy(const Copy& copy) {
    scope_.enter();
    declare_index(Copy::index);
    store(copy.target, copy.value);
    scope_.leave();
  }

  void check_loop(const For& loop) {
    index(loop.begin);
    index(loop.end);
    if (loop.columns) check_columns(loop, *loop.columns);
    if (!loop.step_name.empty()) index(name(loop.step_name));
    scope_.enter();
    declare_index(loop.index);
    const bool was_side_by_side =
        std::exchange(is_side_by_side_, is_side_by_side_ || loop.axis == Axis::vector);
    block(loop.body);
    is_side_by_side_ = was_side_by_side;
    scope_.leave();
  }

  /// What is said of the body's variables is what they are declared to be.
  void check_columns(const For& loop, const Columns& columns) const {
    index(columns.n_cells);
    index(columns.first_level);
    const Expr at = name(loop.index);
    const Expr row = name(columns.row);
    bool has_row = false;
    for (const Stmt& stmt : loop.body) {
      const auto* decl = std::get_if<Decl>(&stmt.node);
      if (decl == nullptr) continue;
      const bool is_row = decl->name == columns.row;
      has_row |= is_row;
      if (is_row) check_value(*decl, at / columns.n_cells);
      if (decl->name == columns.level) {
        check_value(*decl, columns.first_level + (at - row * columns.n_cells));
      }
      if (decl->name == columns.element && any_expr(*decl->value, [&](const Expr& part) {
            return part == at || part == name(columns.level);
          })) {
        fail(fmt::format("'{}' depends on more than the column", decl->name));
      }
    }
    if (!has_row) fail(fmt::format("columns, but no '{}'", columns.row));
  }

  static void check_value(const Decl& decl, const Expr& expected) {
    if (decl.value == expected) return;
    fail(fmt::format("'{}' is not {}", decl.name, dump(expected)));
  }

  /// The index of a loop may hide that of an outer one.
  void declare_index(const std::string& name) {
    const Variable* outer = scope_.find(name);
    if (outer != nullptr && !outer->is_index)
      fail(fmt::format("'{}' is declared a second time", name));
    scope_.declare(name, {index_kind, true, 0, true});
  }

  void store(const Expr& target, const Expr& value) {
    const Kind to = kind(target);
    const Kind from = kind(value);
    if (!fits(to, from) && !(module_.converts && converts(to, from))) {
      fail(fmt::format("{} is stored where {} is kept", text_of(from), text_of(to)));
    }
    if (is_constant(target)) fail(fmt::format("'{}' is const", dump(target)));
  }

  [[nodiscard]] bool is_constant(const Expr& target) const {
    const std::string* base = variable_of(target);
    if (base == nullptr) fail(fmt::format("'{}' cannot be stored to", dump(target)));
    const Variable& variable = find(*base);
    if (std::holds_alternative<Name>(target.node)) return variable.is_const;
    return variable.kind.is_const && variable.kind.depth < 2;
  }

  void check_kernel(const CallUser& call) {
    kinds(call.arguments);
    if (call.kernel < 0 || call.kernel >= std::ssize(module_.kernels)) {
      fail(fmt::format("call of kernel number {} of {}", call.kernel, module_.kernels.size()));
    }
    const kernel::Kernel& kernel = *module_.kernels[static_cast<std::size_t>(call.kernel)];
    if (kernel.body) {
      check_count(kernel.name, call.arguments.size(), kernel.body->entry().parameters.size());
    }
  }

  void check_call(const Call& call) {
    const Function& callee = function_of(module_, call.function);
    if (callee.is_kernel) fail(fmt::format("call of '{}', which must be launched", callee.name));
    check_count(call.function, call.arguments.size(), callee.parameters.size() + 2);
    index(call.arguments[0]);
    index(call.arguments[1]);
    for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
      argument(callee, callee.parameters[i], call.arguments[i + 2]);
    }
  }

  void check_launch(const Launch& launch) {
    const Function& callee = function_of(module_, launch.function);
    if (!callee.is_kernel) fail(fmt::format("launch of '{}', which must be called", callee.name));
    check_count(launch.function, launch.arguments.size(), callee.parameters.size());
    index(launch.items);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const Parameter& parameter = callee.parameters[i];
      if (parameter.type.is_pointer && !std::holds_alternative<Name>(launch.arguments[i].node)) {
        fail(fmt::format("launch of '{}': '{}' for pointer '{}' is not a name", launch.function,
                         dump(launch.arguments[i]), parameter.name));
      }
      argument(callee, parameter, launch.arguments[i]);
    }
  }

  static void check_count(const std::string& function, std::size_t given, std::size_t expected) {
    if (given == expected) return;
    fail(fmt::format("call of '{}' with {} arguments, expected {}", function, given, expected));
  }

  void argument(const Function& callee, const Parameter& parameter, const Expr& given) {
    const Kind wanted = kind_of(parameter.type, 0);
    if (fits(wanted, kind(given))) return;
    fail(fmt::format("'{}' takes {} as '{}' and gets {}", callee.name, text_of(wanted),
                     parameter.name, text_of(kind(given))));
  }

  void packed(const std::string& pack, const Rows& rows, bool is_written) {
    const Variable& values = memory(pack, !is_written);
    const Variable& data = memory(rows.data, is_written);
    if (values.kind.dtype != rows.dtype || data.kind.dtype != memory_dtype(rows)) {
      fail(fmt::format("'{}' and '{}' are not of {}", pack, rows.data, name_of(rows.dtype)));
    }
    if (values.extent > 0 && values.extent < rows.arity * rows.dim) {
      fail(fmt::format("'{}' is shorter than {} rows of {}", pack, rows.arity, rows.dim));
    }
    if (const auto* apart = std::get_if<Apart>(&rows.layout)) index(name(apart->stride));
    std::visit(overload{
                   [&](const OwnRow& own) {
                     if (rows.arity != 1) fail("an element has one row of its own");
                     index(own.element);
                   },
                   [&](const MapRows& through) {
                     index(element(through.map, integer(0)));
                     index(through.element);
                   },
                   [&](const ListedRows& listed) {
                     if (std::ssize(listed.entries) != rows.arity) {
                       fail("a list of rows that is not complete");
                     }
                     for (const Expr& entry : listed.entries) index(entry);
                     check_told(listed);
                   },
               },
               rows.which);
  }

  /// What is said of the entries of a list holds for each of them.
  static void check_told(const ListedRows& rows) {
    if (rows.climbs && rows.climbs->size() != rows.entries.size()) {
      fail("climbs of other rows than those of the list");
    }
    for (std::size_t i = 0; rows.any_entry && i < rows.entries.size(); ++i) {
      const Expr made = map_expr(*rows.any_entry, [i](const Expr& part) -> std::optional<Expr> {
        if (part == name("i")) return integer(static_cast<std::int64_t>(i));
        return std::nullopt;
      });
      if (made != rows.entries[i]) {
        fail(fmt::format("row {} is {}, not {}", i, dump(rows.entries[i]), dump(made)));
      }
    }
  }

  void inserted(const MatInsert& insert) {
    const Entries& entries = insert.entries;
    (void)memory(insert.pack, false);
    if (memory(entries.data, true).kind.dtype != memory_dtype(entries))
      fail("a matrix of another type");
    index(element(entries.row_start, integer(0)));
    index(element(entries.position, integer(0)));
    index(entries.element);
    if (entries.rows.empty()) index(element(entries.row_map, integer(0)));
    for (const Expr& row : entries.rows) index(row);
    for (const auto* one : {&entries.n_rows, &entries.n_columns, &entries.begin}) {
      if (*one) index(**one);
    }
    if (entries.begin.has_value() != (entries.n_rows || entries.n_columns)) {
      fail("positions that begin elsewhere than those of a ragged Map");
    }
  }

  void check_intrinsic(const Intrinsic& intrinsic) const {
    const InstructionRow& row = row_of(intrinsic.name);
    const std::size_t n = intrinsic.operands.size();
    const auto more = static_cast<std::size_t>(row.each_lane ? intrinsic.type.lanes - 1 : 0);
    if (n != row.n_operands() + more) {
      fail(fmt::format("an instruction of {} operands, not {}", n, row.n_operands() + more));
    }
    for (std::size_t i = 0; i < intrinsic.operands.size(); ++i) {
      check_operand(operand_of(intrinsic.name, i), intrinsic.operands[i], intrinsic.type);
    }
  }

  void check_operand(const OperandRow& wanted, const Expr& given, const VariableType& type) const {
    if (wanted.kind == Operand::index) return index(given);
    const Kind found = kind(given);
    if (found.of != Kind::Of::pointer) fail(fmt::format("'{}' is no array", dump(given)));
    if (wanted.is_written && found.is_const) fail(fmt::format("'{}' is const", dump(given)));
    const bool is_of_vectors = found.lanes > 0 || is_side_by_side_;
    const bool fits = wanted.kind == Operand::indices   ? is_integer(found.dtype)
                      : wanted.kind == Operand::numbers ? found.dtype == type.dtype
                      : wanted.kind == Operand::rows
                          ? is_of_vectors
                          : is_of_vectors && found.dtype == type.dtype &&
                                (found.lanes == type.lanes || found.lanes == 0);
    if (!fits) fail(fmt::format("'{}' is {}", dump(given), text_of(found)));
  }

  // ------------------------------------------------------------------------------ expressions

  [[nodiscard]] const Variable& find(const std::string& name) const {
    const Variable* found = scope_.find(name);
    if (found == nullptr) fail(fmt::format("'{}' is not declared", name));
    return *found;
  }

  /// An array, or what a pointer points to. @param[in] is_written Then it must not be const.
  const Variable& memory(const std::string& name, bool is_written) const {
    const Variable& found = find(name);
    if (found.kind.of != Kind::Of::pointer) fail(fmt::format("'{}' is no array", name));
    if (is_written && found.kind.is_const) fail(fmt::format("'{}' is const", name));
    return found;
  }

  const Variable& vector_of(const std::string& name) const {
    const Variable& found = memory(name, false);
    if (found.kind.lanes == 0 && !is_side_by_side_) {
      fail(fmt::format("'{}' is no array of vectors", name));
    }
    return found;
  }

  void index(const Expr& expr) const {
    const Kind found = kind(expr);
    if (!is_index(found)) fail(fmt::format("'{}' is {}, no index", dump(expr), text_of(found)));
  }

  void condition(const Expr& expr) const {
    const Kind found = kind(expr);
    if (!is_index(found) && found.of != Kind::Of::pointer) {
      fail(fmt::format("'{}' is {}, no condition", dump(expr), text_of(found)));
    }
  }

  void kinds(const std::vector<Expr>& expressions) const {
    for (const Expr& expr : expressions) (void)kind(expr);
  }

  [[nodiscard]] Kind kind(const Expr& expr) const {
    return std::visit(overload{
                          [](const Integer&) { return Kind{Kind::Of::number}; },
                          [this](const Name& node) { return find(node.name).kind; },
                          [this](const Element& node) {
                            index(node.subscript.front());
                            return pointed_to(memory(node.array, false).kind);
                          },
                          [this](const Offset& node) {
                            index(node.subscript.front());
                            return memory(node.array, false).kind;
                          },
                          [this](const Binary& node) { return kind(node); },
                          [this](const Widen& node) { return indices(node.operands); },
                          [this](const Minimum& node) { return indices(node.operands); },
                          [this](const Select& node) { return kind(node); },
                          [this](const ScratchAt& node) {
                            index(node.bytes.front());
                            return Kind{Kind::Of::pointer, DType::uint8, 0, false, 1};
                          },
                          [this](const Shuffle& node) {
                            index(node.operands[1]);
                            return kind(node.operands[0]);
                          },
                          [this](const BlocksFor& node) { return indices(node.items); },
                          [](const Stride&) { return index_kind; },
                          [this](const LaneOf& node) {
                            index(node.operands[0]);
                            index(node.operands[1]);
                            return kind_of(vector_of(node.array).kind.dtype, 0);
                          },
                          [](const Builtin&) { return index_kind; },
                      },
                      expr.node);
  }

  [[nodiscard]] Kind indices(const std::vector<Expr>& operands) const {
    for (const Expr& operand : operands) index(operand);
    return index_kind;
  }

  /// Values are compared; indices are computed with, and added to pointers.
  [[nodiscard]] Kind kind(const Binary& binary) const {
    const Kind left = kind(binary.operands[0]);
    const Kind right = kind(binary.operands[1]);
    const bool compares = binary.op == BinaryOp::less || binary.op == BinaryOp::equal;
    if (compares && is_scalar(left) && is_scalar(right)) return index_kind;
    if (binary.op == BinaryOp::add && left.of == Kind::Of::pointer && is_index(right)) return left;
    if (!is_index(left) || !is_index(right)) {
      fail(fmt::format("operands {} and {}", text_of(left), text_of(right)));
    }
    return index_kind;
  }

  [[nodiscard]] Kind kind(const Select& select) const {
    condition(select.operands[0]);
    const Kind then = kind(select.operands[1]);
    const Kind otherwise = kind(select.operands[2]);
    if (fits(then, otherwise)) return then;
    if (fits(otherwise, then)) return otherwise;
    fail(fmt::format("a choice between {} and {}", text_of(then), text_of(otherwise)));
  }

  const Module& module_;
  kernel::ScopeStack<Variable> scope_;
  const Stmt* stmt_ = nullptr;
  bool is_side_by_side_ = false;  ///< in a For{vector}: scalars stand for one value a lane
};

// -------------------------------------------------------------------- what belongs where

bool is_of_launch(const Stmt& stmt) {
  return std::holds_alternative<Launch>(stmt.node) || std::holds_alternative<Scratch>(stmt.node);
}

bool is_of_block(const Stmt& stmt) {
  if (const auto* loop = std::get_if<For>(&stmt.node)) {
    return loop->axis == Axis::grid || loop->axis == Axis::block || loop->axis == Axis::lane;
  }
  if (const auto* decl = std::get_if<Decl>(&stmt.node)) return decl->storage == Storage::block;
  return std::holds_alternative<Barrier>(stmt.node) || has_scope(stmt, Scope::block);
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

void check_places(const Function& function) {
  for_each_stmt(function.body, [&function](const Stmt& stmt) {
    if (is_of_launch(stmt)) fail("a launch within a function");
    if (function.is_kernel ? is_of_team(stmt) : is_of_block(stmt)) {
      fail("lanes that the backend does not have");
    }
  });
}

void check_places(const Module& module) {
  const bool is_grid = has_kernels(module);
  for_each_stmt(module.launch, [is_grid](const Stmt& stmt) {
    if (is_grid ? !is_evaluated(stmt) : is_of_launch(stmt) || is_of_block(stmt)) {
      fail(fmt::format("not a statement of this launch: {}", dump(stmt)));
    }
  });
}

void check_unique(const Module& module) {
  std::set<std::string_view> names{module.launch_name};
  for (const Function& function : module.functions) {
    if (!names.insert(function.name).second) fail(fmt::format("'{}' twice", function.name));
  }
}

/// @p check with the place in its messages.
template <class Check>
void in(const std::string& name, const Checker& checker, const Check& check) {
  try {
    check();
  } catch (const InternalError& error) {
    std::string where;
    if (checker.stmt() != nullptr) {
      const std::string text = dump(*checker.stmt());
      where = ": at " + text.substr(0, text.find('\n'));
    }
    throw InternalError(fmt::format("{}: {}{}", name, error.what(), where));
  }
}

void check_function(const Module& module, const Function& function) {
  Checker checker(module);
  in(function.name, checker, [&] {
    check_places(function);
    for (const Parameter& parameter : function.parameters) checker.declare(parameter);
    if (!function.is_kernel) {
      checker.declare("begin", {index_kind, true, 0});
      checker.declare("end", {index_kind, true, 0});
    }
    checker.block(function.body);
  });
}

void check_launch(const Module& module) {
  Checker checker(module);
  in(module.launch_name, checker, [&] {
    check_places(module);
    for (const Parameter& parameter : module.argv) checker.declare(parameter);
    checker.declare("begin", {index_kind, true, 0});
    checker.declare("end", {index_kind, true, 0});
    checker.block(module.launch);
  });
}

}  // namespace

void verify(const Module& module, bool waits) {
  if (module.kernels.empty() || std::ranges::count(module.kernels, nullptr) > 0) {
    fail("module without a kernel");
  }
  check_unique(module);
  for (const Function& function : module.functions) {
    check_function(module, function);
    if (waits && function.is_kernel) verify_barriers(function);
  }
  check_launch(module);
}

bool is_expanded(const Module& module) {
  const auto is_left = [](const Stmt& stmt) {
    const auto* assign = std::get_if<Assign>(&stmt.node);
    return std::holds_alternative<Copy>(stmt.node) || std::holds_alternative<Gather>(stmt.node) ||
           std::holds_alternative<Scatter>(stmt.node) ||
           std::holds_alternative<MatInsert>(stmt.node) || is_vector_loop(stmt) ||
           (assign != nullptr && assign->update != Update::set && assign->update != Update::add);
  };
  return !any_stmt(module.launch, is_left) &&
         std::ranges::none_of(module.functions, [&is_left](const Function& function) {
           return any_stmt(function.body, is_left);
         });
}

}  // namespace op2::kir
