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

/// One after the other; the value is that of the last.
Expr in_order(std::vector<Expr> steps) {
  Expr all = std::move(steps.front());
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const int line = all.line;
    all = made(Binary{BinaryOp::comma}, {std::move(all), std::move(steps[i])}, line);
  }
  return all;
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
        copy_of(part.type, name_of(name, parameter.line), name_of(out.back().name, parameter.line),
                copies);
      }
    }
  }

  static Stmt declared(const std::string& name, Type type, std::optional<Expr> value, int line) {
    if (!value) type.is_const = false;
    return {Declare{false, {{name, std::move(type), std::move(value), line}}}, line};
  }

  static void copy_of(const Type& type, const Expr& to, const Expr& from, Body& out) {
    std::vector<Expr> targets;
    std::vector<Expr> values;
    std::vector<Expr> steps;
    elements(to, type, targets);
    elements(from, type, values);
    assign(targets, values, steps);
    for (Expr& step : steps) out.push_back({Evaluate{std::move(step)}, to.line});
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
    const bool is_list = variable.value && std::holds_alternative<InitList>(variable.value->node);
    std::optional<Expr> value;
    if (variable.value) {
      std::vector<Expr> steps;
      value = is_list ? hoisted_items(*variable.value, steps) : place(*variable.value, steps);
      emit(std::move(steps), line);
    }
    for (const Part& part : parts_.of(variable.type)) {
      const std::string name = names_.of(variable.name, part.path);
      if (is_list) {
        Variable own{name, part.type, item(*value, variable.type, part.path), line};
        out_.push_back({Declare{is_static, {std::move(own)}}, line});
      } else if (value && !part.type.is_array()) {
        out_.push_back(declared(name, part.type, access(*value, part.path), line));
      } else {
        out_.push_back(declared(name, part.type, std::nullopt, line));
        if (value) copy_of(part.type, name_of(name, line), access(*value, part.path), out_);
      }
    }
  }

  /// The items of an initialiser, in which structures are places now.
  Expr hoisted_items(const Expr& list, std::vector<Expr>& steps) {
    Expr out = list;
    for (Expr& operand : out.operands) {
      if (std::holds_alternative<InitList>(operand.node)) {
        operand = hoisted_items(operand, steps);
      } else if (is_structure(operand.type)) {
        operand = place(operand, steps);
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

  /// @p expr, of structures, without calls, assignments and choices: what it has become a place by
  /// @p steps. Its parts may then be asked for one by one.
  Expr simple(const Expr& expr, std::vector<Expr>& steps) {
    return std::visit(
        overload{
            [&expr](const Name&) { return expr; },
            [this, &expr, &steps](const Index&) {
              Expr out = expr;
              out.operands[0] = simple(expr.operands[0], steps);
              return out;
            },
            [this, &expr, &steps](const MemberOf&) {
              Expr out = expr;
              out.operands[0] = simple(expr.operands[0], steps);
              return out;
            },
            [this, &expr, &steps](const Unary& node) {
              if (node.op == UnaryOp::dereference || node.op == UnaryOp::address) {
                Expr out = expr;
                out.operands[0] = simple(expr.operands[0], steps);
                return out;
              }
              if (!is_step(node.op) || is_post_step(node.op)) {
                throw Whole{"the value before `++` or `--` of a struct pointer is used"};
              }
              return stepped(node, expr, steps);
            },
            [this, &expr, &steps](const Binary& node) {
              if (node.op == BinaryOp::comma) {
                append(steps, effect(expr.operands[0]));
                return simple(expr.operands[1], steps);
              }
              Expr out = expr;
              for (Expr& operand : out.operands) {
                if (is_of_structures(operand)) operand = simple(operand, steps);
              }
              return out;
            },
            [this, &expr, &steps](const Assign& node) { return stored(node, expr, steps); },
            [this, &expr, &steps](const Ternary&) { return chosen(expr, steps); },
            [this, &expr, &steps](const Call&) { return result(expr, steps); },
            [this, &expr, &steps](const Cast&) { return converted(expr, steps); },
            [](const Literal&) -> Expr { return unknown(); },
            [](const SizeOf&) -> Expr { return unknown(); },
            [](const InitList&) -> Expr { return unknown(); },
        },
        expr.node);
  }

  [[noreturn]] static Expr unknown() { throw Whole{"a struct is used in an unusual way"}; }

  static void append(std::vector<Expr>& steps, std::vector<Expr> more) {
    std::ranges::move(more, std::back_inserter(steps));
  }

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

  /// Whether @p expr is a variable, or a choice of variables: part by part it is one, too.
  static bool is_of_places(const Expr& expr) {
    if (std::holds_alternative<Ternary>(expr.node)) {
      return is_of_places(expr.operands[1]) && is_of_places(expr.operands[2]);
    }
    const auto* unary = std::get_if<Unary>(&expr.node);
    return std::holds_alternative<Name>(expr.node) || std::holds_alternative<Index>(expr.node) ||
           std::holds_alternative<MemberOf>(expr.node) ||
           (unary != nullptr && unary->op == UnaryOp::dereference);
  }

  Expr chosen(const Expr& expr, std::vector<Expr>& steps) {
    if (!is_structure(expr.type)) {
      if (!has_no_effect(expr)) throw Whole{"a choice of struct pointers has effects"};
      return expr;
    }
    if (!has_no_effect(expr)) throw Whole{"an assignment stands inside a choice of structs"};
    if (is_of_places(expr)) return expr;
    std::vector<Expr> inner;
    const std::vector<Expr> values = chosen_scalars(expr, inner);
    if (!inner.empty()) throw Whole{"a choice of structs stands inside another value"};
    Expr to = local(expr);
    assign(scalars_of(to, to.type), values, steps);
    return to;
  }

  /// Of a choice, and of those inside of it, the scalars: each is a choice.
  std::vector<Expr> chosen_scalars(const Expr& expr, std::vector<Expr>& steps) {
    if (!std::holds_alternative<Ternary>(expr.node)) return values_of(expr, steps);
    std::vector<Expr> yes = chosen_scalars(expr.operands[1], steps);
    std::vector<Expr> no = chosen_scalars(expr.operands[2], steps);
    const Expr condition = scalar(expr.operands[0]);
    for (std::size_t i = 0; i < yes.size(); ++i) {
      yes[i] = made(Ternary{}, {condition, std::move(yes[i]), std::move(no[i])}, expr.line);
    }
    return yes;
  }

  /// A call that gives a structure: through pointers to the parts of a local.
  Expr result(const Expr& expr, std::vector<Expr>& steps) {
    const auto& call = std::get<Call>(expr.node);
    if (!is_structure(expr.type) || body_.function(call.function) == nullptr) unknown();
    Expr to = local(expr);
    Expr out = called(expr, steps);
    for (const Part& part : parts_.of(to.type)) {
      Expr place = access(to, part.path);
      out.operands.push_back(part.type.is_array()
                                 ? std::move(place)
                                 : made(Unary{UnaryOp::address}, {std::move(place)}, expr.line));
    }
    steps.push_back(std::move(out));
    return to;
  }

  /// `(struct V){1, 2}`, or a pointer that stays one to the same structure.
  Expr converted(const Expr& expr, std::vector<Expr>& steps) {
    const Expr& operand = expr.operands[0];
    if (std::holds_alternative<InitList>(operand.node)) {
      const std::vector<Expr> values = values_of(expr, steps);
      Expr to = local(expr);
      assign(scalars_of(to, to.type), values, steps);
      return to;
    }
    const bool is_same = operand.type.tag == expr.type.tag &&
                         operand.type.depth() == expr.type.depth() && is_of_structures(operand);
    if (!is_same) throw Whole{"a pointer is cast to another type"};
    return simple(operand, steps);
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
  std::vector<Expr> values_of(const Expr& value, std::vector<Expr>& steps) {
    const auto* cast = std::get_if<Cast>(&value.node);
    if (cast == nullptr || !std::holds_alternative<InitList>(value.operands[0].node)) {
      return scalars_of(place(value, steps), value.type);
    }
    const Expr list = hoisted_items(value.operands[0], steps);
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

  static void assign(const std::vector<Expr>& targets, const std::vector<Expr>& values,
                     std::vector<Expr>& steps) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      steps.push_back(assignment(targets[i], values[i]));
    }
  }

  /// What evaluating @p expr does; nobody asks for its value.
  std::vector<Expr> effect(const Expr& expr) {
    if (treats_bytes(expr)) return bytes_treated(expr);
    const auto* binary = std::get_if<Binary>(&expr.node);
    if (binary != nullptr && binary->op == BinaryOp::comma) {
      std::vector<Expr> steps = effect(expr.operands[0]);
      append(steps, effect(expr.operands[1]));
      return steps;
    }
    if (!is_of_structures(expr)) return {scalar(expr)};
    std::vector<Expr> steps;
    if (const auto* unary = std::get_if<Unary>(&expr.node);
        unary != nullptr && is_step(unary->op)) {
      (void)stepped(*unary, expr, steps);
    } else {
      (void)simple(expr, steps);
    }
    return steps;
  }

  /// `++p`, of which the value before is not asked for: where it is.
  Expr stepped(const Unary& node, const Expr& expr, std::vector<Expr>& steps) {
    const Expr target = settled_target(expr.operands[0], expr.operands[0].type, steps);
    for (const Part& part : parts_.of(expr.type)) {
      steps.push_back(made(node, {access(target, part.path)}, expr.line));
    }
    return target;
  }

  /// Where a structure is that is named once for each of its parts.
  Expr place(const Expr& expr, std::vector<Expr>& steps) {
    Expr found = simple(expr, steps);
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

  /// A local that holds @p value, which @p steps compute.
  Expr once(const Expr& value, std::vector<Expr>& steps) {
    Type type = decayed(value.type);
    if (!type.is_known()) throw Whole{"a struct is stored where something unknown says"};
    type.is_const = false;
    Expr name = name_of(names_.take("op2_once"), value.line);
    name.type = type;
    locals_.push_back(
        declared(std::get<Name>(name.node).name, std::move(type), std::nullopt, value.line));
    steps.push_back(assignment(name, scalar(value)));
    return name;
  }

  /// Let nothing in @p place, which simple() gave, change when a @p stored is stored.
  /// @return false if something in a choice might, which must not be computed before.
  bool settle(Expr& place, const Type& stored, std::vector<Expr>& steps, bool is_chosen = false) {
    if (!is_of_structures(place)) {
      if (!may_change(place, stored)) return true;
      if (!is_chosen) place = once(place, steps);
      return !is_chosen;
    }
    const bool chooses = std::holds_alternative<Ternary>(place.node);
    for (std::size_t i = 0; i < place.operands.size(); ++i) {
      const bool is_one_of_two = is_chosen || (chooses && i > 0);
      if (!settle(place.operands[i], stored, steps, is_one_of_two)) return false;
    }
    return true;
  }

  /// Where parts of a @p stored, a structure or a pointer, are stored.
  Expr settled_target(const Expr& expr, const Type& stored, std::vector<Expr>& steps) {
    Expr found = place(expr, steps);
    if (!settle(found, stored, steps)) {
      throw Whole{"a choice decides where a struct is stored that it depends on"};
    }
    return found;
  }

  /// What is stored, part by part, in a @p stored: a copy where a choice depends on it.
  Expr settled_value(const Expr& expr, const Type& stored, std::vector<Expr>& steps) {
    const Expr found = place(expr, steps);
    Expr same = found;
    std::vector<Expr> more;
    if (settle(same, stored, more)) {
      append(steps, std::move(more));
      return same;
    }
    const Expr copy = local(expr);
    if (is_structure(expr.type)) {
      assign(scalars_of(copy, expr.type), scalars_of(found, expr.type), steps);
    } else {
      for (const Part& part : parts_.of(expr.type)) {
        steps.push_back(assignment(access(copy, part.path), access(found, part.path)));
      }
    }
    return copy;
  }

  /// An assignment: where it has stored.
  Expr stored(const Assign& node, const Expr& expr, std::vector<Expr>& steps) {
    Expr to = settled_target(expr.operands[0], expr.operands[0].type, steps);
    const Type& type = expr.operands[0].type;
    const Expr& value = expr.operands[1];
    if (!is_of_structures(value)) {
      // p += 2, or p = 0
      const bool is_same = has_no_effect(value) && !may_change(value, type);
      const Expr each = is_same ? value : once(value, steps);
      for (const Part& part : parts_.of(type)) {
        steps.push_back(made(node, {access(to, part.path), scalar(each)}, expr.line));
      }
      return to;
    }
    const Expr from = settled_value(value, type, steps);
    if (is_structure(type)) {
      assign(scalars_of(to, value.type), scalars_of(from, value.type), steps);
    } else {
      for (const Part& part : parts_.of(type)) {
        steps.push_back(assignment(access(to, part.path), access(from, part.path)));
      }
    }
    return to;
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
  std::vector<Expr> bytes_treated(const Expr& expr) {
    const std::string& name = std::get<Call>(expr.node).function;
    const Expr& to = uncast(expr.operands[0]);
    const Expr& from = uncast(expr.operands[1]);
    const bool is_set = name == "memset";
    const bool is_alike = is_set || (to.type.tag == from.type.tag && !from.type.derivation.empty());
    if (!is_of_structures(to) || to.type.derivation.empty() || !is_alike) {
      throw Whole{fmt::format("it calls '{}' on a struct and something else", name)};
    }
    std::vector<Expr> steps;
    const Type type = element_of(to.type);
    const Expr target = settled_target(to, type, steps);
    const bool is_same = !is_set || (has_no_effect(from) && !may_change(from, type));
    const Expr given = is_same ? from : once(from, steps);
    const Expr source = is_set ? scalar(given) : settled_value(from, type, steps);
    const Expr count = count_of(expr.operands[2], type, name);
    const auto n = integer_value(count, {});
    if (!n && may_change(expr.operands[2], type)) {
      throw Whole{fmt::format("the size that '{}' gets depends on a struct", name)};
    }
    const bool is_plain = is_set ? integer_value(source, {}) == 0 : name == "memcpy" || n == 1;
    if (n && is_plain && is_few(*n, element_of(to.type))) {
      scalar_by_scalar(target, is_set ? nullptr : &source, *n, element_of(to.type), steps);
    } else {
      for (const Part& part : parts_.of(to.type)) {
        Expr size = made(SizeOf{element_of(part.type)}, {}, expr.line);
        Expr bytes = made(Binary{BinaryOp::multiply}, {count, std::move(size)}, expr.line);
        Expr value = is_set ? source : access(source, part.path);
        steps.push_back(made(Call{name},
                             {access(target, part.path), std::move(value), std::move(bytes)},
                             expr.line));
      }
    }
    if (steps.empty()) steps.push_back(number(0, expr.line));
    return steps;
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
  void scalar_by_scalar(const Expr& to, const Expr* from, std::int64_t n, const Type& type,
                        std::vector<Expr>& steps) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::vector<Expr> targets = scalars_of(behind(to, i), type);
      const std::vector<Expr> values = from == nullptr
                                           ? std::vector(targets.size(), number(0, to.line))
                                           : scalars_of(behind(*from, i), type);
      assign(targets, values, steps);
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
    std::vector<Expr> steps;
    Expr out;
    if (std::holds_alternative<MemberOf>(expr.node) || std::holds_alternative<Index>(expr.node)) {
      out = element(expr, steps);
    } else if (std::holds_alternative<Call>(expr.node)) {
      out = called(expr, steps);
    } else if (const auto* binary = std::get_if<Binary>(&expr.node);
               binary != nullptr && binary->op == BinaryOp::comma) {
      steps = effect(expr.operands[0]);
      out = scalar(expr.operands[1]);
    } else {
      out = Expr{expr.node, {}, {}, expr.line};
      for (const Expr& operand : expr.operands) {
        const bool is_place = &operand == expr.operands.data() && takes_place(expr);
        out.operands.push_back(is_of_structures(operand) ? any_part(operand, expr, steps)
                               : is_place                ? element(operand, steps)
                                                         : scalar(operand));
      }
    }
    if (steps.empty()) return out;
    steps.push_back(std::move(out));
    return in_order(std::move(steps));
  }

  /// Whether the first operand must stay a place: `(++p, p_x) = 1` is no C.
  static bool takes_place(const Expr& expr) {
    const auto* unary = std::get_if<Unary>(&expr.node);
    return std::holds_alternative<Assign>(expr.node) ||
           (unary != nullptr && (unary->op == UnaryOp::address || is_step(unary->op)));
  }

  /// A member, or an element of one: what gives the structure stands before all of it, since lanes
  /// know no elements of `(f(&v), v_x)[i]`.
  Expr element(const Expr& expr, std::vector<Expr>& steps) {
    if (const auto* member = std::get_if<MemberOf>(&expr.node)) {
      return access(simple(expr.operands[0], steps), {member->name});
    }
    if (!std::holds_alternative<Index>(expr.node)) return scalar(expr);
    return indexed(element(expr.operands[0], steps), scalar(expr.operands[1]));
  }

  /// Pointers to structures compare as those to any of their parts.
  Expr any_part(const Expr& pointer, const Expr& in, std::vector<Expr>& steps) {
    const bool compares = std::holds_alternative<Binary>(in.node) ||
                          std::holds_alternative<Ternary>(in.node) ||
                          (std::holds_alternative<Unary>(in.node) &&
                           std::get<Unary>(in.node).op == UnaryOp::logical_not);
    if (!compares || is_structure(pointer.type)) {
      throw Whole{"a pointer to a struct becomes another pointer"};
    }
    const auto* binary = std::get_if<Binary>(&in.node);
    const bool may_be_left_out = binary != nullptr && (binary->op == BinaryOp::logical_and ||
                                                       binary->op == BinaryOp::logical_or);
    std::vector<Expr> own;
    Expr part = access(place(pointer, own), parts_.of(pointer.type).front().path);
    if (may_be_left_out && !own.empty()) {
      own.push_back(std::move(part));
      return in_order(std::move(own));
    }
    append(steps, std::move(own));
    return part;
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

  Expr called(const Expr& expr, std::vector<Expr>& steps) {
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
      Expr from = place(operand, steps);
      if (is_structure(operand.type) && std::holds_alternative<Ternary>(from.node)) {
        const Expr copy = local(operand);  // there is no choice of arrays
        assign(scalars_of(copy, operand.type), scalars_of(from, operand.type), steps);
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

  void emit(std::vector<Expr> steps, int line) {
    for (Expr& step : steps) out_.push_back({Evaluate{std::move(step)}, line});
  }

  void statement(const Stmt& stmt) {
    const int line = stmt.line;
    const auto emit_node = [this, line](StmtNode node) { out_.push_back({std::move(node), line}); };
    std::visit(overload{
                   [this, line](const Declare& node) { declare(node, line); },
                   [this, line](const Evaluate& node) { emit(effect(node.value), line); },
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
    if (node.step) out.step = in_order(effect(*node.step));
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
    std::vector<Expr> steps;
    std::vector<Expr> targets;
    for (const Part& part : parts_.of(node.value->type)) {
      Expr to = name_of(names_.of(result_, part.path), line);
      if (!part.type.is_array()) to = made(Unary{UnaryOp::dereference}, {std::move(to)}, line);
      elements(to, part.type, targets);
    }
    assign(targets, values_of(*node.value, steps), steps);
    emit(std::move(steps), line);
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

}  // namespace

KernelBody without_structures(KernelBody body) {
  if (body.structures.empty()) return body;
  const Parts parts(body);
  PartNames names(body);
  KernelBody out;
  try {
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
  } catch (const Whole& whole) {
    throw UnsupportedError(fmt::format("line {}: {}", whole.line, whole.why));
  }
  return infer_types(std::move(out));
}

}  // namespace op2::kernel
