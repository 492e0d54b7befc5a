// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "ir/kernel_body.hpp"

namespace op2::ir {

/// @brief A kernel whose array @p parameter has @p stride scalars from one entry to the next.
///
/// So an array that lies between those of other elements need not be copied. Short loops around
/// its entries are marked as unrolled.
/// @return Nothing if the array is used otherwise than entry by entry, such as handed on to another
/// function or walked through by a pointer, or if it is not an array of scalars.
[[nodiscard]] std::optional<KernelBody> with_stride(const KernelBody& body, std::size_t parameter,
                                                    int stride);

}  // namespace op2::ir
