// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/dtype.hpp"
#include "cg/context.hpp"

namespace op2::cg {

/// @brief True if one instruction fetches several values of @p dtype for @p lanes lanes: doubles
/// and floats, four or eight at a time.
[[nodiscard]] bool has_gather_instruction(DType dtype, int lanes, int gather_bytes);

/// @brief Name of `void f(T *out, const scalar *data, int64 lanes at)`, which is defined if it was
/// not: `out[c]` gets component c of the row that starts at `data[at]` for each lane.
///
/// Printed with the builtins of AVX-512 or AVX2, of which GCC and Clang have the same ones under
/// different names; the compiler rejects it for machines without them.
/// @param[in] gather_bytes Of the machine's widest gathers: 64 or 32.
std::string gather_instruction(Context& context, DType dtype, int lanes, int dim, int gather_bytes);

}  // namespace op2::cg
