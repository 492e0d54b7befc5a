// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief Give every expression its C type, by C's own conversions.
///
/// Run after parsing and after anything that adds declarations (bind_constants). An expression
/// that depends on an undeclared name or an unknown function keeps the unknown type: it is the
/// compiler that reports such names, at the user's line. Subscripts come out with the array as the
/// first operand, also where the text has `2[x]`.
[[nodiscard]] KernelBody infer_types(KernelBody body);

/// @brief The type of an expression's value: an array is a pointer, and its own qualifiers are
/// gone.
[[nodiscard]] Type value_type(const Type& type);
/// @brief What C converts the operands of an arithmetic operator or a comparison to.
[[nodiscard]] Base common_base(Base left, Base right);
/// @brief What C's integer promotion makes of @p base.
[[nodiscard]] Base promoted(Base base);

/// @brief Whether a literal as spelled is a long double, e.g. "1.0L". Its type here is float64.
[[nodiscard]] bool is_long_double(std::string_view spelling);
/// @brief C's type of a literal as spelled, e.g. "1.0f" is float32, "'a'" is int32.
[[nodiscard]] Type type_of_literal(std::string_view spelling);

}  // namespace op2::kernel
