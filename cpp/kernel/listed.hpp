// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief Rows of a Dat that a kernel reads by their numbers.
struct ListedRows {
  int dim;        ///< used scalars of a row
  int stride;     ///< scalars from a row to the next
  int component;  ///< of the row, where the used ones begin
  Base index;     ///< of the numbers
};

/// @brief A kernel reading its array @p parameter in place, without a pack: entry `dim * i + c` is
/// component c of the row with the number `list[i]`. The list is a new parameter at the end of the
/// entry function, and @p parameter begins at the first row of all.
///
/// Subscripts that are sums of multiples of `dim` and of what is smaller than `dim` need no
/// division.
/// @return Nothing if the array is written, or used otherwise than entry by entry, such as handed
/// on to another function or walked through by a pointer, or if it is not an array of scalars.
[[nodiscard]] std::optional<KernelBody> with_list(const KernelBody& body, std::size_t parameter,
                                                  const ListedRows& rows);

}  // namespace op2::kernel
