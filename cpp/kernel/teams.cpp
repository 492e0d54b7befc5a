// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/teams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernel/contraction_sums.hpp"
#include "kernel/contraction_terms.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/integers.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"
#include "kernel/unique_names.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel::contraction {
namespace {

/// Sums of so many terms each lane computes itself: values of a trilinear geometry have 8.
constexpr std::int64_t few_terms = 8;

/// @brief Names of what all phases use.
struct TeamNames {
  std::string lane;
  std::string n_lanes;
  std::string shared;
};

/// @brief What one form needs.
struct Needs {
  std::int64_t n_lanes = 0;
  std::int64_t n_shared = 0;
  std::set<Base> bases{};
  NameSet by_lane{};  ///< arrays of which lanes use different entries at the same time
};

std::vector<Range> joined(std::vector<Range> first, const std::vector<Range>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

bool is_small(const Stage& stage) {
  return stage.n_terms <= few_terms;
}

Stmt barrier() {
  return make::evaluate(make::call(team_barrier, {}));
}

/// @brief Writes one nest as phases of a team.
class TeamNest {
 public:
  TeamNest(Sums& sums, FreshNames& names, const TeamNames& team, Needs& needs)
      : sums_(sums), names_(names), team_(team), needs_(needs) {}

  Body run() {
    place_all();
    Body out;
    for (std::size_t dim = 0; dim + 1 < n_dims(); ++dim) evaluate(dim, out);
    points_phase(out);
    for (std::size_t dim = n_dims() - 1; dim-- > 0;) transpose(dim, out);
    return out;
  }

 private:
  [[nodiscard]] std::size_t n_dims() const { return sums_.n_dims(); }
  /// @brief Point loops 0 to @p n - 1.
  [[nodiscard]] std::vector<Range> points(std::size_t n) const {
    const auto& ranges = sums_.points().ranges;
    return {ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(n)};
  }
  [[nodiscard]] const Range& point(std::size_t dim) const { return sums_.points().ranges[dim]; }

  // ------------------------------------------------------------------------------ shared memory

  /// @brief Where the values of an array lie that belong to points of the first `n_points` loops.
  struct Place {
    std::int64_t begin;
    std::size_t n_points;
  };

  /// A phase reads what the one before it wrote, so two areas do, which phases write by turns.
  void place_all() {
    std::int64_t size[2] = {0, 0};
    std::size_t phase = 0;
    std::map<std::string, std::size_t> area;
    const auto place = [&](const Array& array, std::size_t n_points, std::int64_t& used) {
      needs_.bases.insert(array.base);
      places_[array.name] = {used, n_points};
      area[array.name] = phase % 2;
      used += array.size() * product_of(points(n_points));
    };
    const auto end_phase = [&](std::int64_t used) {
      size[phase % 2] = std::max(size[phase % 2], used);
      ++phase;
    };
    for (std::size_t dim = 0; dim + 1 < n_dims(); ++dim) {
      std::int64_t used = 0;
      for (const Stage& stage : sums_.stages(dim)) {
        if (!is_small(stage)) place(stage.array, dim + 1, used);
      }
      end_phase(used);
    }
    for (std::size_t depth = n_dims() - 1; depth-- > 0;) {
      std::int64_t used = 0;
      for (const Root& root : sums_.roots()) {
        for_each_node(root.children, depth,
                      [&](const Node& node) { place(node.array, depth + 1, used); });
      }
      end_phase(used);
    }
    for (auto& [name, at] : places_) at.begin += area[name] == 1 ? size[0] : 0;
    needs_.n_shared = std::max(needs_.n_shared, size[0] + size[1]);
  }

  template <class Visit>
  static void for_each_node(const std::list<Node>& nodes, std::size_t depth, const Visit& visit) {
    for (const Node& node : nodes) {
      if (depth == 0) {
        visit(node);
      } else {
        for_each_node(node.children, depth - 1, visit);
      }
    }
  }

  /// @brief The value of @p array at the point and the rest that the loops around are at.
  [[nodiscard]] Expr shared(const Array& array) const {
    const Place& place = places_.at(array.name);
    Expr at = make::number(0);
    for (const Range& range : joined(points(place.n_points), array.ranges)) {
      at = make::sum(BinaryOp::add, make::times(std::move(at), range.n), make::name(range.name));
    }
    return make::index(make::name(team_.shared),
                       make::sum(BinaryOp::add, std::move(at), make::number(place.begin)));
  }

  // ------------------------------------------------------------------------------------- phases

  /// @brief @p body for each value of @p ranges, spread over the lanes.
  void add_by_lanes(const std::vector<Range>& ranges, Body body, Body& out) {
    const std::int64_t n = product_of(ranges);
    needs_.n_lanes = std::max(needs_.n_lanes, n);
    const std::string at = names_.take(fmt::format("op2_at{}", ++n_names_));
    Body inner;
    std::int64_t below = n;
    for (const Range& range : ranges) {
      below /= range.n;
      Expr digit = make::over(make::name(at), below);
      const bool is_first = &range == &ranges.front();
      if (!is_first) {
        digit = make::binary(BinaryOp::modulo, std::move(digit), make::number(range.n));
      }
      inner.push_back(make::declare(range.name, scalar(Base::int32), std::move(digit)));
    }
    note_by_lane(ranges, body);
    append(inner, std::move(body));
    For loop{
        .init = {make::declare(at, scalar(Base::int32), make::name(team_.lane))},
        .condition = make::binary(BinaryOp::less, make::name(at), make::number(n)),
        .step = make::of(Assign{BinaryOp::add}, {make::name(at), make::name(team_.n_lanes)}, 0),
        .body = std::move(inner)};
    out.push_back({.node = std::move(loop), .line = 0});
  }

  void note_by_lane(const std::vector<Range>& ranges, const Body& body) {
    const auto is_of_lane = [&ranges](const std::string& name) {
      return std::ranges::find(ranges, name, &Range::name) != ranges.end();
    };
    for_each_expr_in(body, [&](const Expr& expr) {
      const auto* index = std::get_if<Index>(&expr.node);
      if (index == nullptr || std::ranges::none_of(names_of(expr.operands[1]), is_of_lane)) return;
      const Expr* array = &expr.operands[0];
      while (std::holds_alternative<Index>(array->node)) array = &array->operands[0];
      if (const auto* name = std::get_if<Name>(&array->node)) needs_.by_lane.insert(name->name);
    });
  }

  /// @brief Values that a lane keeps in variables of its own.
  Array column(const std::vector<Range>& ranges, Base base, const Expr& value, Body& body) {
    Array made{.name = names_.take(fmt::format("op2_column{}", ++n_names_)),
               .ranges = ranges,
               .base = base};
    body.push_back(made.declaration());
    append(body, loops(ranges, {make::evaluate(make::assign(made.entry(), value))}));
    return made;
  }

  /// @brief What @p stage sums, wherever it lies.
  [[nodiscard]] Expr source_of(const Stage& stage, std::size_t dim) const {
    if (dim == 0) return stage.source;
    const auto& before = sums_.stages(dim - 1);
    const auto found = std::ranges::find_if(
        before, [&](const Stage& other) { return other.array.entry() == stage.source; });
    return shared(found->array);
  }

  /// @brief Columns of the sources of @p stages, each loaded once.
  std::vector<Expr> columns(const std::vector<const Stage*>& stages, std::size_t dim, Body& body) {
    std::vector<Expr> found;
    std::vector<std::pair<Expr, Expr>> known;
    for (const Stage* stage : stages) {
      const auto same = std::ranges::find(known, stage->source, &std::pair<Expr, Expr>::first);
      if (same == known.end()) {
        const Array made =
            column(stage->group.over, stage->array.base, source_of(*stage, dim), body);
        known.emplace_back(stage->source, made.entry());
        found.push_back(made.entry());
      } else {
        found.push_back(same->second);
      }
    }
    return found;
  }

  [[nodiscard]] std::vector<const Stage*> large_stages(std::size_t dim) const {
    std::vector<const Stage*> found;
    for (const Stage& stage : sums_.stages(dim)) {
      if (!is_small(stage)) found.push_back(&stage);
    }
    return found;
  }

  /// @brief The sums over dimension @p dim of the values at points of the loops around.
  void evaluate(std::size_t dim, Body& out) {
    std::vector<const Stage*> left = large_stages(dim);
    if (left.empty()) return;
    while (!left.empty()) {
      const std::vector<Range> ranges = left.front()->array.ranges;
      const std::vector<Range> over = left.front()->group.over;
      std::vector<const Stage*> stages;
      std::vector<const Stage*> others;
      for (const Stage* stage : left) {
        const bool is_alike = stage->array.ranges == ranges && stage->group.over == over;
        (is_alike ? stages : others).push_back(stage);
      }
      left = std::move(others);
      Body body;
      const std::vector<Expr> values = columns(stages, dim, body);
      Body at_point;
      for (std::size_t i = 0; i < stages.size(); ++i) {
        const Stage& stage = *stages[i];
        Body summed =
            sums_.summed(stage.array.base,
                         loops(over, {add(sums_.total(), times(values[i], stage.group.table))}),
                         make::evaluate(make::assign(shared(stage.array), sums_.total())));
        at_point.push_back({.node = Block{std::move(summed)}, .line = 0});
      }
      append(body, loops({point(dim)}, std::move(at_point)));
      add_by_lanes(joined(points(dim), ranges), std::move(body), out);
    }
    out.push_back(barrier());
  }

  /// @brief The body of the points, for all points of the innermost loop.
  void points_phase(Body& out) {
    const std::size_t last = n_dims() - 1;
    Body body;
    for (std::size_t dim = 0; dim < last; ++dim) {
      for (const Stage& stage : sums_.stages(dim)) {
        if (is_small(stage)) sums_.add_stage(stage, body);
      }
    }
    for (const Root& root : sums_.roots()) Sums::add_zeros(root.children, last - 1, body);
    const std::vector<const Stage*> stages = large_stages(last);
    const std::vector<Expr> values = columns(stages, last, body);
    Body at_point;
    for (const Stage& stage : sums_.stages(last)) {
      if (is_small(stage)) sums_.add_stage(stage, at_point);
    }
    for (std::size_t i = 0; i < stages.size(); ++i) {
      Stage stage = *stages[i];
      stage.source = values[i];
      sums_.add_stage(stage, at_point);
    }
    append(at_point, sums_.points().body());
    for (const Root& root : sums_.roots()) {
      Sums::add_sums(root.children, root.target, ranges_of(root.groups, last, n_dims()), last,
                     at_point);
    }
    append(body, loops({point(last)}, std::move(at_point)));
    for (const Root& root : sums_.roots()) {
      for_each_node(root.children, last - 1, [&](const Node& node) {
        append(body, loops(node.array.ranges,
                           {make::evaluate(make::assign(shared(node.array), node.array.entry()))}));
      });
    }
    add_by_lanes(points(last), std::move(body), out);
    out.push_back(barrier());
  }

  /// @brief Sums over the points of loop @p dim, added to those of the loops around.
  void transpose(std::size_t dim, Body& out) {
    for (const Root& root : sums_.roots()) {
      if (dim == 0) {
        add_parent(root, root.children, 0, nullptr, out);
        continue;
      }
      for_each_node(root.children, dim - 1,
                    [&](const Node& node) { add_parent(root, node.children, dim, &node, out); });
    }
    out.push_back(barrier());
  }

  void add_parent(const Root& root, const std::list<Node>& children, std::size_t dim,
                  const Node* parent, Body& out) {
    Body body;
    Body sums;
    for (const Node& child : children) {
      const Array made = column({point(dim)}, root.base, shared(child.array), body);
      append(sums,
             loops({point(dim)}, {add(sums_.total(), times(made.entry(), child.group.table))}));
    }
    Stmt store = parent == nullptr
                     ? add(root.target, sums_.total())
                     : make::evaluate(make::assign(shared(parent->array), sums_.total()));
    append(body, loops(ranges_of(root.groups, dim, dim + 1),
                       sums_.summed(root.base, std::move(sums), std::move(store))));
    add_by_lanes(joined(points(dim), ranges_of(root.groups, dim + 1, n_dims())), std::move(body),
                 out);
  }

  Sums& sums_;
  FreshNames& names_;
  const TeamNames& team_;
  Needs& needs_;
  std::map<std::string, Place> places_;
  int n_names_ = 0;
};

/// @brief Values of integer tables, by name.
class Subscripts {
 public:
  void add(const Variable& table) {
    if (table.value) tables_.emplace(table.name, &*table.value);
  }

  /// @brief The value of a subscript; nothing if it cannot be told.
  [[nodiscard]] std::optional<std::int64_t> value(const Expr& expr, const Integers& known) const {
    if (const auto* binary = std::get_if<Binary>(&expr.node)) {
      const auto left = value(expr.operands[0], known);
      const auto right = value(expr.operands[1], known);
      return left && right ? apply(binary->op, *left, *right) : std::nullopt;
    }
    if (std::holds_alternative<Index>(expr.node)) {
      const Expr* list = list_of(expr, known);
      return list == nullptr ? std::nullopt : integer_value(*list, known);
    }
    return integer_value(expr, known);
  }

 private:
  /// @brief The initial value of an entry, or of a row, of a table.
  [[nodiscard]] const Expr* list_of(const Expr& expr, const Integers& known) const {
    if (const auto* name = std::get_if<Name>(&expr.node)) {
      const auto found = tables_.find(name->name);
      return found == tables_.end() ? nullptr : found->second;
    }
    if (!std::holds_alternative<Index>(expr.node)) return nullptr;
    const Expr* list = list_of(expr.operands[0], known);
    const auto at = value(expr.operands[1], known);
    const bool is_list = list != nullptr && std::holds_alternative<InitList>(list->node);
    if (!is_list || !at || *at < 0 || *at >= static_cast<std::int64_t>(list->operands.size())) {
      return nullptr;
    }
    return &list->operands[static_cast<std::size_t>(*at)];
  }

  std::map<std::string, const Expr*> tables_;
};

/// @brief Rewrites a whole function.
class TeamMaker {
 public:
  TeamMaker(FreshNames& names, const KernelBody& kernel, const TeamNames& team)
      : names_(names), loop_names_(names), known_(constant_integers(kernel)), team_(team) {
    for (const Variable& table : kernel.tables) subscripts_.add(table);
  }

  /// @brief The statements of a function; false if lanes must not run all of them.
  bool statements(Body& body, Body& out) {
    for (Stmt& stmt : body) {
      if (auto* block = std::get_if<Block>(&stmt.node)) {
        if (!statements(block->body, out)) return false;
      } else if (auto* declared = std::get_if<Declare>(&stmt.node)) {
        if (!declared->is_static) return false;
        for (const Variable& table : declared->variables) subscripts_.add(table);
        out.push_back(stmt);
      } else if (auto* loop = std::get_if<For>(&stmt.node); loop == nullptr || !nest(*loop, out)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] const Needs& needs() const { return needs_; }

 private:
  bool nest(For& loop, Body& out) {
    Points points = points_from(loop, known_);
    const std::vector<Term> terms = longest_terms(points, known_, loop_names_);
    const bool has_one_range = std::ranges::all_of(terms, [](const Term& term) {
      return std::ranges::all_of(term.groups,
                                 [](const Group& group) { return group.over.size() == 1; });
    });
    if (terms.empty() || !has_one_range) return false;
    Sums sums(points, terms, names_);
    const bool are_apart = std::ranges::all_of(
        sums.roots(), [this](const Root& root) { return has_distinct_targets(root); });
    sums.replace_terms();
    if (sums.roots().empty() || !are_apart || !keeps_to_itself(points.body(), known_)) return false;
    append(out, TeamNest(sums, names_, team_, needs_).run());
    return true;
  }

  /// @brief True if lanes that add to a target add to different places.
  [[nodiscard]] bool has_distinct_targets(const Root& root) const {
    const auto* index = std::get_if<Index>(&root.target.node);
    if (index == nullptr || !std::holds_alternative<Name>(root.target.operands[0].node)) {
      return false;
    }
    const std::vector<Range> ranges = ranges_of(root.groups, 0, root.groups.size());
    const std::int64_t n = product_of(ranges);
    std::set<std::int64_t> met;
    for (std::int64_t number = 0; number < n; ++number) {
      Integers known = known_;
      std::int64_t rest = number;
      for (const Range& range : ranges) {
        known[range.name] = rest % range.n;
        rest /= range.n;
      }
      const auto at = subscripts_.value(root.target.operands[1], known);
      if (!at || !met.insert(*at).second) return false;
    }
    return true;
  }

  FreshNames& names_;
  LoopNames loop_names_;
  Integers known_;
  const TeamNames& team_;
  Subscripts subscripts_;
  Needs needs_;
};

}  // namespace
}  // namespace op2::kernel::contraction

namespace op2::kernel {

std::optional<TeamForm> team_form(const KernelBody& body) {
  KernelBody made = with_unique_names(body);
  FunctionDef& entry = made.functions.back();
  FreshNames names(made);
  const contraction::TeamNames team{.lane = names.take("op2_lane"),
                                    .n_lanes = names.take("op2_lanes"),
                                    .shared = names.take("op2_shared")};
  contraction::TeamMaker maker(names, made, team);
  Body out;
  Body old = entry.body;
  if (!maker.statements(old, out) || maker.needs().bases.size() != 1) return std::nullopt;
  TeamForm found{.body = {},
                 .n_lanes = static_cast<int>(maker.needs().n_lanes),
                 .n_shared = maker.needs().n_shared,
                 .base = *maker.needs().bases.begin()};
  const auto mark = [&maker](std::vector<Variable>& tables) {
    for (Variable& table : tables) table.is_by_lane = maker.needs().by_lane.contains(table.name);
  };
  for (Stmt& stmt : out) {
    if (auto* declared = std::get_if<Declare>(&stmt.node)) mark(declared->variables);
  }
  mark(made.tables);
  entry.body = std::move(out);
  Type shared = pointer_to(scalar(found.base));
  shared.is_shared = true;
  entry.parameters.push_back({.name = team.lane, .type = scalar(Base::int32)});
  entry.parameters.push_back({.name = team.n_lanes, .type = scalar(Base::int32)});
  entry.parameters.push_back({.name = team.shared, .type = shared});
  found.body = infer_types(spelled(std::move(made)));
  return found;
}

}  // namespace op2::kernel
