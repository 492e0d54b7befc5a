// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ir/loop.hpp"

namespace op2::lower {

/// @brief The loop's kernel with its Consts as hidden parameters, in the order of the loop: a Const
/// of one value by value, others as a pointer.
/// @throws UnsupportedError if the kernel is opaque, so that its names are not known.
[[nodiscard]] ir::Kernel with_constants(const ir::Loop& loop);

}  // namespace op2::lower
