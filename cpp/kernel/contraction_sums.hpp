// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/body.hpp"
#include "kernel/contraction_terms.hpp"
#include "kernel/fresh_names.hpp"

/// Partial sums of the terms of a nest of points, and the statements that are made of them.
namespace op2::kernel::contraction {

/// @brief `for (int name = 0; name < n; ++name) body`, for each range, the first outermost.
[[nodiscard]] Body loops(const std::vector<Range>& ranges, Body body);
[[nodiscard]] Expr times(Expr left, Expr right);
/// @brief `target += value`
[[nodiscard]] Stmt add(Expr target, Expr value);
[[nodiscard]] Expr zero(Base base);
void append(Body& to, Body more);

/// @brief How often the body of loops() over @p ranges runs.
[[nodiscard]] std::int64_t product_of(const std::vector<Range>& ranges);

/// @brief An array of partial sums.
struct Array {
  std::string name;
  std::vector<Range> ranges;  ///< of the subscripts
  Base base = Base::float64;

  [[nodiscard]] Expr entry() const;
  [[nodiscard]] Stmt declaration() const;
  [[nodiscard]] std::int64_t size() const;
};

/// @brief All ranges of the sum in dimensions @p first to @p last - 1.
[[nodiscard]] std::vector<Range> ranges_of(const std::vector<Group>& groups, std::size_t first,
                                           std::size_t last);

/// @brief Partial sums of evaluations: one dimension of a sum, inside the loop over its points.
struct Stage {
  Expr source;  ///< summed: values of the kernel, or an entry of the stage of the loop around
  Group group;
  Array array;               ///< over the dimensions that are left
  std::int64_t n_terms = 0;  ///< of the whole sum, at one point
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

/// @brief The partial sums of the terms of one nest, each made once.
class Sums {
 public:
  /// @brief Replaces the terms in the body of @p points by what they are at a point.
  Sums(Points points, const std::vector<Term>& terms, FreshNames& names);

  [[nodiscard]] std::size_t n_dims() const { return points_.ranges.size(); }
  [[nodiscard]] const Points& points() const { return points_; }
  /// @brief Of dimension @p dim.
  [[nodiscard]] const std::vector<Stage>& stages(std::size_t dim) const { return stages_[dim]; }
  [[nodiscard]] const std::list<Root>& roots() const { return roots_; }
  /// @brief Bytes of all arrays.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  /// @brief Put the values of the points in the place of the terms.
  void replace_terms();

  /// @brief The array of @p stage, filled.
  void add_stage(const Stage& stage, Body& body) const;
  /// @brief A total of @p sums, which add to total(), and @p store, which uses the total.
  [[nodiscard]] Body summed(Base base, Body sums, Stmt store) const;
  [[nodiscard]] Expr total() const;

  /// @brief Arrays of zeros for the nodes @p depth levels below @p nodes.
  static void add_zeros(const std::list<Node>& nodes, std::size_t depth, Body& body);
  /// @brief Add the nodes @p depth levels below @p nodes to their parents.
  static void add_sums(const std::list<Node>& nodes, const Expr& parent,
                       const std::vector<Range>& ranges, std::size_t depth, Body& body);

 private:
  Array make_array(std::vector<Range> ranges, Base base);
  Stmt evaluate(const Term& term);
  Expr stage(const Term& term, std::size_t dim, Expr source);
  Stmt scatter(const Term& term);
  Root& root_of(const Term& term);
  static bool is_left(Stmt& stmt, const std::set<const Stmt*>& gone);

  Points points_;
  FreshNames& names_;
  std::string total_ = names_.take("op2_total");
  std::set<const Stmt*> gone_;
  std::vector<std::pair<std::size_t, Stmt>> at_points_;
  std::vector<std::vector<Stage>> stages_ = std::vector<std::vector<Stage>>(points_.ranges.size());
  std::list<Root> roots_;
  std::int64_t bytes_ = 0;
  int n_arrays_ = 0;
};

}  // namespace op2::kernel::contraction
