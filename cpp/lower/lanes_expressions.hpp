// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "kernel/body.hpp"
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
                  NameOf name_of, std::optional<kernel::Expr> mask)
      : instances_(instances),
        in_(in),
        values_(values),
        name_of_(std::move(name_of)),
        mask_(std::move(mask)) {}

  [[nodiscard]] bool varies(const kernel::Expr& expr) const { return instances_.varies(in_, expr); }
  /// @brief The type that @p variable has on lanes. @throws Refusal
  [[nodiscard]] kernel::Type retyped(kernel::Type type, const std::string& variable) const;

  /// @brief An expression whose value is used. @throws Refusal
  kernel::Expr value(const kernel::Expr& expr);
  /// @brief The value converted to @p base, on lanes. @throws Refusal
  kernel::Expr value_on_lanes(kernel::Base base, const kernel::Expr& expr);
  /// @brief An expression that a statement of a plain kernel evaluates. @throws Refusal
  kernel::Expr effect(const kernel::Expr& expr);
  /// @brief @p expr as a mask of the kernel's width; what does not vary is spread over the lanes.
  kernel::Expr mask(const kernel::Expr& expr);
  /// @brief @p condition where the lanes that are on now are on.
  [[nodiscard]] kernel::Expr masked(kernel::Expr condition) const;

  /// @brief Run @p make while only the lanes of @p on count.
  template <class Make>
  auto under(const kernel::Expr& on, const Make& make) {
    const std::optional<kernel::Expr> outer = std::exchange(mask_, on);
    ++n_nested_;
    auto made = make();
    --n_nested_;
    mask_ = outer;
    return made;
  }

 private:
  kernel::Expr rebuilt(const kernel::Expr& expr);
  kernel::Expr value_of(const kernel::Unary& node, const kernel::Expr& expr);
  kernel::Expr value_of(const kernel::Binary& node, const kernel::Expr& expr);
  kernel::Expr value_of(const kernel::Call& node, const kernel::Expr& expr);
  kernel::Expr value_of(const kernel::Cast& node, const kernel::Expr& expr);
  kernel::Expr choice(const kernel::Expr& expr);
  kernel::Expr assign(std::optional<kernel::BinaryOp> op, const kernel::Expr& target,
                      const kernel::Expr& operand);
  [[nodiscard]] bool subscript_varies(const kernel::Expr& expr) const;
  kernel::Expr element(const kernel::Expr& expr);
  std::pair<kernel::Expr, kernel::Expr> place(const kernel::Expr& expr);
  kernel::Expr put(const kernel::Expr& target, kernel::Expr result, bool is_merged);

  LaneInstances& instances_;
  const LaneInstance& in_;
  LaneValues values_;
  NameOf name_of_;
  std::optional<kernel::Expr> mask_;  // lanes that are on; nothing: all of them
  int n_nested_ = 0;                  // masks since the function began
};

}  // namespace op2::lower
