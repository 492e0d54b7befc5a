// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/tuning.hpp"
#include "kernel/fresh_names.hpp"
#include "kir/nodes.hpp"
#include "kir/walk.hpp"

namespace op2::lower {

/// @brief The elements of one pass: what the names of the scalar loop stand for on each lane.
///
/// A variable of the scalar loop has a value for each lane, reached by the lane's number (on_lane)
/// or in a loop over the lanes (in_lane); packs are arrays of vectors.
class LaneElements {
 public:
  LaneElements(const kir::Function& function, kernel::NameSet taken, int lanes,
               const Tuning& tuning = {});

  /// @brief Pieces of rows that are loaded, or turned back, by one statement each have their
  /// vectors in registers; more of them go through loops, which compile faster.
  [[nodiscard]] const Tuning& tuning() const { return tuning_; }

  [[nodiscard]] int lanes() const { return lanes_; }
  /// @brief The variable of the loop over lanes.
  [[nodiscard]] static kir::Expr lane() { return kir::name("lane"); }
  /// @brief A name that nothing has, like @p wanted.
  [[nodiscard]] std::string fresh(const std::string& wanted) { return fresh_.take(wanted); }
  /// @brief A new constant index with that value, declared at the end of @p block.
  kir::Expr declare(kir::Block& block, const std::string& wanted, kir::Expr value);

  /// @param[in] by_lane Shape (lanes).
  void add_variable(const std::string& name, std::vector<kir::Expr> by_lane, kir::Expr in_lane);
  void add_pack(const std::string& name, DType dtype) { packs_[name] = dtype; }
  [[nodiscard]] bool is_pack(const std::string& name) const { return packs_.contains(name); }
  /// @throws std::out_of_range if there is no such pack.
  [[nodiscard]] DType dtype_of_pack(const std::string& name) const { return packs_.at(name); }
  /// @brief The type of @p lanes() values side by side.
  [[nodiscard]] kir::VariableType vector(DType dtype) const {
    return {dtype, false, false, lanes_};
  }
  /// @brief Pieces that a row of @p dim components is carried in.
  [[nodiscard]] int n_pieces(int dim) const;

  /// @brief True if @p expr differs from lane to lane.
  [[nodiscard]] bool varies(const kir::Expr& expr) const;
  /// @brief @p expr for the element of lane number @p lane.
  [[nodiscard]] kir::Expr on_lane(const kir::Expr& expr, int lane) const;
  /// @return Shape (lanes).
  [[nodiscard]] std::vector<kir::Expr> on_lanes(const kir::Expr& expr) const;
  /// @brief As inside the loop over lanes.
  [[nodiscard]] kir::Expr in_lane(const kir::Expr& expr) const;
  [[nodiscard]] kir::Block in_lane(const kir::Block& block) const;

 private:
  [[nodiscard]] std::optional<kir::Expr> first_of_same(const kir::Expr& expr,
                                                       const kir::Replacement& by) const;
  [[nodiscard]] std::optional<kir::Expr> part_in_lane(const kir::Expr& part,
                                                      const kir::Replacement& by) const;

  int lanes_;
  Tuning tuning_;
  kernel::FreshNames fresh_;
  std::map<std::string, std::string> same_map_;            // its table's first name
  std::map<std::string, std::vector<kir::Expr>> by_lane_;  // [lanes] what a variable is
  std::map<std::string, kir::Expr> in_lane_;               // and in the loop over lanes
  std::map<std::string, DType> packs_;                     // arrays of vectors
};

}  // namespace op2::lower
