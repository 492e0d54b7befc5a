// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ir/kernel_body.hpp"

namespace op2::ir {

/// @brief Floating-point operations of one call of the entry function.
///
/// The dearer branch of an if counts, a loop with constant bounds in full, any other loop once. A
/// library function counts as one, complex operations as the real ones they are made of.
[[nodiscard]] std::int64_t n_operations(const KernelBody& body);

}  // namespace op2::ir
