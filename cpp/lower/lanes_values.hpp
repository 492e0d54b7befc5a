// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/body.hpp"
#include "kernel/lane_functions.hpp"

namespace op2::lower {

/// Expressions of typed kernels, made by hand.
namespace typed {
[[nodiscard]] kernel::Expr name(std::string text, kernel::Type type);
[[nodiscard]] kernel::Expr literal(std::string spelling, kernel::Base base);
/// @brief Of the operand's type.
[[nodiscard]] kernel::Expr unary(kernel::UnaryOp op, kernel::Expr operand);
[[nodiscard]] kernel::Expr binary(kernel::BinaryOp op, kernel::Expr left, kernel::Expr right,
                                  kernel::Type type);
[[nodiscard]] kernel::Expr cast(kernel::Type type, kernel::Expr operand);
}  // namespace typed

/// @brief What a varying value of @p base is kept in: there are no vectors of bool.
[[nodiscard]] kernel::Base lane_base(kernel::Base base);
[[nodiscard]] bool is_shift(kernel::BinaryOp op);
[[nodiscard]] bool divides_integers(kernel::BinaryOp op, kernel::Base base);

/// @brief Values on lanes: C's conversions, arithmetic, masks and complex numbers over vectors.
///
/// Knows operators and types only, not which variables vary. Masks have one width in a kernel; the
/// vectors that are compared or blended may have others.
class LaneValues {
 public:
  /// @param[in] mask Base of the kernel's masks: a signed integer.
  LaneValues(int lanes, kernel::Base mask) : lanes_(lanes), mask_(mask) {}

  [[nodiscard]] int lanes() const { return lanes_; }
  [[nodiscard]] kernel::Base mask() const { return mask_; }
  /// @brief The vector that values of @p base are kept in.
  [[nodiscard]] kernel::Type vector(kernel::Base base) const;

  /// @brief @p expr as a value of @p base; on lanes if asked for, or if it is there already.
  /// @throws Refusal if a complex number changes its width behind a call.
  [[nodiscard]] kernel::Expr to(kernel::Base base, kernel::Expr expr, bool on_lanes) const;
  /// @brief `left op right` on lanes, converted as C does.
  /// @param[in] on Lanes that count, if not all do: the others must not divide by zero.
  /// @throws Refusal if complex numbers do not have the operator.
  [[nodiscard]] kernel::Expr arithmetic(kernel::BinaryOp op, kernel::Expr left,
                                        kernel::Base left_base, kernel::Expr right,
                                        kernel::Base right_base,
                                        const std::optional<kernel::Expr>& on) const;
  [[nodiscard]] kernel::Expr negated(kernel::Expr expr) const;
  /// @brief `~expr`: of a complex number the conjugate.
  [[nodiscard]] kernel::Expr complement(kernel::Expr expr) const;
  [[nodiscard]] kernel::Expr blend(kernel::Base base, kernel::Expr mask, kernel::Expr on,
                                   kernel::Expr off) const;

  /// @brief Where `left op right`, as a mask of the kernel's width; both are of @p base on lanes.
  [[nodiscard]] kernel::Expr compared(kernel::BinaryOp op, kernel::Base base, kernel::Expr left,
                                      kernel::Expr right) const;
  /// @brief Where @p expr, on lanes, is not zero.
  [[nodiscard]] kernel::Expr nonzero(kernel::Expr expr) const;
  /// @brief A condition that is the same for all lanes.
  [[nodiscard]] kernel::Expr spread_condition(kernel::Expr condition) const;
  /// @brief A mask as C's int: 1 where it is on.
  [[nodiscard]] kernel::Expr truth(kernel::Expr mask) const;
  /// @brief A mask of any width as a mask for values of @p base.
  [[nodiscard]] kernel::Expr mask_for(kernel::Base base, kernel::Expr mask) const;
  [[nodiscard]] static kernel::Expr both(kernel::Expr left, kernel::Expr right);

  /// @brief A call of a function over these lanes.
  [[nodiscard]] kernel::Expr call(kernel::LaneOp op, kernel::Base base,
                                  std::vector<kernel::Expr> arguments, kernel::Type type,
                                  std::string function = "") const;

 private:
  [[nodiscard]] kernel::Expr to_complex(kernel::Base base, kernel::Expr expr) const;
  [[nodiscard]] kernel::Expr resized(kernel::Base base, const kernel::Expr& expr) const;
  [[nodiscard]] kernel::Expr part_of(std::string function, kernel::Expr expr) const;
  [[nodiscard]] kernel::Expr same(kernel::Expr left, kernel::Expr right) const;

  int lanes_;
  kernel::Base mask_;
};

}  // namespace op2::lower
