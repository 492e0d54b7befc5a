// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "plan/conflict.hpp"
#include "plan/index_array.hpp"

namespace op2::plan {

/// @brief How a colouring turned out; decides between strategies and explains a slow loop.
struct ColourStatistics {
  std::int64_t n_colours = 0;
  std::int64_t n_items_min = 0;  ///< items of the smallest colour
  std::int64_t n_items_max = 0;  ///< items of the largest colour
  std::int64_t n_touched = 0;    ///< targets of at least one item
  std::int64_t n_shared = 0;     ///< targets of two or more items

  bool operator==(const ColourStatistics&) const = default;
};

/// @brief Blocks of consecutive elements, coloured: no two of the same colour share a target.
struct BlockPlan {
  std::int64_t block_size = 0;
  std::vector<std::int64_t> block_offset;   // [n_blocks + 1] positions in the loop's elements
  std::vector<std::int64_t> colour_offset;  // [n_colours + 1] into block_of
  std::vector<std::int64_t> block_of;       // [n_blocks] blocks by colour, ascending within a
                                            // colour
  std::int64_t n_core_blocks = 0;  ///< the first blocks of block_of, without a reach to the
                                   ///< boundary
  ColourStatistics statistics;

  [[nodiscard]] std::int64_t bytes() const;
};

/// @brief Elements by colour: no two of the same colour share a target.
struct ElementPlan {
  std::vector<std::int64_t> colour_offset;  // [n_colours + 1] into elements
  IndexArray elements;                      // [n] elements, or positions, by colour, in order
  ColourStatistics statistics;

  [[nodiscard]] std::int64_t bytes() const;
};

/// @brief Cut the elements into blocks of @p block_size and colour them.
///
/// First-fit in order, then evened out: first-fit leaves a few small last colours, each a parallel
/// step with hardly any work, so a second sweep moves blocks from large colours to small ones (with
/// up to 64 colours; beyond, the numbering is the trouble). Independent of @p n_threads. A target
/// touched by the same block more than once is no conflict. No block has elements on both sides of
/// Elements::n_core, and no colour blocks of both sides: the last block before n_core may be
/// shorter, and colours before n_core come first. A block whose end would fall inside a column is
/// longer, unless blocks have a single element.
/// @throws UsageError if block_size < 1, or the conflicts do not fit the elements.
[[nodiscard]] BlockPlan colour_blocks(const ConflictSet& loop, std::int64_t block_size,
                                      int n_threads);

/// @brief Colour the elements one by one, in the same way.
/// @throws UsageError if the conflicts do not fit the elements.
[[nodiscard]] ElementPlan colour_elements(const ConflictSet& loop, int n_threads);

}  // namespace op2::plan
