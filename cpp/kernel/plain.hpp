// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief Told of the kernel after each pass that makes it plain.
using KernelObserver = std::function<void(std::string_view pass, const KernelBody& body)>;

/// @brief @p body in its plain form, for analyses and rewrites: it computes the same.
///
/// In a plain kernel each name is declared once in its function (as `x#2` where the user has
/// several `x`, see spelled()), and an expression has no effect (is_plain_value()). What has an
/// effect is a statement of its own, or stands in the head of a loop:
/// - a store: `place = value`, `place op= value`, `++place` or `place--`, whose value is not used;
/// - a call of a function of the kernel, or of one that stores through a pointer: alone, as the
///   value of a plain store, or as that of a declaration;
/// - a literal `(struct V){...}`, which makes a variable: the same, and what a function returns.
///
/// A function from a header of the user has an unknown result, and a Const has an unknown type
/// before a loop binds it. No local of this tree can hold such a value: the calls, and choices with
/// calls of functions, stay where C has them.
///
/// Operands whose order C leaves open are evaluated from left to right, if their types are known.
/// The new locals are called `op2_value1`, ...; one that holds what has an unknown type has an
/// unknown type itself, so that such a body can be analysed, but not printed (is_typed()). Lines
/// stay those of the user. What is plain already is left as it is.
///
/// @param[in] constants The Consts that the body uses, if their types are known by now.
/// @throws InternalError if a pass leaves a body that verify() refuses.
[[nodiscard]] KernelBody plain(KernelBody body, const std::vector<Variable>& constants = {},
                               const KernelObserver& observe = {});

/// @brief The same with such names as C has them, for printers; nothing if the type of a local is
/// unknown.
[[nodiscard]] std::optional<KernelBody> plain_in_c(KernelBody body,
                                                   const std::vector<Variable>& constants = {},
                                                   const KernelObserver& observe = {});

/// @brief True if no expression of @p body has an effect, but where a plain kernel lets it.
[[nodiscard]] bool is_plain(const KernelBody& body);

/// @brief True if the result may depend on an order of evaluation that C leaves open, as in
/// `f(y) + y[0]` where `f` stores to `y`. What the plain form says of such a kernel need not hold
/// for the user's text.
[[nodiscard]] bool has_open_order(const KernelBody& body);

/// @brief True if all variables have types.
[[nodiscard]] bool is_typed(const KernelBody& body);

/// @brief True if @p value has no effect, but for calls of functions whose result is unknown.
[[nodiscard]] bool is_plain_value(const Expr& value);
/// @brief True for `(struct V){...}`.
[[nodiscard]] bool is_struct_literal(const Expr& expr);
/// @brief True if a function of a plain kernel may return @p value.
[[nodiscard]] bool is_plain_result(const Expr& value);
/// @brief True if @p value may be evaluated by a statement of a plain kernel.
[[nodiscard]] bool is_plain_effect(const Expr& value);
/// @brief True if @p value may stand in the head of a loop: such effects, joined by commas.
[[nodiscard]] bool is_plain_head(const Expr& value);
/// @brief True if @p value may initialise a variable of a plain kernel.
[[nodiscard]] bool is_plain_initialiser(const Expr& value);

}  // namespace op2::kernel
