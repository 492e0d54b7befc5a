// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "base/dtype.hpp"
#include "exec/column.hpp"

namespace op2::exec {

/// Algebra of Dats and Globals, ready for all dtypes: nothing is compiled for an expression.

enum class Elementwise : std::uint8_t { add, subtract, multiply, divide };

/// @brief The operation written as @p symbol: + - * /. @throws UsageError
[[nodiscard]] Elementwise elementwise_from(std::string_view symbol);

/// @brief The dtype in which two dtypes are combined: C's, but all narrow integers count as int64.
[[nodiscard]] DType common(DType left, DType right);

/// @brief `out[i] = left[i] op right[i]`, in C's common type of both, converted to the type of @p
/// out.
///
/// Quotients of integers are truncated towards zero. Operands may be @p out itself.
/// @throws UsageError for a division of an integer by 0, or columns of different length; nothing is
/// changed then.
void combine(Elementwise op, const Column& out, const Column& left, const Column& right,
             int n_threads);

/// @brief `y[i] += alpha * x[i]`; @p alpha of stride 0. @throws UsageError if lengths differ.
void axpy(const Column& alpha, const Column& x, const Column& y, int n_threads);

/// @brief The sum of `x[i] * y[i]`, or of `x[i] * conj(y[i])`.
///
/// Partial sums belong to pieces of fixed length and are added in order, so the bits do not depend
/// on @p n_threads. float32 is summed in float64.
/// @throws UsageError if lengths differ.
[[nodiscard]] Scalar dot(const Column& x, const Column& y, bool conjugate, int n_threads);

}  // namespace op2::exec
