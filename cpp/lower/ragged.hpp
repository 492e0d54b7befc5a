// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/loop.hpp"
#include "lower/options.hpp"

namespace op2::lower {

/// @brief Why ways that need as many rows of each element do not serve a ragged Map.
inline constexpr const char* ragged_rows = "rows of a ragged Map differ in length";

/// @brief True if an argument goes through a ragged Map; a matrix by rows or columns of one.
[[nodiscard]] bool is_ragged(const ir::Group& group, const ir::Arg& arg);
[[nodiscard]] bool is_ragged(const ir::Group& group);

/// @brief A member's kernel as it is called: with its Consts, and with lists of rows behind them.
struct CalledKernel {
  kernel::Kernel kernel;
  std::vector<std::size_t> listed;  ///< arguments of the Group, in the order of the lists
};

/// @brief The kernel of @p member that reads what it can of rows of ragged Maps in place. The other
/// arguments through such Maps have a pack, so that their rows are at most `most_ragged`.
///
/// An argument is read in place if the kernel's text uses it entry by entry, and if the loop
/// writes none of its memory, which the kernel would see.
/// @throws UnsupportedError as with_constants() does.
[[nodiscard]] CalledKernel called_kernel(const ir::Group& group, std::size_t member,
                                         const std::vector<MapFacts>& maps, const Options& options);

/// @brief The arguments with packs, as numbers of Group::args.
[[nodiscard]] std::vector<std::size_t> packed_ragged(const ir::Group& group,
                                                     const std::vector<MapFacts>& maps,
                                                     const Options& options);

}  // namespace op2::lower
