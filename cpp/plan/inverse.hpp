// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "plan/conflict.hpp"
#include "plan/index_array.hpp"

namespace op2::plan {

/// @brief A slot (local index) of a map: a place in the loop's arguments where an element names a
/// target. `all_slots` stands for each slot in turn, of a ragged map for as many as its longest row
/// has, and needs the order by element.
struct Occurrence {
  MapPointer map;
  int slot = 0;
};

/// @brief The order of incidences of a target. Fixed, so sums are reproducible.
enum class IncidenceOrder {
  by_element,  ///< by element, then occurrence: the order of a serial loop
  by_slot,     ///< by occurrence, then element: neighbouring targets do the same thing together
};

/// @brief The input of an inversion, and the form of the result.
struct InverseSpec {
  Elements elements;
  std::vector<Occurrence> occurrences;
  IncidenceOrder order = IncidenceOrder::by_element;
  EntryOrigin origin = EntryOrigin::element;
  /// Rows only for targets with incidences: right for loops that touch few of many targets.
  bool touched_only = false;
  /// Only the first so many targets, such as those owned by the process; -1: all.
  std::int64_t n_first = -1;

  /// @brief The number of targets of the result.
  [[nodiscard]] std::int64_t n_targets() const;
};

/// @brief For every target (node, or degree of freedom) the elements that name the target, as
/// compressed rows: the plan of `owner`, a gather by target.
///
/// An incidence is stored as a number, element * n_occurrences + occurrence, where `all_slots` are
/// several occurrences. Nothing is deduplicated: an element that names a target through two slots
/// appears twice.
struct InverseMap {
  std::int64_t n_targets = 0;
  std::int64_t n_rows = 0;
  int n_occurrences = 0;
  std::int64_t degree_max = 0;
  IncidenceOrder order = IncidenceOrder::by_element;
  std::int64_t n_core_rows = 0;      ///< the first rows, without an element at the boundary
  bool lists_rows = false;           ///< otherwise row t is the row of target t
  IndexArray rows;                   // [n_rows] target of each row, ascending within the core
                                     // and within the rest; lists_rows
  std::vector<std::int64_t> offset;  // [n_rows + 1] into entries
  IndexArray entries;                // [offset.back()]

  [[nodiscard]] std::int64_t n_entries() const { return offset.back(); }
  [[nodiscard]] double degree_mean() const;
  [[nodiscard]] std::int64_t bytes() const;
};

/// @brief The same incidences as columns of equal length (ELLPACK), so consecutive lanes read
/// consecutive memory.
struct PaddedInverse {
  std::int64_t n_targets = 0;
  std::int64_t n_rows = 0;
  int n_occurrences = 0;
  std::int64_t width = 0;
  std::int64_t n_core_rows = 0;
  bool lists_rows = false;
  IndexArray rows;     // [n_rows] target of each row; lists_rows
  IndexArray columns;  // [width * n_rows] column-major, -1 where there is none

  [[nodiscard]] std::int64_t bytes() const;
};

/// @brief Invert the maps: for each target of the occurrences' common target set its incidences.
///
/// Negative map entries have no incidence. With elements at a boundary, rows without such elements
/// come first, and rows are listed. Independent of @p n_threads.
/// @throws UsageError if occurrences end on sets of different size or do not fit the elements, or
/// entries name elements of a subset with a boundary, which counts positions.
[[nodiscard]] InverseMap invert(const InverseSpec& spec, int n_threads);

/// @brief For each row 1 with incidences, else 0.
[[nodiscard]] std::vector<std::uint8_t> present(const InverseMap& inverse);

/// @brief Pad compressed rows to columns: column j holds the j-th incidence of each row.
[[nodiscard]] PaddedInverse pad(const InverseMap& inverse, int n_threads);

}  // namespace op2::plan
