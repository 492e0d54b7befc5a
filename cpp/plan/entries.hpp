// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "mesh/map_table.hpp"
#include "plan/positions.hpp"
#include "plan/raw_vector.hpp"

namespace op2::plan {

/// @brief The cut of elements into blocks, and the form of an element's matrix.
struct EntryLayout {
  std::int64_t n_elements = 0;  ///< all of a Set, in order
  std::int64_t block_size = 0;  ///< elements a block
  int row_dim = 1;              ///< scalars of a block of the matrix
  int col_dim = 1;
  int place_bytes = 4;  ///< 4 or 8, of the result, as agreed with the reader

  /// @brief Scalars of a place of the matrix.
  [[nodiscard]] int place_scalars() const { return row_dim * col_dim; }
  /// @brief Scalars of the matrix of an element with so many rows and columns.
  [[nodiscard]] std::int64_t element_scalars(int row_arity, int col_arity) const {
    return std::int64_t{row_arity} * col_arity * place_scalars();
  }
};

/// @brief The same for a Map from elements to the rows of Dats that get additions.
struct TargetLayout {
  std::int64_t n_elements = 0;  ///< all of a Set, in order
  std::int64_t block_size = 0;  ///< elements a block
  int place_bytes = 4;          ///< 4 or 8, of the result
};

/// @brief The entries of a matrix that the elements of each block add to, and the added scalars:
/// the sums of a block before anybody else sees them.
///
/// An element's scalars are counted in the order of its matrix, row by row. Scalars without a
/// place, because of boundary conditions, are left out. Entries of a block are in the order of the
/// matrix.
///
/// For a Map places are targets, ascending in each block, and summands slots of elements: slot *
/// block_size + element within the block. Entries that lead nowhere are left out.
/// block_size + element within the block. Entries that lead nowhere are left out.
struct EntryBlocks {
  using Places = std::variant<RawVector<std::int32_t>, RawVector<std::int64_t>>;

  std::vector<std::int64_t> first_entry;   // [n_blocks + 1]
  Places places;                           // [n_entries] scalars from the start of the values
  RawVector<std::uint16_t> first_summand;  // [n_entries + n_blocks] within the block's summands;
                                           // a further number a block gives the end of the last
                                           // entry
  RawVector<std::uint16_t> summands;       // [n_elements * size] scalar * block_size + element
                                           // within the block, by entry, elements ascending

  [[nodiscard]] std::int64_t bytes() const;
};

/// @param[in] spec The source of @p positions; its elements are those of @p layout.
/// @throws UsageError if a block has more scalars than 16 bits count, or a place does not fit.
[[nodiscard]] EntryBlocks list_entries(const PositionSpec& spec, const Positions& positions,
                                       const EntryLayout& layout, int n_threads);

/// @brief The targets of @p map that the elements of each block add to.
/// @throws UsageError if a block has more entries than 16 bits count, a target does not fit, or the
/// map has fewer rows.
[[nodiscard]] EntryBlocks list_targets(const mesh::MapTable& map, const TargetLayout& layout,
                                       int n_threads);

/// @brief How many of the entries of a block of @p block_size elements lead to different targets,
/// as a part of all: small where neighbours share targets, 1 where they are numbered at random.
///
/// Found for some of the blocks of the first @p n elements; 0 where there is no entry.
/// @throws UsageError if the map has fewer rows, or blocks have no elements.
[[nodiscard]] double distinct_targets(const mesh::MapTable& map, std::int64_t n,
                                      std::int64_t block_size);

}  // namespace op2::plan
