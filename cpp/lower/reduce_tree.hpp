// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/tuning.hpp"
#include "kir/nodes.hpp"
#include "lower/names.hpp"

namespace op2::lower {

/// @brief A Global that a loop reduces into on a grid.
struct Reduced {
  std::size_t arg;
  DType dtype;
  int dim;
  kir::Update update;
  std::string data;
  std::string partial;     ///< device memory: a value a slot
  std::string lane;        ///< private: the value of one lane
  std::string tree;        ///< shared: what lanes of a block hand to each other
  std::string got;         ///< private: a component of another lane's value
  bool is_zeroed = false;  ///< it counts as 0 before the loop, whatever memory holds

  [[nodiscard]] bool starts_at_zero() const { return update == kir::Update::add; }
  [[nodiscard]] kir::Expr start() const;
  [[nodiscard]] kir::Expr partial_of(const kir::Expr& slot) const;
};

[[nodiscard]] kir::Stmt for_components(int dim, kir::Block body);
[[nodiscard]] kir::Stmt on_first_lane(kir::Block body);

/// @brief How the values that the lanes of a block have found become one value.
///
/// `leaves`: each lane puts its value into shared memory, where halves are folded onto each other
/// until the first leaf has all; there are as many leaves whatever the block. `warps`: the lanes of
/// a warp exchange registers, and shared memory holds one value a warp.
class ReductionTree {
 public:
  enum class Shape : std::uint8_t { leaves, warps };

  /// @param[in] warp Lanes that exchange registers; 0: none.
  /// @param[in] is_fixed The order of additions must not depend on the number of lanes.
  /// @param[in] most_leaves The most leaves that there is work for, a power of two; 0: any number.
  ReductionTree(std::vector<Reduced> globals, int warp, bool is_fixed, const Tuning& tuning = {},
                int most_leaves = 0);

  [[nodiscard]] const std::vector<Reduced>& globals() const { return globals_; }
  /// @brief The most lanes a block may have; with a fixed order, any number will do.
  [[nodiscard]] int n_lanes() const { return n_lanes_; }

  /// @brief The variables that a function needs first.
  [[nodiscard]] kir::Block declarations() const;

  /// @brief Each lane's value before it has seen anything: zero, or what the Global is.
  [[nodiscard]] kir::Block starts() const;

  /// @brief Component @p c of the value that a lane adds to; of leaf `lane` in a fixed order.
  [[nodiscard]] kir::Expr own(const Reduced& global, const kir::Expr& c) const;

  /// @brief Combine what all lanes have; all lanes of the block must get here.
  [[nodiscard]] kir::Block combined() const;

  /// @brief Combine @p n_slots partial results. In a fixed order, @p n_slots alone decides on it.
  [[nodiscard]] kir::Block combined_partials(const kir::Expr& n_slots) const;

  /// @brief For the first lane afterwards: put the block's value into a slot, or into the Globals.
  [[nodiscard]] kir::Block to_slot(const kir::Expr& slot) const;
  /// @param[in] sets Globals that count as 0 before are overwritten, not added to.
  [[nodiscard]] kir::Block to_globals(bool sets = false) const;

 private:
  [[nodiscard]] kir::Expr leaf(const Reduced& global, const kir::Expr& lane) const;
  [[nodiscard]] kir::Expr result(const Reduced& global) const;
  [[nodiscard]] kir::Block to_leaves() const;
  [[nodiscard]] kir::Block folded_leaves() const;
  [[nodiscard]] kir::Block folded_warps() const;
  [[nodiscard]] kir::Block folded_lanes(int n) const;

  std::vector<Reduced> globals_;
  Shape shape_ = Shape::leaves;
  bool is_fixed_;
  int warp_;
  int n_lanes_;
};

}  // namespace op2::lower
