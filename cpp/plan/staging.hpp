// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "plan/colouring.hpp"
#include "plan/conflict.hpp"

namespace op2::plan {

/// @brief The targets of each block's elements through a map.
struct StagingList {
  std::vector<std::int32_t> targets;     // [targets of all blocks] block by block, each ascending
  std::vector<std::uint16_t> positions;  // [n * arity] place of an entry among the block's targets
};

/// @brief Coloured blocks of elements for running side by side: a device's form of BlockPlan.
///
/// Arrays over blocks are in the order of the elements; `block_of` lists blocks by colour.
struct StagedPlan {
  std::vector<std::int64_t> colour_offset;     // [n_colours + 1] into block_of
  std::vector<std::int32_t> block_of;          // [n_blocks]
  std::vector<std::int64_t> first;             // [n_blocks] first element of a block
  std::vector<std::int32_t> n_elements;        // [n_blocks]
  std::vector<std::int32_t> n_thread_colours;  // [n_blocks]
  std::vector<std::int32_t> thread_colour;     // [n] colour of an element within its block
  std::vector<std::int32_t> n_targets;         // [n_blocks * n_lists] targets of a block in a list
  std::vector<std::int64_t> first_target;      // [n_blocks * n_lists] where they start in the list
  std::vector<StagingList> lists;              // [n_lists] one for each staged map
  std::int64_t n_core_blocks = 0;              ///< as BlockPlan says
  ColourStatistics statistics;                 // of the blocks

  [[nodiscard]] std::int64_t bytes() const;
};

/// @brief Cut the elements into blocks, colour the blocks and the elements of each block, and list
/// each block's targets through the @p staged maps.
///
/// No two elements of the same block and thread colour share a target. Independent of @p n_threads.
/// @param[in] staged May name a map twice; it then has two equal lists.
/// @throws UsageError as colour_blocks(), for a subset, for an entry that is no target, and if a
/// block may reach more targets than 16 bits count.
[[nodiscard]] StagedPlan stage(const ConflictSet& loop, const std::vector<MapPointer>& staged,
                               std::int64_t block_size, int n_threads);

}  // namespace op2::plan
