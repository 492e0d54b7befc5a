// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ir/loop.hpp"

namespace op2::lower {

/// @brief A member's kernel with its Consts as hidden parameters, in the order of the Group: a
/// Const of one value by value, others as a pointer.
/// @throws UnsupportedError if the kernel is opaque, so that its names are not known.
[[nodiscard]] kernel::Kernel with_constants(const ir::Group& group, std::size_t member = 0);

}  // namespace op2::lower
