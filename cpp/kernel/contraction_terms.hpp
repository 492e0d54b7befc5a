// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernel/body.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/integers.hpp"

/// Sums that contracted() can write dimension by dimension, found in a nest of loops over points.
namespace op2::kernel::contraction {

/// @brief A loop from 0 to `n` - 1.
struct Range {
  std::string name;
  std::int64_t n = 0;
  bool operator==(const Range&) const = default;
};

/// @brief The tables of one point loop in a product.
struct Group {
  std::vector<Range> over;  ///< loops of the sum that the tables depend on
  Expr table;               ///< their product
  bool operator==(const Group&) const = default;
};

/// @brief A sum `target += product`.
struct Term {
  const Stmt* stmt = nullptr;  ///< the assignment
  std::size_t at = 0;          ///< statement of the points' body around the assignment
  Expr target;
  bool is_transposed = false;    ///< the target depends on the loops of the sum, not on the points
  std::vector<Expr> of_point{};  ///< factors that do not depend on the loops of the sum
  std::vector<Expr> of_sum{};    ///< factors that do not depend on the points
  std::vector<Group> groups{};   ///< one for each point loop
  Base base = Base::float64;     ///< of the arithmetic
};

/// @brief Nested loops, each the only statement of the one around, with constant bounds.
struct Points {
  std::vector<For*> loops;
  std::vector<Range> ranges;

  [[nodiscard]] Body& body() const;
  void drop_innermost() {
    loops.pop_back();
    ranges.pop_back();
  }
};

/// @brief The body of a loop without the braces around all of it.
[[nodiscard]] Body& within(For& loop);

/// @brief The loops that begin with @p first, as many as are nested so.
[[nodiscard]] Points points_from(For& first, const Integers& known);

/// @brief Names of the loops of sums by dimension, so that equal sums look equal.
class LoopNames {
 public:
  explicit LoopNames(FreshNames& names) : names_(&names) {}
  /// @brief The name of loop @p number of a sum in dimension @p dim.
  [[nodiscard]] const std::string& of(std::size_t dim, std::size_t number);

 private:
  FreshNames* names_;
  std::map<std::pair<std::size_t, std::size_t>, std::string> given_;
};

/// @brief All sums in the body of @p points that may be computed by partial sums outside.
///
/// Names are unique in the function, see with_unique_names().
[[nodiscard]] std::vector<Term> terms_in(const Points& points, const Integers& known,
                                         LoopNames& loop_names);

/// @brief The terms of the longest nest that begins with the loops of @p points and has some;
/// @p points are those of this nest then.
[[nodiscard]] std::vector<Term> longest_terms(Points& points, const Integers& known,
                                              LoopNames& loop_names);

/// @brief True if @p body stores only to what it declares, in ways that names tell.
[[nodiscard]] bool keeps_to_itself(const Body& body, const Integers& known);

/// @brief Names used in @p expr.
[[nodiscard]] NameSet names_of(const Expr& expr);

}  // namespace op2::kernel::contraction
