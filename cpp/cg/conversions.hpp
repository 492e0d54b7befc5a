// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/dtype.hpp"
#include "cg/context.hpp"

namespace op2::cg {

/// @brief @p value as a real number, or a vector of @p lanes of them, of another type.
///
/// Numbers of 16 bits are words in the text, and converted by their bits: languages and compilers
/// differ in their types. Each is rounded once, as base/half.hpp has it.
/// @param[in] lanes 0: a number.
[[nodiscard]] std::string converted(Context& context, DType from, DType to, int lanes,
                                    const std::string& value);

}  // namespace op2::cg
