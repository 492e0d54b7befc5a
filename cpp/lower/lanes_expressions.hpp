// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ir/kernel_body.hpp"
#include "lower/lanes_values.hpp"
#include "lower/lanes_varying.hpp"

namespace op2::lower {

/// @brief Expressions of one function, retyped: what depends on the element becomes a vector.
///
/// Keeps the mask of the lanes that are on, because stores, divisions and look-ups must leave the
/// others alone.
class LaneExpressions {
 public:
  /// @brief Name of the retyped function of an instance.
  using NameOf = std::function<std::string(const LaneInstance&)>;

  /// @param[in] mask Lanes that are on when the function begins; nothing: all of them.
  LaneExpressions(LaneInstances& instances, const LaneInstance& in, LaneValues values,
                  NameOf name_of, std::optional<ir::Expr> mask)
      : instances_(instances),
        in_(in),
        values_(values),
        name_of_(std::move(name_of)),
        mask_(std::move(mask)) {}

  [[nodiscard]] bool varies(const ir::Expr& expr) const { return instances_.varies(in_, expr); }
  /// @brief The type that @p variable has on lanes. @throws Refusal
  [[nodiscard]] ir::Type retyped(ir::Type type, const std::string& variable) const;

  /// @brief An expression whose value is used. @throws Refusal
  ir::Expr value(const ir::Expr& expr);
  /// @brief The value converted to @p base, on lanes. @throws Refusal
  ir::Expr value_on_lanes(ir::Base base, const ir::Expr& expr);
  /// @brief An expression whose value is not used. @throws Refusal
  ir::Expr effect(const ir::Expr& expr);
  /// @brief @p expr as a mask of the kernel's width; what does not vary is spread over the lanes.
  ir::Expr mask(const ir::Expr& expr);
  /// @brief @p condition where the lanes that are on now are on.
  [[nodiscard]] ir::Expr masked(ir::Expr condition) const;

  /// @brief Run @p make while only the lanes of @p on count.
  template <class Make>
  auto under(const ir::Expr& on, const Make& make) {
    const std::optional<ir::Expr> outer = std::exchange(mask_, on);
    ++n_nested_;
    auto made = make();
    --n_nested_;
    mask_ = outer;
    return made;
  }

 private:
  ir::Expr rebuilt(const ir::Expr& expr);
  ir::Expr value_of(const ir::Unary& node, const ir::Expr& expr);
  ir::Expr value_of(const ir::Binary& node, const ir::Expr& expr);
  ir::Expr value_of(const ir::Call& node, const ir::Expr& expr);
  ir::Expr value_of(const ir::Cast& node, const ir::Expr& expr);
  ir::Expr choice(const ir::Expr& expr);
  ir::Expr with_value(const ir::Expr& target, ir::Expr assigned);
  ir::Expr step(ir::UnaryOp op, const ir::Expr& target);
  ir::Expr assign(std::optional<ir::BinaryOp> op, const ir::Expr& target, const ir::Expr& operand);
  [[nodiscard]] bool subscript_varies(const ir::Expr& expr) const;
  ir::Expr element(const ir::Expr& expr);
  std::pair<ir::Expr, ir::Expr> place(const ir::Expr& expr);
  ir::Expr put(const ir::Expr& target, ir::Expr result, bool is_merged);

  LaneInstances& instances_;
  const LaneInstance& in_;
  LaneValues values_;
  NameOf name_of_;
  std::optional<ir::Expr> mask_;  // lanes that are on; nothing: all of them
  int n_nested_ = 0;              // masks since the function began
};

}  // namespace op2::lower
