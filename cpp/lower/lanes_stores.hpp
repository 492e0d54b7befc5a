// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "kir/nodes.hpp"
#include "lower/lanes_elements.hpp"
#include "lower/lanes_rows.hpp"

namespace op2::lower {

/// @brief What follows the kernel's call on lanes: packs become rows, and rows are stored.
///
/// Rows of several components are turned back as wholes; everything else is the scalar loop's own
/// statements in one loop over the lanes, in element order, so that sums are those of the scalar
/// loop. The lanes that repeat the last element are left out, unless all that they do is to store
/// the same values again.
class LaneStores {
 public:
  /// @param[in] elements Outlives this.
  explicit LaneStores(LaneElements& elements) : elements_(elements) {}

  /// @brief Rows that @p tables knows are stored where it says. @param[in] tables Outlives this.
  void use(RowTables& tables) { tables_ = &tables; }
  /// @brief The lanes are the elements from @p index on, @p live of them.
  void go_in_order(const std::string& index, kir::Expr live);
  /// @brief Whether rows of @p dim numbers that begin at @p start are values side by side.
  [[nodiscard]] bool is_in_order(DType dtype, int dim, const kir::Expr& start) const;
  /// @brief A statement of the scalar loop, done lane by lane.
  void by_lane(const kir::Stmt& stmt);
  /// @brief A constant index of the loop over lanes. @return Its name there.
  kir::Expr local(const std::string& wanted, kir::Expr value);
  void scatter(const kir::Scatter& node);
  void insert(const kir::MatInsert& node);
  /// @brief A copy of the pack to @p target: `target[…] = pack[c]`.
  void keep(const kir::Copy& copy, const kir::Element& target, const std::string& pack);

  /// @brief All of it; nothing may be added then.
  /// @param[in] live Number of lanes that have an element of their own.
  [[nodiscard]] kir::Block finished(const kir::Expr& live);

  /// What was added and is not finished.
  struct Pending {
    kir::Block turns;
    kir::Block own;
    kir::Block locals;
    kir::Block body;
    bool is_repeatable = true;
  };
  /// @brief Begin with a loop inside, which stores by itself: what was added is set aside, but that
  /// the names which local() has declared are known there, too.
  [[nodiscard]] Pending begin_inside();
  /// @brief Behind finished() for that loop, go on with what was set aside.
  void resume(Pending pending);

 private:
  struct Place {
    std::string data;
    kir::Expr start;
  };
  struct PackedRow;

  kir::Scatter converted(kir::Scatter node);
  Place place_of(const kir::Rows& rows, const kir::Expr& i);
  void store_scalar(const kir::Scatter& node, const kir::Expr& target, const kir::Expr& value);
  void store_row(const PackedRow& row);
  void store_own_row(const PackedRow& row);
  std::string turned(const PackedRow& row, const kir::RowPiece& piece);
  [[nodiscard]] kir::Stmt piece_stored(const PackedRow& row, const kir::RowPiece& piece,
                                       const std::string& rows, const kir::Expr& start,
                                       const kir::Expr& lane) const;

  LaneElements& elements_;
  std::string first_;  // the element of the first lane, where the others follow
  kir::Expr live_;
  RowTables* tables_ = nullptr;
  kir::Block turns_;  // packs to rows, before the loop over lanes
  kir::Block own_;
  kir::Block locals_;
  kir::Block body_;            // of the loop over lanes
  bool is_repeatable_ = true;  // a lane that repeats the last element may do all of it again
};

}  // namespace op2::lower
