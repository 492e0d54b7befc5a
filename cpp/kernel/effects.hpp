// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief True for `++` and `--`, before or behind their operand.
[[nodiscard]] bool is_step(UnaryOp op);
[[nodiscard]] bool is_step(const Expr& expr);
/// @brief True for `++` and `--` behind their operand: the value is that of before.
[[nodiscard]] bool is_post_step(UnaryOp op);
/// @brief True for `++`; false for `--`.
[[nodiscard]] bool is_up(UnaryOp step);
/// @brief The same step before its operand, for a step whose value is not used.
[[nodiscard]] UnaryOp without_value(UnaryOp step);

/// @brief True for an assignment, `=` or `op=`, and for a step.
[[nodiscard]] bool is_store(const Expr& expr);

/// @brief Says whether a call changes nothing, operands apart, where C's library does not tell.
using CallRule = std::function<bool(const Expr& call)>;

/// @brief True if @p expr itself changes nothing; what its operands do is not looked at.
[[nodiscard]] bool has_no_own_effect(const Expr& expr, const CallRule& is_harmless);

/// @brief True if evaluating @p expr changes nothing, so that it may stand twice for one value.
///
/// A function of C's library changes what it stores through a pointer; any other function has an
/// effect, unless @p is_harmless says that it has none.
[[nodiscard]] bool has_no_effect(const Expr& expr, const CallRule& is_harmless);
[[nodiscard]] bool has_no_effect(const Expr& expr);

}  // namespace op2::kernel
