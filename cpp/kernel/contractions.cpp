// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/contractions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/overload.hpp"
#include "kernel/contraction_terms.hpp"
#include "kernel/cost.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/integers.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"
#include "kernel/unique_names.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel::contraction {
namespace {

/// Bytes of the arrays of one nest: what a processor keeps near, for some elements side by side.
constexpr std::int64_t most_bytes = 128 << 10;

/// @brief `for (int name = 0; name < n; ++name) body`, for each range, the first outermost.
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

void append(Body& to, Body more) {
  std::ranges::move(more, std::back_inserter(to));
}

/// @brief An array of partial sums.
struct Array {
  std::string name;
  std::vector<Range> ranges;  ///< of the subscripts
  Base base = Base::float64;

  [[nodiscard]] Expr entry() const {
    Expr found = make::name(name);
    for (const Range& range : ranges) found = make::index(std::move(found), make::name(range.name));
    return found;
  }
  [[nodiscard]] Stmt declaration() const {
    Type type = scalar(base);
    for (const Range& range : ranges) {
      type.derivation.push_back({.kind = Derivation::Kind::array, .extent = range.n});
    }
    return make::declare(name, std::move(type), std::nullopt);
  }
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t n = static_cast<std::int64_t>(bytes_of(scalar(base)));
    for (const Range& range : ranges) n *= range.n;
    return n;
  }
};

/// @brief All ranges of the sum in dimensions @p first to @p last - 1.
std::vector<Range> ranges_of(const std::vector<Group>& groups, std::size_t first,
                             std::size_t last) {
  std::vector<Range> found;
  for (std::size_t dim = first; dim < last; ++dim) {
    found.insert(found.end(), groups[dim].over.begin(), groups[dim].over.end());
  }
  return found;
}

/// @brief Partial sums of evaluations: one dimension of a sum, inside the loop over its points.
struct Stage {
  Expr source;  ///< summed: values of the kernel, or an entry of the stage of the loop around
  Group group;
  Array array;  ///< over the dimensions that are left
};

/// @brief Partial sums of transposed terms: what the points of the loops within add up to.
struct Node {
  Array array;  ///< over the dimensions of the loops within
  Group group;  ///< applied when the array is added to that of the parent
  std::list<Node> children{};
};

/// @brief A target and the partial sums that are added to it.
struct Root {
  Expr target;
  Base base = Base::float64;
  std::vector<Group> groups;  ///< of the first term: the ranges are those of all
  std::list<Node> children{};
};

Expr zero(Base base) {
  return make::of(Literal{base == Base::float32 ? "0.0f" : "0.0"}, {}, 0);
}

/// @brief Rewrites the sums of one nest of points.
///
/// Each loop over points begins with the sums of its dimension, and ends with the transposed ones.
/// So arrays hold no points, and are small: of p functions a direction in three dimensions, p^2
/// values in the outermost loop, p in the next, and 1 at a point.
class Nest {
 public:
  Nest(Points points, std::vector<Term> terms, FreshNames& names)
      : points_(std::move(points)), terms_(std::move(terms)), names_(names) {}

  /// @brief False, and no change, if arrays would be too large.
  bool rewrite() {
    std::vector<std::pair<std::size_t, Stmt>> at_points;
    for (const Term& term : terms_) {
      at_points.emplace_back(term.at, term.is_transposed ? scatter(term) : evaluate(term));
    }
    if (bytes_ > most_bytes) return false;
    replace_sums(std::move(at_points));
    // a body that grows moves the loops within
    for (std::size_t dim = n_dims(); dim-- > 0;) {
      Body& outer = within(*points_.loops[dim]);
      Body inside = at_begin(dim);
      append(inside, std::move(outer));
      append(inside, at_end(dim));
      outer = std::move(inside);
    }
    return true;
  }

 private:
  [[nodiscard]] std::size_t n_dims() const { return points_.ranges.size(); }

  Array make_array(std::vector<Range> ranges, Base base) {
    Array made{.name = names_.take(fmt::format("op2_sum{}", ++n_arrays_)),
               .ranges = std::move(ranges),
               .base = base};
    bytes_ += made.bytes();
    return made;
  }

  /// @brief `target += factors * sum`, with the sum made by stages.
  Stmt evaluate(const Term& term) {
    Expr source = product(term.of_sum);
    for (std::size_t dim = 0; dim < n_dims(); ++dim) source = stage(term, dim, std::move(source));
    return add(term.target, product(term.of_point, std::move(source)));
  }

  /// @brief An entry of the sums over dimension @p dim, equal ones made once.
  Expr stage(const Term& term, std::size_t dim, Expr source) {
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
                            .array = make_array(std::move(ranges), term.base)});
    return stages_[dim].back().array.entry();
  }

  /// @brief The value of the point, `sum = factors`, or `+=` where a term has the same tables.
  Stmt scatter(const Term& term) {
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

  Root& root_of(const Term& term) {
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

  /// @brief What the body of point loop @p dim begins with.
  [[nodiscard]] Body at_begin(std::size_t dim) const {
    Body body;
    const bool is_point = dim + 1 == n_dims();  // declared there where it has its value
    for (const Root& root : roots_) {
      if (!is_point) add_zeros(root.children, dim, body);
    }
    for (const Stage& one : stages_[dim]) {
      const Expr value = times(one.source, one.group.table);
      if (one.array.ranges.empty()) {
        body.push_back(make::declare(one.array.name, scalar(one.array.base), zero(one.array.base)));
        append(body, loops(one.group.over, {add(make::name(one.array.name), value)}));
      } else {
        body.push_back(one.array.declaration());
        append(body, filled(one.array, one.group.over, {add(make::name(sum_), value)}));
      }
    }
    return body;
  }

  /// @brief Arrays of zeros for the nodes @p depth levels below @p nodes.
  static void add_zeros(const std::list<Node>& nodes, std::size_t depth, Body& body) {
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

  /// @brief What the body of point loop @p dim ends with: its sums are added to those around.
  [[nodiscard]] Body at_end(std::size_t dim) const {
    Body body;
    for (const Root& root : roots_) {
      add_sums(root.children, root.target, ranges_of(root.groups, dim, n_dims()), dim, body);
    }
    return body;
  }

  /// @brief Add the nodes @p depth levels below @p nodes to their parents.
  static void add_sums(const std::list<Node>& nodes, const Expr& parent,
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

  /// @brief Take the sums away, and put @p at_points before the statements they were in.
  void replace_sums(std::vector<std::pair<std::size_t, Stmt>> at_points) {
    std::set<const Stmt*> gone;
    for (const Term& term : terms_) gone.insert(term.stmt);
    Body& inner = points_.body();
    Body made;
    for (std::size_t at = 0; at < inner.size(); ++at) {
      for (auto& [where, stmt] : at_points) {
        if (where == at) made.push_back(std::move(stmt));
      }
      if (is_left(inner[at], gone)) made.push_back(std::move(inner[at]));
    }
    inner = std::move(made);
  }

  /// @brief Remove statements; false if nothing is left of @p stmt.
  static bool is_left(Stmt& stmt, const std::set<const Stmt*>& gone) {
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

  /// @brief Loops that fill an array, each entry with @p sums over ranges.
  [[nodiscard]] Body filled(const Array& array, const std::vector<Range>& over, Body sums) const {
    Body inner = {make::declare(sum_, scalar(array.base), zero(array.base))};
    append(inner, loops(over, std::move(sums)));
    inner.push_back(make::evaluate(make::assign(array.entry(), make::name(sum_))));
    return loops(array.ranges, std::move(inner));
  }

  Points points_;
  std::vector<Term> terms_;
  FreshNames& names_;
  std::string sum_ = names_.take("op2_total");
  std::vector<std::vector<Stage>> stages_ = std::vector<std::vector<Stage>>(points_.ranges.size());
  std::list<Root> roots_;
  std::int64_t bytes_ = 0;
  int n_arrays_ = 0;
};

/// @brief Rewrites all nests of a function.
class Contractor {
 public:
  Contractor(FreshNames& names, Integers known)
      : names_(names), loop_names_(names), known_(std::move(known)) {}

  void statements(Body& body) {
    for (Stmt& stmt : body) {
      auto* loop = std::get_if<For>(&stmt.node);
      if (loop != nullptr && nest(*loop)) continue;
      if (loop != nullptr) {
        statements(loop->body);
      } else if (auto* block = std::get_if<Block>(&stmt.node)) {
        statements(block->body);
      }
    }
  }

  [[nodiscard]] int n_sums() const { return n_sums_; }

 private:
  /// @brief Rewrite a nest that begins with @p loop; the longest with such sums in the body.
  bool nest(For& loop) {
    Points points = points_from(loop, known_);
    for (; points.loops.size() > 1; points.loops.pop_back(), points.ranges.pop_back()) {
      std::vector<Term> terms = terms_in(points, known_, loop_names_);
      if (terms.empty()) continue;
      const int n = static_cast<int>(terms.size());
      if (!Nest(points, std::move(terms), names_).rewrite()) continue;
      n_sums_ += n;
      return true;
    }
    return false;
  }

  FreshNames& names_;
  LoopNames loop_names_;
  Integers known_;
  int n_sums_ = 0;
};

/// @brief How many loops stand within each other, as Contractor::statements() finds them.
int depth_of(const Body& body) {
  int depth = 0;
  for (const Stmt& stmt : body) {
    const auto* loop = std::get_if<For>(&stmt.node);
    const auto* block = std::get_if<Block>(&stmt.node);
    if (loop != nullptr) depth = std::max(depth, 1 + depth_of(loop->body));
    if (block != nullptr) depth = std::max(depth, depth_of(block->body));
  }
  return depth;
}

/// @brief Loops of the smallest nest: two over points, two of a sum.
constexpr int least_depth = 4;

}  // namespace
}  // namespace op2::kernel::contraction

namespace op2::kernel {

std::optional<Contracted> contracted(const KernelBody& body) {
  const auto is_deep = [](const FunctionDef& function) {
    return contraction::depth_of(function.body) >= contraction::least_depth;
  };
  if (std::ranges::none_of(body.functions, is_deep)) return std::nullopt;
  KernelBody made = with_unique_names(body);
  FreshNames names(made);
  const Integers known = constant_integers(body);
  Contracted found;
  for (FunctionDef& function : made.functions) {
    contraction::Contractor contractor(names, known);
    contractor.statements(function.body);
    found.done.n_sums += contractor.n_sums();
  }
  if (found.done.n_sums == 0) return std::nullopt;
  found.body = infer_types(spelled(std::move(made)));
  found.done.before = n_operations(body);
  found.done.after = n_operations(found.body);
  if (found.done.after >= found.done.before) return std::nullopt;
  return found;
}

}  // namespace op2::kernel
