// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/contraction_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <variant>

#include "kernel/make.hpp"
#include "kernel/types.hpp"

namespace op2::kernel::contraction {

Body loops(const std::vector<Range>& ranges, Body body) {
  for (auto at = ranges.rbegin(); at != ranges.rend(); ++at) {
    const Range& range = *at;
    Expr step = make::of(Unary{UnaryOp::pre_increment}, {make::name(range.name)}, 0);
    For loop{
        .init = {make::declare(range.name, scalar(Base::int32), make::number(0))},
        .condition = make::binary(BinaryOp::less, make::name(range.name), make::number(range.n)),
        .step = std::move(step),
        .body = std::move(body)};
    body = {Stmt{.node = std::move(loop), .line = 0}};
  }
  return body;
}

Expr times(Expr left, Expr right) {
  return make::binary(BinaryOp::multiply, std::move(left), std::move(right));
}

Stmt add(Expr target, Expr value) {
  const int line = value.line;
  return make::evaluate(
      make::of(Assign{BinaryOp::add}, {std::move(target), std::move(value)}, line));
}

namespace {

/// @brief The product of @p factors and @p last.
Expr product(const std::vector<Expr>& factors, Expr last) {
  for (auto at = factors.rbegin(); at != factors.rend(); ++at) last = times(*at, std::move(last));
  return last;
}

/// @brief The product of @p factors; 1 if there are none.
Expr product(const std::vector<Expr>& factors) {
  if (factors.empty()) return make::of(Literal{"1"}, {}, 0);
  return product({factors.begin(), factors.end() - 1}, factors.back());
}

}  // namespace

void append(Body& to, Body more) {
  std::ranges::move(more, std::back_inserter(to));
}

Expr zero(Base base) {
  return make::of(Literal{base == Base::float32 ? "0.0f" : "0.0"}, {}, 0);
}

Expr Array::entry() const {
  Expr found = make::name(name);
  for (const Range& range : ranges) found = make::index(std::move(found), make::name(range.name));
  return found;
}

Stmt Array::declaration() const {
  Type type = scalar(base);
  for (const Range& range : ranges) {
    type.derivation.push_back({.kind = Derivation::Kind::array, .extent = range.n});
  }
  return make::declare(name, std::move(type), std::nullopt);
}

std::int64_t product_of(const std::vector<Range>& ranges) {
  std::int64_t n = 1;
  for (const Range& range : ranges) n *= range.n;
  return n;
}

std::int64_t Array::size() const {
  return product_of(ranges);
}

std::vector<Range> ranges_of(const std::vector<Group>& groups, std::size_t first,
                             std::size_t last) {
  std::vector<Range> found;
  for (std::size_t dim = first; dim < last; ++dim) {
    found.insert(found.end(), groups[dim].over.begin(), groups[dim].over.end());
  }
  return found;
}

Sums::Sums(Points points, const std::vector<Term>& terms, FreshNames& names)
    : points_(std::move(points)), names_(names) {
  for (const Term& term : terms) {
    gone_.insert(term.stmt);
    at_points_.emplace_back(term.at, term.is_transposed ? scatter(term) : evaluate(term));
  }
}

Array Sums::make_array(std::vector<Range> ranges, Base base) {
  Array made{.name = names_.take(fmt::format("op2_sum{}", ++n_arrays_)),
             .ranges = std::move(ranges),
             .base = base};
  bytes_ += made.size() * static_cast<std::int64_t>(bytes_of(scalar(base)));
  return made;
}

/// @brief `target += factors * sum`, with the sum made by stages.
Stmt Sums::evaluate(const Term& term) {
  Expr source = product(term.of_sum);
  for (std::size_t dim = 0; dim < n_dims(); ++dim) source = stage(term, dim, std::move(source));
  return add(term.target, product(term.of_point, std::move(source)));
}

/// @brief An entry of the sums over dimension @p dim, equal ones made once.
Expr Sums::stage(const Term& term, std::size_t dim, Expr source) {
  const Group& group = term.groups[dim];
  std::vector<Range> ranges = ranges_of(term.groups, dim + 1, n_dims());
  for (const Stage& known : stages_[dim]) {
    if (known.source == source && known.group == group && known.array.base == term.base &&
        known.array.ranges == ranges) {
      return known.array.entry();
    }
  }
  stages_[dim].push_back({.source = std::move(source),
                          .group = group,
                          .array = make_array(std::move(ranges), term.base),
                          .n_terms = product_of(ranges_of(term.groups, 0, n_dims()))});
  return stages_[dim].back().array.entry();
}

/// @brief The value of the point, `sum = factors`, or `+=` where a term has the same tables.
Stmt Sums::scatter(const Term& term) {
  Root& root = root_of(term);
  std::list<Node>* siblings = &root.children;
  bool is_new = false;
  Node* node = nullptr;
  for (std::size_t dim = 0; dim < n_dims(); ++dim) {
    const auto found = std::ranges::find(*siblings, term.groups[dim], &Node::group);
    is_new = found == siblings->end();
    if (is_new) {
      siblings->push_back(
          {.array = make_array(ranges_of(term.groups, dim + 1, n_dims()), term.base),
           .group = term.groups[dim]});
    }
    node = is_new ? &siblings->back() : &*found;
    siblings = &node->children;
  }
  Expr value = product(term.of_point);
  return is_new ? make::declare(node->array.name, scalar(term.base), std::move(value))
                : add(node->array.entry(), std::move(value));
}

Root& Sums::root_of(const Term& term) {
  const auto ranges = ranges_of(term.groups, 0, n_dims());
  for (Root& root : roots_) {
    if (root.target == term.target && root.base == term.base &&
        ranges_of(root.groups, 0, n_dims()) == ranges) {
      return root;
    }
  }
  roots_.push_back({.target = term.target, .base = term.base, .groups = term.groups});
  return roots_.back();
}

void Sums::replace_terms() {
  Body& inner = points_.body();
  Body made;
  for (std::size_t at = 0; at < inner.size(); ++at) {
    for (auto& [where, stmt] : at_points_) {
      if (where == at) made.push_back(std::move(stmt));
    }
    if (is_left(inner[at], gone_)) made.push_back(std::move(inner[at]));
  }
  inner = std::move(made);
}

/// @brief Remove statements; false if nothing is left of @p stmt.
bool Sums::is_left(Stmt& stmt, const std::set<const Stmt*>& gone) {
  if (gone.contains(&stmt)) return false;
  Body* inner = nullptr;
  if (auto* loop = std::get_if<For>(&stmt.node)) inner = &loop->body;
  if (auto* block = std::get_if<Block>(&stmt.node)) inner = &block->body;
  if (inner == nullptr) return true;
  Body kept;
  bool is_changed = false;
  for (Stmt& one : *inner) {
    if (is_left(one, gone)) {
      kept.push_back(std::move(one));
    } else {
      is_changed = true;
    }
  }
  *inner = std::move(kept);
  return !is_changed || !inner->empty();
}

void Sums::add_stage(const Stage& stage, Body& body) const {
  const Array& array = stage.array;
  const Expr value = times(stage.source, stage.group.table);
  if (array.ranges.empty()) {
    body.push_back(make::declare(array.name, scalar(array.base), zero(array.base)));
    append(body, loops(stage.group.over, {add(make::name(array.name), value)}));
  } else {
    body.push_back(array.declaration());
    Body sums = loops(stage.group.over, {add(total(), value)});
    Stmt store = make::evaluate(make::assign(array.entry(), total()));
    append(body, loops(array.ranges, summed(array.base, std::move(sums), std::move(store))));
  }
}

Expr Sums::total() const {
  return make::name(total_);
}

Body Sums::summed(Base base, Body sums, Stmt store) const {
  Body body = {make::declare(total_, scalar(base), zero(base))};
  append(body, std::move(sums));
  body.push_back(std::move(store));
  return body;
}

void Sums::add_zeros(const std::list<Node>& nodes, std::size_t depth, Body& body) {
  for (const Node& node : nodes) {
    if (depth > 0) {
      add_zeros(node.children, depth - 1, body);
      continue;
    }
    body.push_back(node.array.declaration());
    Stmt clear = make::evaluate(make::assign(node.array.entry(), zero(node.array.base)));
    append(body, loops(node.array.ranges, {std::move(clear)}));
  }
}

void Sums::add_sums(const std::list<Node>& nodes, const Expr& parent,
                    const std::vector<Range>& ranges, std::size_t depth, Body& body) {
  if (depth > 0) {
    for (const Node& node : nodes) {
      add_sums(node.children, node.array.entry(), ranges, depth - 1, body);
    }
    return;
  }
  Body inner;
  for (const Node& node : nodes) {
    inner.push_back(add(parent, times(node.array.entry(), node.group.table)));
  }
  append(body, loops(ranges, std::move(inner)));
}

}  // namespace op2::kernel::contraction
