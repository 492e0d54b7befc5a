// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/dtype.hpp"
#include "cg/context.hpp"
#include "kernel/lane_functions.hpp"

namespace op2::cg {

/// @brief Whether `templates/lanes` has a function of vectors: "exp" of float32 is in `exp32.c`.
[[nodiscard]] bool has_lane_text(std::string_view function, DType dtype);

/// @brief A function of vectors from `templates/lanes`, with all functions that the text calls.
/// @param[in] function Name without a suffix for the type: "exp", "tanh".
/// @param[in] scalar Function of the language for a single value: "__builtin_sinf".
/// @param[in] basic Defines a blend or `any` for a type of vectors, and returns the name.
/// @return The function's name in this text.
std::string define_lane_text(Context& context, std::string_view function, DType dtype, int lanes,
                             const std::string& scalar,
                             const std::function<std::string(kernel::LaneOp)>& basic);

}  // namespace op2::cg
