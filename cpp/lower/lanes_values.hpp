// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/kernel_body.hpp"
#include "ir/lane_functions.hpp"

namespace op2::lower {

/// Expressions of typed kernels, made by hand.
namespace typed {
[[nodiscard]] ir::Expr name(std::string text, ir::Type type);
[[nodiscard]] ir::Expr literal(std::string spelling, ir::Base base);
/// @brief Of the operand's type.
[[nodiscard]] ir::Expr unary(ir::UnaryOp op, ir::Expr operand);
[[nodiscard]] ir::Expr binary(ir::BinaryOp op, ir::Expr left, ir::Expr right, ir::Type type);
[[nodiscard]] ir::Expr cast(ir::Type type, ir::Expr operand);
}  // namespace typed

/// @brief What a varying value of @p base is kept in: there are no vectors of bool.
[[nodiscard]] ir::Base lane_base(ir::Base base);
[[nodiscard]] bool is_shift(ir::BinaryOp op);
[[nodiscard]] bool divides_integers(ir::BinaryOp op, ir::Base base);

/// @brief Values on lanes: C's conversions, arithmetic, masks and complex numbers over vectors.
///
/// Knows operators and types only, not which variables vary. Masks have one width in a kernel; the
/// vectors that are compared or blended may have others.
class LaneValues {
 public:
  /// @param[in] mask Base of the kernel's masks: a signed integer.
  LaneValues(int lanes, ir::Base mask) : lanes_(lanes), mask_(mask) {}

  [[nodiscard]] int lanes() const { return lanes_; }
  [[nodiscard]] ir::Base mask() const { return mask_; }
  /// @brief The vector that values of @p base are kept in.
  [[nodiscard]] ir::Type vector(ir::Base base) const;

  /// @brief @p expr as a value of @p base; on lanes if asked for, or if it is there already.
  /// @throws Refusal if a complex number changes its width behind a call.
  [[nodiscard]] ir::Expr to(ir::Base base, ir::Expr expr, bool on_lanes) const;
  /// @brief `left op right` on lanes, converted as C does.
  /// @param[in] on Lanes that count, if not all do: the others must not divide by zero.
  /// @throws Refusal if complex numbers do not have the operator.
  [[nodiscard]] ir::Expr arithmetic(ir::BinaryOp op, ir::Expr left, ir::Base left_base,
                                    ir::Expr right, ir::Base right_base,
                                    const std::optional<ir::Expr>& on) const;
  [[nodiscard]] ir::Expr negated(ir::Expr expr) const;
  /// @brief `~expr`: of a complex number the conjugate.
  [[nodiscard]] ir::Expr complement(ir::Expr expr) const;
  [[nodiscard]] ir::Expr blend(ir::Base base, ir::Expr mask, ir::Expr on, ir::Expr off) const;

  /// @brief Where `left op right`, as a mask of the kernel's width; both are of @p base on lanes.
  [[nodiscard]] ir::Expr compared(ir::BinaryOp op, ir::Base base, ir::Expr left,
                                  ir::Expr right) const;
  /// @brief Where @p expr, on lanes, is not zero.
  [[nodiscard]] ir::Expr nonzero(ir::Expr expr) const;
  /// @brief A condition that is the same for all lanes.
  [[nodiscard]] ir::Expr spread_condition(ir::Expr condition) const;
  /// @brief A mask as C's int: 1 where it is on.
  [[nodiscard]] ir::Expr truth(ir::Expr mask) const;
  /// @brief A mask of any width as a mask for values of @p base.
  [[nodiscard]] ir::Expr mask_for(ir::Base base, ir::Expr mask) const;
  [[nodiscard]] static ir::Expr both(ir::Expr left, ir::Expr right);

  /// @brief A call of a function over these lanes.
  [[nodiscard]] ir::Expr call(ir::LaneOp op, ir::Base base, std::vector<ir::Expr> arguments,
                              ir::Type type, std::string function = "") const;

 private:
  [[nodiscard]] ir::Expr to_complex(ir::Base base, ir::Expr expr) const;
  [[nodiscard]] ir::Expr resized(ir::Base base, const ir::Expr& expr) const;
  [[nodiscard]] ir::Expr part_of(std::string function, ir::Expr expr) const;
  [[nodiscard]] ir::Expr same(ir::Expr left, ir::Expr right) const;

  int lanes_;
  ir::Base mask_;
};

}  // namespace op2::lower
