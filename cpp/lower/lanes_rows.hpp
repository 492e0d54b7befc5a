// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kir/nodes.hpp"
#include "lower/lanes_elements.hpp"

namespace op2::lower {

/// @brief Where the rows of some columns, one a lane, start in their first cells.
///
/// Found once for the columns and kept in memory: a cell adds what its level is worth. Without it
/// compilers keep an address for each row of each lane, far more than there are registers.
class RowTables {
 public:
  /// @param[in] function Whose data the rows are.
  /// @param[in] columns What the loop over cells says of them.
  /// @param[in] first_level What the level is in the first cells.
  /// @param[in] step Cells above the first one.
  /// @param[in] elements Outlives this.
  RowTables(const kir::Function& function, kir::Columns columns, kir::Expr first_level,
            kir::Expr step, LaneElements& elements);

  /// @brief The address of row number @p i of @p lane; its table is made if there is none.
  /// @param[in] i A number, or if is_even() anything.
  /// @return Nothing if they do not lie behind a Map, or levels are counted round.
  std::optional<kir::Expr> address(const kir::Rows& rows, const kir::Expr& i,
                                   const kir::Expr& lane);

  /// @brief True if all rows have addresses and climb equally far.
  bool is_even(const kir::Rows& rows);

  /// @brief What declares and fills the tables that were asked for.
  /// @param[in] live How many columns there are; the other lanes repeat the last one.
  /// @param[in] element Which element `row`, the first of them, is, if not itself.
  [[nodiscard]] kir::Block filled(const kir::Expr& live,
                                  const std::optional<kir::Expr>& element) const;

 private:
  struct Table {
    std::string name;
    kir::Rows rows;
  };

  const Table* table_of(const kir::Rows& rows);
  struct Filling;

  [[nodiscard]] Filling filling_of(const Table& table, const kir::Expr& element) const;
  void fill(kir::Block& block, const Filling& filling) const;
  [[nodiscard]] kir::Expr place(const kir::Expr& i, const kir::Expr& lane) const;
  [[nodiscard]] bool is_const(const std::string& data) const;

  std::vector<kir::Parameter> parameters_;
  kir::Columns columns_;
  kir::Expr first_level_;
  kir::Expr step_;
  LaneElements& elements_;
  std::vector<Table> tables_;
};

}  // namespace op2::lower
