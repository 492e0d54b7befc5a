// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/loop.hpp"
#include "kir/nodes.hpp"
#include "lower/names.hpp"

namespace op2::lower {

/// @brief How a wrapper finds the element `n`, and of an extruded Set the `level` in its column and
/// the `layer`, from the position of a work item in the loop.
///
/// Strategies count positions, and so do plans; only this knows what stands behind one. Part of
/// `pack`, because Gathers and Scatters already speak of `n`.
struct ItemLocals {
  std::string position = "n";  ///< what the loop over items counts
  /// @brief True if a position is the number of an element: all of a Set without layers are
  /// visited.
  [[nodiscard]] bool is_element() const { return declarations.empty(); }
  std::vector<kir::Parameter> parameters;  ///< lists that the runtime provides, Role::items
  std::optional<kir::Columns> columns;     ///< what positions are, where all are as high
  kir::Block declarations;                 ///< of the locals, in an order in which each may use
                                           ///< those before
};

/// @brief The element that the kernel is called for, and the target that it adds to.
[[nodiscard]] inline kir::Expr own_element() {
  return kir::name("n");
}
[[nodiscard]] inline kir::Expr own_target() {
  return kir::name("target");
}

/// @brief The locals of a kind of iteration.
///
/// The lists, in this order. Subset: `subset[n_items]`, elements. Constant layers:
/// `layers[4]`: cells of a column that are visited, the level of the first one, the layer at level
/// 0, levels of a column; then `subset[n_items / layers[0]]`. Variable layers: `columns[n_items]`,
/// `levels[n_items]`, `bounds[2 * n_columns]`: the layer at level 0, and one past the top layer.
[[nodiscard]] ItemLocals item_locals(const ir::Iteration& iteration, Names& names);

/// @brief @p body after the declarations of those locals that it uses.
[[nodiscard]] kir::Block located(const ItemLocals& items, kir::Block body);

/// @brief The loop over positions from @p begin to @p end around @p body, which is located().
[[nodiscard]] kir::For over_positions(const ItemLocals& items, kir::Axis axis, kir::Expr begin,
                                      kir::Expr end, kir::Block body);

/// @brief The rows that @p element reaches through a Map.
[[nodiscard]] kir::Rows rows_of(const ir::Loop& loop, const ir::IndirectDat& dat,
                                const std::string& data, const std::string& map,
                                const kir::Expr& element);

/// @brief The row of @p target, whatever element reaches it.
[[nodiscard]] kir::Rows row_of(const ir::IndirectDat& dat, const std::string& data,
                               const kir::Expr& target);

/// @brief The targets of a path's entries for one element, where they are not the Map's own in
/// their order.
[[nodiscard]] std::vector<kir::Expr> targets_of(const ir::Loop& loop, int path,
                                                const std::string& map, const kir::Expr& element);

/// @brief The one row of an argument on the iteration Set.
[[nodiscard]] kir::Rows rows_of(const ir::DirectDat& dat, const std::string& data,
                                const kir::Expr& element);

}  // namespace op2::lower
