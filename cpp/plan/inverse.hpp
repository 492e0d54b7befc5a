// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "plan/conflict.hpp"
#include "plan/index_array.hpp"

namespace op2::plan {

/// @brief One slot of one map: a place in the loop's arguments where an element names a target.
struct Occurrence {
  MapPointer map;
  int slot = 0;
};

/// @brief In which order a target visits its incidences. Fixed, so that sums are reproducible.
enum class IncidenceOrder {
  by_element,  ///< by element, then occurrence: the order in which a serial loop would get there
  by_slot,     ///< by occurrence, then element: neighbouring targets do the same thing together
};

/// @brief What to invert, and how to lay the result out.
struct InverseSpec {
  Elements elements;
  std::vector<Occurrence> occurrences;
  IncidenceOrder order = IncidenceOrder::by_element;
  EntryOrigin origin = EntryOrigin::element;
  /// Rows only for targets that have incidences: right for loops that touch few of many targets.
  bool touched_only = false;
};

/// @brief For every target the elements that name it, as compressed rows.
///
/// An incidence is stored as one number, element * n_occurrences + occurrence. Nothing is
/// deduplicated: an element that names a target through two slots appears twice.
struct InverseMap {
  std::int64_t n_targets = 0;
  std::int64_t n_rows = 0;
  int n_occurrences = 0;
  std::int64_t degree_max = 0;
  IncidenceOrder order = IncidenceOrder::by_element;
  std::int64_t n_core_rows = 0;      ///< so many, the first ones, have no element at the boundary
  bool lists_rows = false;           ///< otherwise row t is that of target t
  IndexArray rows;                   // [n_rows] target of each row, ascending within what is core
                                     // and within the rest; lists_rows
  std::vector<std::int64_t> offset;  // [n_rows + 1] into entries
  IndexArray entries;                // [offset.back()]

  [[nodiscard]] std::int64_t n_entries() const { return offset.back(); }
  [[nodiscard]] double degree_mean() const;
  [[nodiscard]] std::int64_t bytes() const;
};

/// @brief The same incidences as columns of equal length, so that consecutive lanes read
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
/// Negative map entries have no incidence. If some elements are at a boundary, rows that have none
/// of them come first, and rows are listed. Independent of @p n_threads.
/// @throws UsageError if occurrences end on sets of different size or do not fit the elements, or
/// entries name elements of a subset that has a boundary, which counts positions.
[[nodiscard]] InverseMap invert(const InverseSpec& spec, int n_threads);

/// @brief For each row 1 where it has incidences, else 0.
[[nodiscard]] std::vector<std::uint8_t> present(const InverseMap& inverse);

/// @brief Pad compressed rows to columns: column j holds the j-th incidence of each row.
[[nodiscard]] PaddedInverse pad(const InverseMap& inverse, int n_threads);

}  // namespace op2::plan
