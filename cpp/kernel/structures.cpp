// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/structures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "kernel/effects.hpp"
#include "kernel/integers.hpp"
#include "kernel/plain.hpp"
#include "kernel/structure_parts.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

using namespace structures;

constexpr std::size_t most_copied = 64;  // scalars, each by a statement

Expr made(ExprNode node, std::vector<Expr> operands, int line) {
  return {std::move(node), std::move(operands), {}, line};
}
Expr name_of(std::string name, int line) {
  return made(Name{std::move(name)}, {}, line);
}
Expr number(std::int64_t value, int line) {
  return made(Literal{std::to_string(value)}, {}, line);
}
Expr assignment(Expr target, Expr value) {
  const int line = target.line;
  return made(Assign{}, {std::move(target), std::move(value)}, line);
}

// ---------------------------------------------------------------------------------- expressions

/// Rewrites one function.
class Splitter {
 public:
  Splitter(const KernelBody& body, const Parts& parts, PartNames& names)
      : body_(body), parts_(parts), names_(names) {}

  FunctionDef run(const FunctionDef& function) {
    FunctionDef out = function;
    out.parameters.clear();
    Body copies;
    for (const Parameter& parameter : function.parameters) {
      at_line(parameter.line, [&] { take(parameter, out.parameters, copies); });
    }
    if (is_structure(function.result)) {
      result_ = names_.take("op2_result");
      for (const Part& part : parts_.of(function.result)) {
        Type type = part.type.is_array() ? decayed(part.type) : pointer_to(part.type);
        type.is_const = false;
        out.parameters.push_back({names_.of(result_, part.path), std::move(type), function.line});
      }
      out.result = kernel::scalar(Base::none);
    } else if (is_of_structures(function.result)) {
      throw Whole{"a function returns a pointer", function.line};
    }
    out.body = statements_of(function.body);
    out.body.insert(out.body.begin(), locals_.begin(), locals_.end());
    out.body.insert(out.body.begin(), copies.begin(), copies.end());
    return out;
  }

  /// A table of structures, as tables.
  void table(const Variable& variable, std::vector<Variable>& tables) {
    if (!is_of_structures(variable.type)) return tables.push_back(variable);
    for (const Part& part : parts_.of(variable.type)) {
      tables.push_back(
          {names_.of(variable.name, part.path), part.type, std::nullopt, variable.line});
      if (variable.value) tables.back().value = item(*variable.value, variable.type, part.path);
    }
  }

 private:
  // -------------------------------------------------------------------------------- declarations

  void take(const Parameter& parameter, std::vector<Parameter>& out, Body& copies) {
    if (!is_of_structures(parameter.type)) return out.push_back(parameter);
    for (const Part& part : parts_.of(parameter.type)) {
      const std::string name = names_.of(parameter.name, part.path);
      const bool is_copy = part.type.is_array() && parameter.type.derivation.empty();
      out.push_back(
          {is_copy ? names_.take(name + "_given") : name, decayed(part.type), parameter.line});
      if (is_copy) {  // by value: what the function writes is its own
        copies.push_back(declared(name, part.type, std::nullopt, parameter.line));
        const Expr given = name_of(out.back().name, parameter.line);
        into(copies, [&] { copy_of(part.type, name_of(name, parameter.line), given); });
      }
    }
  }

  static Stmt declared(const std::string& name, Type type, std::optional<Expr> value, int line) {
    if (!value) type.is_const = false;
    return {Declare{false, {{name, std::move(type), std::move(value), line}}}, line};
  }

  void copy_of(const Type& type, const Expr& to, const Expr& from) {
    std::vector<Expr> targets;
    std::vector<Expr> values;
    elements(to, type, targets);
    elements(from, type, values);
    assign(targets, values);
  }

  void declare(const Declare& node, int line) {
    for (const Variable& variable : node.variables) {
      if (is_of_structures(variable.type)) {
        declare_parts(variable, node.is_static, line);
      } else {
        Variable made_variable = variable;
        if (variable.value) made_variable.value = initial(*variable.value);
        out_.push_back({Declare{node.is_static, {std::move(made_variable)}}, line});
      }
    }
  }

  /// The value of a variable that is no structure.
  Expr initial(const Expr& value) {
    if (!std::holds_alternative<InitList>(value.node)) return scalar(value);
    Expr list = value;
    for (Expr& operand : list.operands) operand = initial(operand);
    return list;
  }

  void declare_parts(const Variable& variable, bool is_static, int line) {
    if (variable.value && std::holds_alternative<Call>(variable.value->node)) {
      for (const Part& part : parts_.of(variable.type)) {
        out_.push_back(
            declared(names_.of(variable.name, part.path), part.type, std::nullopt, line));
      }
      return call_into(name_of(variable.name, line), variable.type, *variable.value);
    }
    const Expr* given = variable.value ? &*variable.value : nullptr;
    if (given != nullptr && is_struct_literal(*given)) given = &given->operands[0];
    const bool is_list = given != nullptr && std::holds_alternative<InitList>(given->node);
    std::optional<Expr> value;
    if (given != nullptr) value = is_list ? hoisted_items(*given) : place(*given);
    for (const Part& part : parts_.of(variable.type)) {
      const std::string name = names_.of(variable.name, part.path);
      if (is_list) {
        Variable own{name, part.type, item(*value, variable.type, part.path), line};
        out_.push_back({Declare{is_static, {std::move(own)}}, line});
      } else if (value && !part.type.is_array()) {
        out_.push_back(declared(name, part.type, access(*value, part.path), line));
      } else {
        out_.push_back(declared(name, part.type, std::nullopt, line));
        if (value) copy_of(part.type, name_of(name, line), access(*value, part.path));
      }
    }
  }

  /// The items of an initialiser, in which structures are places now.
  static Expr hoisted_items(const Expr& list) {
    Expr out = list;
    for (Expr& operand : out.operands) {
      if (std::holds_alternative<InitList>(operand.node)) {
        operand = hoisted_items(operand);
      } else if (is_structure(operand.type)) {
        operand = place(operand);
      }
    }
    return out;
  }

  /// What a part starts as, of what an array or a structure of @p type starts as.
  Expr item(const Expr& value, const Type& type, const Path& path, std::size_t at = 0) {
    const auto* list = std::get_if<InitList>(&value.node);
    if (type.is_array() && list != nullptr) {
      Expr out{InitList{}, {}, {}, value.line};
      for (const Expr& operand : value.operands) {
        out.operands.push_back(item(operand, element_of(type), path, at));
      }
      if (out.operands.empty()) out.operands.push_back(number(0, value.line));
      return out;
    }
    if (at == path.size()) return initial(value);
    if (list == nullptr) {
      const Path rest(path.begin() + static_cast<int>(at), path.end());
      const std::vector<Part> parts = parts_.of(type);
      const auto part = std::ranges::find(parts, rest, &Part::path);
      return spread(access(value, rest), part->type);
    }
    const Structure& structure = *body_.structure(type.tag);
    for (std::size_t i = 0; i < value.operands.size(); ++i) {
      const Parameter& member = structure.members[i];
      if (member.name == path[at]) return item(value.operands[i], member.type, path, at + 1);
    }
    const auto member = std::ranges::find(structure.members, path[at], &Parameter::name);
    return nothing(member->type, path, at + 1, value.line);
  }

  /// An array as the list of its elements, since no array is initialised by another.
  static Expr spread(const Expr& place, const Type& type) {
    if (!type.is_array()) return place;
    if (n_scalars(type) > std::int64_t{most_copied}) too_large();
    Expr out{InitList{}, {}, {}, place.line};
    for (std::int64_t i = 0; i < type.derivation.front().extent; ++i) {
      const Expr element = indexed(place, number(i, place.line));
      out.operands.push_back(spread(element, element_of(type)));
    }
    return out;
  }

  [[noreturn]] static void too_large() {
    throw Whole{fmt::format("a struct of more than {} values is copied", most_copied)};
  }

  /// What C gives to what an initialiser leaves out.
  Expr nothing(const Type& type, const Path& path, std::size_t at, int line) {
    if (type.is_array()) {
      return {InitList{}, {nothing(element_of(type), path, at, line)}, {}, line};
    }
    if (at == path.size() || type.is_pointer()) return number(0, line);
    const Structure& structure = *body_.structure(type.tag);
    const auto member = std::ranges::find(structure.members, path[at], &Parameter::name);
    return nothing(member->type, path, at + 1, line);
  }

  // ---------------------------------------------------------------------------------- structures

  /// @p expr, of structures, as a place whose parts may be asked for one by one.
  static Expr simple(const Expr& expr) {
    const auto* unary = std::get_if<Unary>(&expr.node);
    const bool is_place = std::holds_alternative<Index>(expr.node) ||
                          std::holds_alternative<MemberOf>(expr.node) ||
                          (unary != nullptr && !is_step(unary->op));
    if (std::holds_alternative<Name>(expr.node) || std::holds_alternative<Ternary>(expr.node)) {
      return expr;
    }
    if (std::holds_alternative<Cast>(expr.node)) return converted(expr);
    if (!is_place && !std::holds_alternative<Binary>(expr.node)) unknown();
    Expr out = expr;
    for (Expr& operand : out.operands) {
      if (is_of_structures(operand)) operand = simple(operand);
    }
    return out;
  }

  [[noreturn]] static Expr unknown() { throw Whole{"a struct is used in an unusual way"}; }

  /// A local of the type of @p expr, as if the user had declared it.
  Expr local(const Expr& expr) {
    Type type = expr.type;
    type.is_const = false;
    Expr name = name_of(names_.take("op2_struct"), expr.line);
    name.type = type;
    for (const Part& part : parts_.of(type)) {
      locals_.push_back(declared(names_.of(std::get<Name>(name.node).name, part.path), part.type,
                                 std::nullopt, expr.line));
    }
    return name;
  }

  /// A call that gives a structure: through pointers to the parts of @p to.
  void call_into(const Expr& to, const Type& type, const Expr& expr) {
    if (!is_structure(expr.type) || body_.function(std::get<Call>(expr.node).function) == nullptr) {
      unknown();
    }
    Expr out = called(expr);
    for (const Part& part : parts_.of(type)) {
      Expr place = access(to, part.path);
      out.operands.push_back(part.type.is_array()
                                 ? std::move(place)
                                 : made(Unary{UnaryOp::address}, {std::move(place)}, expr.line));
    }
    emit(std::move(out));
  }

  /// What a call or a literal makes, as a local.
  Expr made_local(const Expr& expr) {
    const Expr to = local(expr);
    if (is_struct_literal(expr)) {
      assign(scalars_of(to, to.type), values_of(expr));
    } else {
      call_into(to, to.type, expr);
    }
    return to;
  }

  /// A pointer that stays one to the same structure.
  static Expr converted(const Expr& expr) {
    const Expr& operand = expr.operands[0];
    const bool is_same = operand.type.tag == expr.type.tag &&
                         operand.type.depth() == expr.type.depth() && is_of_structures(operand);
    if (!is_same) throw Whole{"a pointer is cast to another type"};
    return simple(operand);
  }

  /// The part @p path of @p expr, which simple() gave.
  Expr access(const Expr& expr, const Path& path) {
    if (const auto* name = std::get_if<Name>(&expr.node)) {
      return name_of(names_.of(name->name, path), expr.line);
    }
    if (const auto* member = std::get_if<MemberOf>(&expr.node)) {
      Path longer{member->name};
      longer.insert(longer.end(), path.begin(), path.end());
      return access(expr.operands[0], longer);
    }
    if (std::holds_alternative<Index>(expr.node)) {
      return indexed(access(expr.operands[0], path), scalar(expr.operands[1]));
    }
    Expr out{expr.node, {}, {}, expr.line};
    for (const Expr& operand : expr.operands) {
      out.operands.push_back(is_of_structures(operand) ? access(operand, path) : scalar(operand));
    }
    return out;
  }

  /// An element; of a choice of arrays, which may be const or not, on lanes or not, a choice.
  static Expr indexed(Expr array, const Expr& at) {
    const int line = array.line;
    if (!std::holds_alternative<Ternary>(array.node) || !has_no_effect(at)) {
      return made(Index{}, {std::move(array), at}, line);
    }
    for (std::size_t i = 1; i < 3; ++i) {
      array.operands[i] = indexed(std::move(array.operands[i]), at);
    }
    return array;
  }

  // ------------------------------------------------------------------------------------- effects

  /// The scalars of all parts of @p from, which simple() gave.
  std::vector<Expr> scalars_of(const Expr& from, const Type& type) {
    std::vector<Expr> scalars;
    for (const Part& part : parts_.of(type)) elements(access(from, part.path), part.type, scalars);
    return scalars;
  }

  /// An array of C is not assigned as a whole.
  static void elements(const Expr& place, const Type& type, std::vector<Expr>& out) {
    if (!type.is_array()) return out.push_back(place);
    for (std::int64_t i = 0; i < type.derivation.front().extent; ++i) {
      elements(indexed(place, number(i, place.line)), element_of(type), out);
      if (out.size() > most_copied) too_large();
    }
  }

  /// What goes into the scalars of a structure, in their order.
  std::vector<Expr> values_of(const Expr& value) {
    if (!is_struct_literal(value)) return scalars_of(place(value), value.type);
    const Expr list = hoisted_items(value.operands[0]);
    std::vector<Expr> values;
    for (const Part& part : parts_.of(value.type)) {
      listed(part.type, item(list, value.type, part.path), values);
    }
    return values;
  }

  /// What a list says of an array, and zeros for the rest.
  static void listed(const Type& type, const Expr& list, std::vector<Expr>& values) {
    if (!type.is_array()) return values.push_back(list);
    const bool is_list = std::holds_alternative<InitList>(list.node);
    if (!is_list) return elements(list, type, values);
    const Type element = element_of(type);
    const Expr zero =
        element.is_array() ? Expr{InitList{}, {}, {}, list.line} : number(0, list.line);
    for (std::int64_t i = 0; i < type.derivation.front().extent; ++i) {
      const auto at = static_cast<std::size_t>(i);
      listed(element, at < list.operands.size() ? list.operands[at] : zero, values);
    }
  }

  void assign(const std::vector<Expr>& targets, const std::vector<Expr>& values) {
    for (std::size_t i = 0; i < targets.size(); ++i) emit(assignment(targets[i], values[i]));
  }

  /// What a statement evaluates: a store, a call, or several in the head of a loop.
  void effect(const Expr& expr) {
    if (treats_bytes(expr)) return bytes_treated(expr);
    const auto* binary = std::get_if<Binary>(&expr.node);
    if (binary != nullptr && binary->op == BinaryOp::comma) {
      for (const Expr& operand : expr.operands) effect(operand);
    } else if (!is_of_structures(expr)) {
      emit(scalar(expr));
    } else if (const auto* assign = std::get_if<Assign>(&expr.node)) {
      stored(*assign, expr);
    } else if (is_step(expr)) {
      const Expr target = settled_target(expr.operands[0], expr.operands[0].type);
      for (const Part& part : parts_.of(expr.type)) {
        emit(made(expr.node, {access(target, part.path)}, expr.line));
      }
    } else if (std::holds_alternative<Call>(expr.node)) {
      (void)made_local(expr);
    } else {
      (void)simple(expr);
    }
  }

  /// Where a structure is that is named once for each of its parts.
  static Expr place(const Expr& expr) {
    Expr found = simple(expr);
    if (!has_no_effect(found)) throw Whole{"a subscript of a struct has an effect"};
    return found;
  }

  // Parts are stored one after the other: what a step has changed must not decide where the next
  // one stores, or which value it takes, as in `w[w[0].n] = v`, `w = w.n ? v : u`, `p = &w[p->n]`.

  /// Whether @p expr, which is no structure, may change when parts of a @p stored are stored.
  static bool may_change(const Expr& expr, const Type& stored) {
    if (std::holds_alternative<SizeOf>(expr.node)) return false;
    if (is_of_structures(expr)) return true;
    const auto* unary = std::get_if<Unary>(&expr.node);
    const bool is_read = std::holds_alternative<Index>(expr.node) ||
                         (unary != nullptr && unary->op == UnaryOp::dereference);
    // a pointer may lead into a structure; one that is itself stored is no number
    if (is_read && is_structure(stored) && expr.operands[0].type.is_pointer()) return true;
    return std::ranges::any_of(
        expr.operands, [&stored](const Expr& operand) { return may_change(operand, stored); });
  }

  /// A local that holds @p value.
  Expr once(const Expr& value) {
    Type type = decayed(value.type);
    if (!type.is_known()) throw Whole{"a struct is stored where something unknown says"};
    type.is_const = false;
    Expr name = name_of(names_.take("op2_once"), value.line);
    name.type = type;
    locals_.push_back(
        declared(std::get<Name>(name.node).name, std::move(type), std::nullopt, value.line));
    emit(assignment(name, scalar(value)));
    return name;
  }

  /// Let nothing in @p place, which simple() gave, change when a @p stored is stored.
  /// @return false if something in a choice might, which must not be computed before.
  bool settle(Expr& place, const Type& stored, bool is_chosen = false) {
    if (!is_of_structures(place)) {
      if (!may_change(place, stored)) return true;
      if (!is_chosen) place = once(place);
      return !is_chosen;
    }
    const bool chooses = std::holds_alternative<Ternary>(place.node);
    for (std::size_t i = 0; i < place.operands.size(); ++i) {
      const bool is_one_of_two = is_chosen || (chooses && i > 0);
      if (!settle(place.operands[i], stored, is_one_of_two)) return false;
    }
    return true;
  }

  /// Where parts of a @p stored, a structure or a pointer, are stored.
  Expr settled_target(const Expr& expr, const Type& stored) {
    Expr found = place(expr);
    if (!settle(found, stored)) {
      throw Whole{"a choice decides where a struct is stored that it depends on"};
    }
    return found;
  }

  /// What is stored, part by part, in a @p stored: a copy where a choice depends on it.
  Expr settled_value(const Expr& expr, const Type& stored) {
    if (std::holds_alternative<Call>(expr.node) || is_struct_literal(expr)) return made_local(expr);
    const Expr found = place(expr);
    Expr same = found;
    const std::size_t n_before = out_.size();
    if (settle(same, stored)) return same;
    out_.resize(n_before);
    const Expr copy = local(expr);
    copy_parts(copy, found, expr.type);
    return copy;
  }

  /// Let the place @p to hold what @p from does: a structure, or a pointer to some.
  void copy_parts(const Expr& to, const Expr& from, const Type& type) {
    if (is_structure(type)) return assign(scalars_of(to, type), scalars_of(from, type));
    for (const Part& part : parts_.of(type)) {
      emit(assignment(access(to, part.path), access(from, part.path)));
    }
  }

  void stored(const Assign& node, const Expr& expr) {
    const Expr to = settled_target(expr.operands[0], expr.operands[0].type);
    const Type& type = expr.operands[0].type;
    const Expr& value = expr.operands[1];
    if (!is_of_structures(value)) {
      // p += 2, or p = 0
      const bool is_same = has_no_effect(value) && !may_change(value, type);
      const Expr each = is_same ? value : once(value);
      for (const Part& part : parts_.of(type)) {
        emit(made(node, {access(to, part.path), scalar(each)}, expr.line));
      }
      return;
    }
    copy_parts(to, settled_value(value, type), type);
  }

  // --------------------------------------------------------------------------------------- bytes

  /// What the user has cast to bytes.
  static const Expr& uncast(const Expr& expr) {
    const auto* cast = std::get_if<Cast>(&expr.node);
    const bool is_bytes = cast != nullptr && cast->target.is_pointer() &&
                          (cast->target.base == Base::none || size_of_base(cast->target) == 1);
    return is_bytes ? uncast(expr.operands[0]) : expr;
  }
  static std::size_t size_of_base(const Type& type) {
    const auto dtype = dtype_of(type.base);
    return dtype ? size_of(*dtype) : 0;
  }

  /// Whether it sets or copies the bytes of structures.
  [[nodiscard]] bool treats_bytes(const Expr& expr) const {
    const auto* call = std::get_if<Call>(&expr.node);
    if (call == nullptr || expr.operands.size() != 3) return false;
    const std::string& name = call->function;
    const bool is_one = name == "memset" || name == "memcpy" || name == "memmove";
    return is_one && body_.function(name) == nullptr &&
           (is_of_structures(uncast(expr.operands[0])) ||
            is_of_structures(uncast(expr.operands[1])));
  }

  /// Few structures scalar by scalar, others a member at a time.
  void bytes_treated(const Expr& expr) {
    const std::string& name = std::get<Call>(expr.node).function;
    const Expr& to = uncast(expr.operands[0]);
    const Expr& from = uncast(expr.operands[1]);
    const bool is_set = name == "memset";
    const bool is_alike = is_set || (to.type.tag == from.type.tag && !from.type.derivation.empty());
    if (!is_of_structures(to) || to.type.derivation.empty() || !is_alike) {
      throw Whole{fmt::format("it calls '{}' on a struct and something else", name)};
    }
    const Type type = element_of(to.type);
    const Expr target = settled_target(to, type);
    const bool is_same = !is_set || (has_no_effect(from) && !may_change(from, type));
    const Expr given = is_same ? from : once(from);
    const Expr source = is_set ? scalar(given) : settled_value(from, type);
    const Expr count = count_of(expr.operands[2], type, name);
    const auto n = integer_value(count, {});
    if (!n && may_change(expr.operands[2], type)) {
      throw Whole{fmt::format("the size that '{}' gets depends on a struct", name)};
    }
    const bool is_plain = is_set ? integer_value(source, {}) == 0 : name == "memcpy" || n == 1;
    if (n && is_plain && is_few(*n, element_of(to.type))) {
      scalar_by_scalar(target, is_set ? nullptr : &source, *n, element_of(to.type));
    } else {
      for (const Part& part : parts_.of(to.type)) {
        Expr size = made(SizeOf{element_of(part.type)}, {}, expr.line);
        Expr bytes = made(Binary{BinaryOp::multiply}, {count, std::move(size)}, expr.line);
        Expr value = is_set ? source : access(source, part.path);
        emit(made(Call{name}, {access(target, part.path), std::move(value), std::move(bytes)},
                  expr.line));
      }
    }
  }

  /// How many of @p type make so many bytes.
  Expr count_of(const Expr& bytes, const Type& type, const std::string& function) {
    const std::int64_t one = parts_.n_bytes(type);
    const Expr plain = scalar(bytes);
    if (const auto n = integer_value(plain, {}); n && *n >= 0 && *n % one == 0) {
      return number(*n / one, bytes.line);
    }
    const auto* product = std::get_if<Binary>(&plain.node);
    for (std::size_t i = 0; i < 2; ++i) {
      if (product == nullptr || product->op != BinaryOp::multiply) break;
      const Expr& other = plain.operands[1 - i];
      if (integer_value(plain.operands[i], {}) == one && has_no_effect(other)) return other;
    }
    throw Whole{fmt::format("it calls '{}' on a part of a struct", function)};
  }

  [[nodiscard]] bool is_few(std::int64_t n, const Type& type) const {
    std::int64_t n_values = 0;
    for (const Part& part : parts_.of(type)) n_values += n_scalars(part.type);
    return n <= std::int64_t{most_copied} / std::max<std::int64_t>(n_values, 1);
  }

  /// The first @p n structures at @p to become those at @p from, or zeros.
  void scalar_by_scalar(const Expr& to, const Expr* from, std::int64_t n, const Type& type) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::vector<Expr> targets = scalars_of(behind(to, i), type);
      const std::vector<Expr> values = from == nullptr
                                           ? std::vector(targets.size(), number(0, to.line))
                                           : scalars_of(behind(*from, i), type);
      assign(targets, values);
    }
  }

  static Expr behind(const Expr& pointer, std::int64_t i) {
    const auto* unary = std::get_if<Unary>(&pointer.node);
    if (i == 0 && unary != nullptr && unary->op == UnaryOp::address) return pointer.operands[0];
    return made(Index{}, {pointer, number(i, pointer.line)}, pointer.line);
  }

  // ------------------------------------------------------------------------------------- scalars

  /// A value that is no structure.
  Expr scalar(const Expr& expr) {
    if (std::holds_alternative<SizeOf>(expr.node)) return size(expr);
    if (const auto* assign = std::get_if<Assign>(&expr.node);
        assign != nullptr && is_of_structures(expr.operands[1])) {
      throw Whole{"a pointer to a struct becomes another pointer"};
    }
    if (const auto* member = std::get_if<MemberOf>(&expr.node)) {
      return access(simple(expr.operands[0]), {member->name});
    }
    if (std::holds_alternative<Index>(expr.node)) {
      return indexed(scalar(expr.operands[0]), scalar(expr.operands[1]));
    }
    if (std::holds_alternative<Call>(expr.node)) return called(expr);
    Expr out{expr.node, {}, {}, expr.line};
    for (const Expr& operand : expr.operands) {
      out.operands.push_back(is_of_structures(operand) ? any_part(operand, expr) : scalar(operand));
    }
    return out;
  }

  /// Pointers to structures compare as those to any of their parts.
  Expr any_part(const Expr& pointer, const Expr& in) {
    const bool compares = std::holds_alternative<Binary>(in.node) ||
                          std::holds_alternative<Ternary>(in.node) ||
                          (std::holds_alternative<Unary>(in.node) &&
                           std::get<Unary>(in.node).op == UnaryOp::logical_not);
    if (!compares || is_structure(pointer.type)) {
      throw Whole{"a pointer to a struct becomes another pointer"};
    }
    return access(place(pointer), parts_.of(pointer.type).front().path);
  }

  static void check_argument(const std::string& name, const FunctionDef* function, std::size_t i,
                             const Expr& operand) {
    if (function == nullptr) {
      if (!is_of_structures(operand)) return;
      throw Whole{fmt::format("it calls '{}' on a struct", name)};
    }
    if (i >= function->parameters.size()) return;
    const Type& wanted = function->parameters[i].type;
    const bool is_same = wanted.base == operand.type.base && wanted.tag == operand.type.tag;
    if ((is_of_structures(wanted) || is_of_structures(operand)) && !is_same) {
      throw Whole{fmt::format("'{}' takes another type than the struct it gets", name)};
    }
  }

  Expr called(const Expr& expr) {
    const auto& call = std::get<Call>(expr.node);
    const FunctionDef* function = body_.function(call.function);
    Expr out{expr.node, {}, {}, expr.line};
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
      const Expr& operand = expr.operands[i];
      check_argument(call.function, function, i, operand);
      if (!is_of_structures(operand)) {
        out.operands.push_back(scalar(operand));
        continue;
      }
      Expr from = place(operand);
      if (is_structure(operand.type) && std::holds_alternative<Ternary>(from.node)) {
        const Expr copy = local(operand);  // there is no choice of arrays
        assign(scalars_of(copy, operand.type), scalars_of(from, operand.type));
        from = copy;
      }
      for (const Part& part : parts_.of(operand.type)) {
        out.operands.push_back(access(from, part.path));
      }
    }
    return out;
  }

  Expr size(const Expr& expr) {
    const auto& node = std::get<SizeOf>(expr.node);
    const Type& type = node.target ? *node.target : expr.operands[0].type;
    if (!is_of_structures(type)) {
      Expr out{expr.node, {}, {}, expr.line};
      for (const Expr& operand : expr.operands) out.operands.push_back(scalar(operand));
      return out;
    }
    return made(Literal{fmt::format("{}ul", parts_.n_bytes(type))}, {}, expr.line);
  }

  // ---------------------------------------------------------------------------------- statements

  Body statements_of(const Body& statements) {
    Body outer = std::exchange(out_, {});
    for (const Stmt& stmt : statements) {
      at_line(stmt.line, [this, &stmt] { statement(stmt); });
    }
    return std::exchange(out_, std::move(outer));
  }

  void emit(Expr step) {
    const int line = step.line;
    out_.push_back({Evaluate{std::move(step)}, line});
  }

  /// Let what @p make emits stand in @p out.
  template <class Make>
  void into(Body& out, const Make& make) {
    std::swap(out_, out);
    make();
    std::swap(out_, out);
  }

  /// What is evaluated in the head of a loop, as one expression.
  Expr head(const Expr& expr) {
    Body steps;
    into(steps, [&] { effect(expr); });
    Expr all = std::move(std::get<Evaluate>(steps.front().node).value);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      Expr& next = std::get<Evaluate>(steps[i].node).value;
      const int line = all.line;
      all = made(Binary{BinaryOp::comma}, {std::move(all), std::move(next)}, line);
    }
    return all;
  }

  void statement(const Stmt& stmt) {
    const int line = stmt.line;
    const auto emit_node = [this, line](StmtNode node) { out_.push_back({std::move(node), line}); };
    std::visit(overload{
                   [this, line](const Declare& node) { declare(node, line); },
                   [this](const Evaluate& node) { effect(node.value); },
                   [&](const Block& node) { emit_node(Block{statements_of(node.body)}); },
                   [&](const If& node) {
                     emit_node(If{scalar(node.condition), statements_of(node.then_body),
                                  statements_of(node.else_body)});
                   },
                   [&](const For& node) { loop(node, line); },
                   [&](const While& node) {
                     emit_node(While{scalar(node.condition), statements_of(node.body), node.is_do});
                   },
                   [&](const Switch& node) {
                     Switch out{scalar(node.value), {}};
                     for (const Case& entry : node.cases) {
                       out.cases.push_back({entry.label, statements_of(entry.body)});
                     }
                     emit_node(std::move(out));
                   },
                   [&](const Return& node) { give(node, line); },
                   [&](const Break& node) { emit_node(node); },
                   [&](const Continue& node) { emit_node(node); },
               },
               stmt.node);
  }

  /// A structure that is declared in a loop is several variables: before it, in a block of its own.
  void loop(const For& node, int line) {
    Body outside = statements_of(node.init);
    For out;
    if (outside.size() == 1 && !is_of_structures_inside(node.init)) {
      out.init = std::exchange(outside, {});
    }
    if (node.condition) out.condition = scalar(*node.condition);
    if (node.step) out.step = head(*node.step);
    out.body = statements_of(node.body);
    if (outside.empty()) {
      out_.push_back({std::move(out), line});
      return;
    }
    outside.push_back({std::move(out), line});
    out_.push_back({Block{std::move(outside)}, line});
  }

  static bool is_of_structures_inside(const Body& init) {
    const auto* node = init.empty() ? nullptr : std::get_if<Declare>(&init.front().node);
    return node != nullptr && std::ranges::any_of(node->variables, [](const auto& variable) {
             return is_of_structures(variable.type);
           });
  }

  void give(const Return& node, int line) {
    if (!node.value || !is_structure(node.value->type)) {
      out_.push_back(
          {Return{node.value ? std::optional(scalar(*node.value)) : std::nullopt}, line});
      return;
    }
    std::vector<Expr> targets;
    for (const Part& part : parts_.of(node.value->type)) {
      Expr to = name_of(names_.of(result_, part.path), line);
      if (!part.type.is_array()) to = made(Unary{UnaryOp::dereference}, {std::move(to)}, line);
      elements(to, part.type, targets);
    }
    assign(targets, values_of(*node.value));
    out_.push_back({Return{}, line});
  }

  const KernelBody& body_;
  const Parts& parts_;
  PartNames& names_;
  std::string result_;
  Body locals_;
  Body out_;
};

/// With more the compilers of devices take minutes: choices inside the conditions of choices are
/// written once for each part.
constexpr int most_expressions = 30'000;

// The kernel in its plain form, with such names as C has them.
KernelBody in_plain_c(KernelBody body) {
  if (is_plain(body)) return body;
  const int line = body.entry().line;
  std::optional<KernelBody> made = plain_in_c(std::move(body));
  if (!made) throw Whole{"a choice of values of unknown types has effects", line};
  return std::move(*made);
}

KernelBody split(const KernelBody& body) {
  const Parts parts(body);
  PartNames names(body);
  KernelBody out;
  for (const Variable& table : body.tables) {
    at_line(table.line, [&] { Splitter(body, parts, names).table(table, out.tables); });
  }
  for (const Parameter& parameter : body.entry().parameters) {
    if (is_of_structures(parameter.type)) {
      throw Whole{"the kernel takes a struct", parameter.line};
    }
  }
  int n_expressions = 0;
  for (const FunctionDef& function : body.functions) {
    at_line(function.line,
            [&] { out.functions.push_back(Splitter(body, parts, names).run(function)); });
    for_each_expr_in(out.functions.back().body, [&](const Expr&) { ++n_expressions; });
    if (n_expressions > most_expressions) {
      throw Whole{fmt::format("part by part its structs are more than {} expressions; choose "
                              "among them by `if`, not inside of other choices",
                              most_expressions),
                  function.line};
    }
  }
  return out;
}

}  // namespace

KernelBody without_structures(KernelBody body) {
  if (body.structures.empty()) return body;
  try {
    return infer_types(split(in_plain_c(std::move(body))));
  } catch (const Whole& whole) {
    throw UnsupportedError(fmt::format("line {}: {}", whole.line, whole.why));
  }
}

}  // namespace op2::kernel
