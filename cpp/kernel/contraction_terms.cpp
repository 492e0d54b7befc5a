// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/contraction_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <variant>

#include "kernel/effects.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel::contraction {
namespace {

/// @brief The variable that @p expr is, or is an entry of.
const std::string* root_of(const Expr& expr) {
  if (const auto* name = std::get_if<Name>(&expr.node)) return &name->name;
  const auto* unary = std::get_if<Unary>(&expr.node);
  const bool is_entry = std::holds_alternative<Index>(expr.node) ||
                        (unary != nullptr && unary->op == UnaryOp::dereference);
  return is_entry ? root_of(expr.operands[0]) : nullptr;
}

/// @brief Uses of variables in statements.
struct Uses {
  std::multiset<std::string, std::less<>> names;  ///< each as often as the name stands there
  NameSet stored;                                 ///< not counting the steps of loops
  NameSet declared;
  bool is_clear = true;  ///< false: memory may be used in a way that names do not tell
};

class UseFinder {
 public:
  explicit UseFinder(Uses& uses) : uses_(uses) {}

  void enter() {}
  void leave() {}
  void declare(const Variable& variable) {
    uses_.declared.insert(variable.name);
    // a pointer of the kernel's own may lead anywhere
    if (variable.type.is_pointer()) uses_.is_clear = false;
  }
  void expression(const Expr& expr) {
    for_each_expr(expr, [this](const Expr& part) {
      if (const auto* name = std::get_if<Name>(&part.node)) uses_.names.insert(name->name);
      const auto* unary = std::get_if<Unary>(&part.node);
      const bool is_address = unary != nullptr && unary->op == UnaryOp::address;
      const bool is_call = std::holds_alternative<Call>(part.node);
      if (is_address || (is_call && !is_harmless(part))) uses_.is_clear = false;
      if (!is_store(part)) return;
      const std::string* root = root_of(part.operands[0]);
      if (root == nullptr) {
        uses_.is_clear = false;
      } else {
        uses_.stored.insert(*root);
      }
    });
  }

 private:
  /// @brief True for a function of the C library of numbers.
  static bool is_harmless(const Expr& call) {
    return has_no_effect(call) && std::ranges::all_of(call.operands, [](const Expr& argument) {
             return argument.type.is_scalar();
           });
  }

  Uses& uses_;
};

/// @brief True if all statements run whenever @p body does, but for loops.
bool is_straight(const Body& body) {
  bool found = true;
  for_each_body(body, [&found](const Body& one) {
    for (const Stmt& stmt : one) {
      found = found && !std::holds_alternative<Return>(stmt.node) &&
              !std::holds_alternative<Break>(stmt.node) &&
              !std::holds_alternative<Continue>(stmt.node);
    }
  });
  return found;
}

/// @brief The range of a loop that goes from 0 up by ones, with a variable of its own.
std::optional<Range> range_of(const For& loop, const Integers& known) {
  if (loop.init.size() != 1 || !std::holds_alternative<Declare>(loop.init[0].node)) {
    return std::nullopt;
  }
  const auto found = counted(loop, known);
  if (!found || found->first != 0 || found->stride != 1 || found->n < 1) return std::nullopt;
  return Range{.name = found->name, .n = found->n};
}

/// @brief The uses in statements, without the heads of loops over ranges.
void add_uses(std::span<const Stmt> body, const Integers& known, Uses& uses) {
  UseFinder finder(uses);
  for (const Stmt& stmt : body) {
    const auto* loop = std::get_if<For>(&stmt.node);
    const auto range = loop == nullptr ? std::nullopt : range_of(*loop, known);
    if (range) {
      uses.declared.insert(range->name);
      add_uses(loop->body, known, uses);
    } else if (const auto* block = std::get_if<Block>(&stmt.node)) {
      add_uses(block->body, known, uses);
    } else {
      detail::walk_statement(stmt, finder);
    }
  }
}

/// @brief The factors of a product; a sign is a factor.
void add_factors(const Expr& value, std::vector<Expr>& factors) {
  if (const auto* binary = std::get_if<Binary>(&value.node);
      binary != nullptr && binary->op == BinaryOp::multiply) {
    for (const Expr& operand : value.operands) add_factors(operand, factors);
    return;
  }
  if (const auto* unary = std::get_if<Unary>(&value.node);
      unary != nullptr && unary->op == UnaryOp::minus) {
    const bool is_single = value.type.base == Base::float32;
    Expr one = make::of(Literal{is_single ? "1.0f" : "1.0"}, {}, value.line);
    one.type = scalar(is_single ? Base::float32 : Base::float64);
    Expr minus_one = make::of(Unary{UnaryOp::minus}, {one}, value.line);
    minus_one.type = one.type;
    factors.push_back(std::move(minus_one));
    add_factors(value.operands[0], factors);
    return;
  }
  factors.push_back(value);
}

/// @brief An assignment `target += value` in loops of a sum.
struct Candidate {
  const Stmt* stmt;
  std::size_t at;
  std::vector<Range> sum;
};

void add_candidates(std::span<const Stmt> body, std::size_t at, const std::vector<Range>& around,
                    const Integers& known, std::vector<Candidate>& found) {
  for (const Stmt& stmt : body) {
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      if (const auto range = range_of(*loop, known)) {
        std::vector<Range> inner = around;
        inner.push_back(*range);
        add_candidates(loop->body, at, inner, known, found);
      }
    } else if (const auto* block = std::get_if<Block>(&stmt.node)) {
      add_candidates(block->body, at, around, known, found);
    } else if (const auto* evaluated = std::get_if<Evaluate>(&stmt.node)) {
      const auto* assign = std::get_if<Assign>(&evaluated->value.node);
      if (assign != nullptr && assign->op == BinaryOp::add && around.size() > 1) {
        found.push_back({.stmt = &stmt, .at = at, .sum = around});
      }
    }
  }
}

/// @brief Makes terms of candidates.
class Classifier {
 public:
  Classifier(const Points& points, const Uses& nest, const std::vector<Uses>& statements,
             LoopNames& loop_names)
      : points_(points), nest_(nest), statements_(statements), loop_names_(loop_names) {}

  [[nodiscard]] std::optional<Term> term(const Candidate& candidate) {
    const Expr& assign = std::get<Evaluate>(candidate.stmt->node).value;
    const Expr& target = assign.operands[0];
    const Base base =
        common_base(value_type(target.type).base, value_type(assign.operands[1].type).base);
    const bool is_counted = std::ranges::none_of(
        candidate.sum, [this](const Range& range) { return nest_.stored.contains(range.name); });
    if (!is_counted || !target.type.is_scalar() || !is_floating(base) ||
        root_of(target) == nullptr) {
      return std::nullopt;
    }
    Term term{.stmt = candidate.stmt, .at = candidate.at, .target = target, .base = base};
    if (!sort_factors(assign.operands[1], candidate, term)) return std::nullopt;
    const auto in_target = std::ranges::count_if(candidate.sum, [&target](const Range& range) {
      return names_of(target).contains(range.name);
    });
    term.is_transposed = in_target > 0;
    const bool is_whole = in_target == static_cast<std::ptrdiff_t>(candidate.sum.size());
    if (term.is_transposed ? !is_whole || !fits_transposed(target, term)
                           : !fits(target, candidate.at)) {
      return std::nullopt;
    }
    rename(term);
    return term;
  }

 private:
  /// @brief Split the product by what its factors depend on.
  [[nodiscard]] bool sort_factors(const Expr& value, const Candidate& candidate, Term& term) const {
    std::vector<Expr> factors;
    add_factors(value, factors);
    std::vector<std::vector<Expr>> tables(points_.ranges.size());
    for (Expr& factor : factors) {
      if (!is_floating(value_type(factor.type).base) || !has_no_effect(factor)) return false;
      const NameSet used = names_of(factor);
      const auto is_used = [&used](const Range& range) { return used.contains(range.name); };
      if (std::ranges::none_of(candidate.sum, is_used)) {
        if (!is_known_before(used, candidate.at)) return false;
        term.of_point.push_back(std::move(factor));
        continue;
      }
      if (!is_fixed(used, candidate.sum)) return false;
      const auto first = std::ranges::find_if(points_.ranges, is_used);
      if (first == points_.ranges.end()) {
        term.of_sum.push_back(std::move(factor));
        continue;
      }
      if (std::find_if(first + 1, points_.ranges.end(), is_used) != points_.ranges.end())
        return false;
      tables[static_cast<std::size_t>(first - points_.ranges.begin())].push_back(std::move(factor));
    }
    return make_groups(tables, candidate.sum, term);
  }

  /// @brief One group for each point loop; each loop of the sum belongs to one group.
  [[nodiscard]] static bool make_groups(std::vector<std::vector<Expr>>& tables,
                                        const std::vector<Range>& sum, Term& term) {
    NameSet owned;
    for (std::vector<Expr>& factors : tables) {
      if (factors.empty()) return false;
      Expr table = std::move(factors[0]);
      for (std::size_t i = 1; i < factors.size(); ++i) {
        Expr& factor = factors[i];
        const Type type =
            scalar(common_base(value_type(table.type).base, value_type(factor.type).base));
        table = make::binary(BinaryOp::multiply, std::move(table), std::move(factor));
        table.type = type;
      }
      Group group{.over = {}, .table = std::move(table)};
      const NameSet used = names_of(group.table);
      for (const Range& range : sum) {
        if (!used.contains(range.name)) continue;
        group.over.push_back(range);
        if (!owned.insert(range.name).second) return false;
      }
      term.groups.push_back(std::move(group));
    }
    return owned.size() == sum.size();
  }

  /// @brief True if nothing in the nest changes what has these names, loops of the sum apart.
  [[nodiscard]] bool is_fixed(const NameSet& used, const std::vector<Range>& sum) const {
    return std::ranges::all_of(used, [&](const std::string& name) {
      const auto is_it = [&name](const Range& range) { return range.name == name; };
      if (std::ranges::any_of(sum, is_it) || std::ranges::any_of(points_.ranges, is_it))
        return true;
      return !nest_.stored.contains(name) && !nest_.declared.contains(name);
    });
  }

  /// @brief True if what has these names has its value before statement @p at of the points' body.
  [[nodiscard]] bool is_known_before(const NameSet& used, std::size_t at) const {
    return std::ranges::none_of(used, [&](const std::string& name) {
      return statements_[at].stored.contains(name) || statements_[at].declared.contains(name);
    });
  }

  /// @brief Names in the subscripts of a target.
  [[nodiscard]] static NameSet subscripts_of(const Expr& target) {
    NameSet used = names_of(target);
    used.erase(*root_of(target));
    return used;
  }

  [[nodiscard]] bool fits(const Expr& target, std::size_t at) const {
    return !statements_[at].declared.contains(*root_of(target)) &&
           is_known_before(subscripts_of(target), at);
  }

  [[nodiscard]] bool fits_transposed(const Expr& target, const Term& term) const {
    if (!term.of_sum.empty()) return false;
    NameSet used = subscripts_of(target);
    for (const Group& group : term.groups) {
      for (const Range& range : group.over) used.erase(range.name);
    }
    return !nest_.declared.contains(*root_of(target)) &&
           std::ranges::none_of(used, [this](const std::string& name) {
             return nest_.stored.contains(name) || nest_.declared.contains(name);
           });
  }

  /// @brief Name the loops of the sum by dimension.
  void rename(Term& term) {
    std::map<std::string, std::string, std::less<>> names;
    for (std::size_t dim = 0; dim < term.groups.size(); ++dim) {
      for (std::size_t i = 0; i < term.groups[dim].over.size(); ++i) {
        std::string& name = term.groups[dim].over[i].name;
        names[name] = loop_names_.of(dim, i);
        name = names[name];
      }
    }
    const auto apply = [&names](Expr& expr) {
      for_each_expr(expr, [&names](Expr& part) {
        auto* name = std::get_if<Name>(&part.node);
        if (name == nullptr) return;
        if (const auto found = names.find(name->name); found != names.end())
          name->name = found->second;
      });
    };
    apply(term.target);
    std::ranges::for_each(term.of_sum, apply);
    for (Group& group : term.groups) apply(group.table);
  }

  const Points& points_;
  const Uses& nest_;
  const std::vector<Uses>& statements_;
  LoopNames& loop_names_;
};

/// @brief Leave only terms whose targets have no other use where order would matter.
void keep_independent(std::vector<Term>& terms, const Uses& nest,
                      const std::vector<Uses>& statements) {
  std::map<std::tuple<std::string, std::ptrdiff_t>, std::size_t> counts;
  const auto key = [](const Term& term) {
    const auto at = term.is_transposed ? std::ptrdiff_t{-1} : static_cast<std::ptrdiff_t>(term.at);
    return std::tuple(*root_of(term.target), at);
  };
  for (const Term& term : terms) ++counts[key(term)];
  std::erase_if(terms, [&](const Term& term) {
    const Uses& uses = term.is_transposed ? nest : statements[term.at];
    return uses.names.count(*root_of(term.target)) != counts.at(key(term));
  });
}

}  // namespace

const std::string& LoopNames::of(std::size_t dim, std::size_t number) {
  std::string& name = given_[{dim, number}];
  if (name.empty()) {
    const std::string suffix = number == 0 ? "" : fmt::format("_{}", number);
    name = names_->take(fmt::format("op2_i{}{}", dim, suffix));
  }
  return name;
}

NameSet names_of(const Expr& expr) {
  NameSet names;
  for_each_expr(expr, [&names](const Expr& part) {
    if (const auto* name = std::get_if<Name>(&part.node)) names.insert(name->name);
  });
  return names;
}

bool keeps_to_itself(const Body& body, const Integers& known) {
  Uses uses;
  add_uses(body, known, uses);
  return uses.is_clear && std::ranges::all_of(uses.stored, [&uses](const std::string& name) {
           return uses.declared.contains(name);
         });
}

Body& within(For& loop) {
  Body* body = &loop.body;
  while (body->size() == 1 && std::holds_alternative<Block>(body->front().node)) {
    body = &std::get<Block>(body->front().node).body;
  }
  return *body;
}

Body& Points::body() const {
  return within(*loops.back());
}

Points points_from(For& first, const Integers& known) {
  Points points;
  for (For* loop = &first; loop != nullptr;) {
    const auto range = range_of(*loop, known);
    if (!range) break;
    points.loops.push_back(loop);
    points.ranges.push_back(*range);
    Body& body = within(*loop);
    loop = body.size() == 1 ? std::get_if<For>(&body.front().node) : nullptr;
  }
  return points;
}

std::vector<Term> terms_in(const Points& points, const Integers& known, LoopNames& loop_names) {
  const Body& body = points.body();
  Uses nest;
  add_uses(points.loops.front()->body, known, nest);
  const bool is_counted = std::ranges::none_of(
      points.ranges, [&nest](const Range& range) { return nest.stored.contains(range.name); });
  if (!nest.is_clear || !is_counted || !is_straight(points.loops.front()->body)) return {};
  std::vector<Uses> statements(body.size());
  std::vector<Candidate> candidates;
  for (std::size_t at = 0; at < body.size(); ++at) {
    const std::span<const Stmt> stmt(&body[at], 1);
    add_uses(stmt, known, statements[at]);
    add_candidates(stmt, at, {}, known, candidates);
  }
  Classifier classifier(points, nest, statements, loop_names);
  std::vector<Term> terms;
  for (const Candidate& candidate : candidates) {
    if (auto term = classifier.term(candidate)) terms.push_back(std::move(*term));
  }
  keep_independent(terms, nest, statements);
  return terms;
}

std::vector<Term> longest_terms(Points& points, const Integers& known, LoopNames& loop_names) {
  for (; points.loops.size() > 1; points.drop_innermost()) {
    std::vector<Term> terms = terms_in(points, known, loop_names);
    if (!terms.empty()) return terms;
  }
  return {};
}

}  // namespace op2::kernel::contraction
