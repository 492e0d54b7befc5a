// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief A kernel after sum factorization.
struct Contracted {
  KernelBody body;
  Contraction done;
};

/// @brief Sum factorization: sums over products of one-dimensional tables become one sum for each
/// dimension.
///
/// A nest of loops over points, `q0`, `q1`, ... with constant bounds, may hold two forms of sums:
/// - evaluation: `s += f(i0, i1, ...) * T0[q0][i0] * T1[q1][i1] * ...`, in loops over `i0`, `i1`,
///   ...; equal partial sums of several evaluations are computed once;
/// - its transpose: `A[i0, i1, ...] += g * T0[q0][i0] * T1[q1][i1] * ...`, where `g` belongs to the
///   point; sums with equal tables in the outer dimensions are added before these are applied.
///
/// A table depends on one point loop and on one loop of the sum or more (two for matrices). With p
/// points and functions a direction in three dimensions, p^6 products become some 3 p^4.
///
/// Values stay equal up to rounding. Arrays of different parameters do not overlap.
/// @return Nothing if no sum has such a form, or if nothing is gained.
[[nodiscard]] std::optional<Contracted> contracted(const KernelBody& body);

}  // namespace op2::kernel
