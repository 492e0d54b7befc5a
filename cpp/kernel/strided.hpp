// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief A kernel whose array @p parameter has @p stride scalars from one entry to the next.
///
/// So an array that lies between those of other elements need not be copied. Loops around its
/// entries, of at most @p most_steps with those within them, are marked as unrolled.
/// @return Nothing if the array is used otherwise than entry by entry, such as handed on to another
/// function or walked through by a pointer, or if it is not an array of scalars.
[[nodiscard]] std::optional<KernelBody> with_stride(const KernelBody& body, std::size_t parameter,
                                                    int stride, std::int64_t most_steps);

}  // namespace op2::kernel
