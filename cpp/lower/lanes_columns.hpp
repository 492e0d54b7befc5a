// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "kir/nodes.hpp"
#include "lower/lanes_elements.hpp"

namespace op2::lower {

/// @brief A loop over the positions of cells in columns of equal height, as it says
/// itself: column by column, from the bottom to the top.
struct ColumnLoop {
  kir::Columns columns;
  bool has_levels;                   ///< the body asks for the level
  std::optional<kir::Decl> element;  ///< declares which element a column is, if the body asks
  kir::Block body;                   ///< less what says which row, element and level a position has
};

/// @return Nothing if @p loop is another one.
[[nodiscard]] std::optional<ColumnLoop> column_loop(const kir::For& loop);

/// @brief Names in the loops that over_columns() makes.
struct ColumnNames {
  std::string live;    ///< how many columns there are, at most one a lane
  std::string bottom;  ///< the level of a column's first cell, if levels are asked for
  std::string step;    ///< cells between the first one of the column that is visited and this
};

/// @brief The loops over columns, and in them over cells, in place of @p loop over positions.
///
/// Lanes lie side by side in as many columns, all in one layer: what is the same for a column is
/// found once, and lanes that are side by side share few targets. A range of positions may begin
/// and end inside a column; these two go by themselves, in the same loop. The first of the columns
/// is `row`, which steps by as many as there are.
///
/// @param[in] columns What is done once for some columns, before their cells.
/// @param[in] cells What is done for a cell of each.
[[nodiscard]] kir::Block over_columns(const kir::For& loop, const ColumnLoop& found,
                                      const ColumnNames& names, LaneElements& elements,
                                      kir::Block columns, kir::Block cells);

}  // namespace op2::lower
