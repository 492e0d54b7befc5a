// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/access.hpp"
#include "base/backend_facts.hpp"
#include "base/tuning.hpp"
#include "plan/plan_cache.hpp"

/// The rules by which sizes and meshes decide the text of a loop, and how much a loop moves.
namespace op2::plan {

/// @brief A Map of a loop.
struct SizedMap {
  std::int64_t id = 0;          ///< equal numbers: the same Map
  MapPointer table = nullptr;   ///< null: its values are not known, as in static mode
  std::int64_t n_targets = -1;  ///< -1: not known
  int arity = 1;
  int index_bytes = 4;
};

/// @brief An argument of a loop. What is the same for all elements has no rows and no Map.
struct SizedArgument {
  std::int64_t data = 0;  ///< equal numbers: the same values
  Access access = Access::read;
  int map = -1;                  ///< number of the Map to rows; -1: none
  int columns = -1;              ///< of a matrix whose entries are found by places: that to columns
  int target = -1;               ///< which of them leads to what elements share
  std::int64_t n_scalars = 0;    ///< that an element's kernel gets
  std::int64_t n_rows = 0;       ///< of a Dat, or of a matrix that lies in memory as a Dat does
  std::int64_t row_scalars = 0;  ///< from one row to the next
  std::int64_t row_bytes = 0;    ///< of the scalars of a row that are used
  std::int64_t matrix_bytes = 0;    ///< of all values of a matrix; of others 0
  std::int64_t matrix_scalars = 0;  ///< the same as a number of scalars; 0: not known
  int position_bytes = 1;           ///< of a place in a row of the matrix
  bool is_soa = false;              ///< lies on a device as a structure of arrays
};

/// @brief A loop, as far as sizes and Maps decide its text.
struct LoopSizes {
  std::int64_t n_items = 0;     ///< work items
  std::int64_t n_entities = 0;  ///< rows of Maps that are read: columns of an extruded Set
  std::int64_t n_whole = -1;    ///< entities of the Set that Maps start on; -1: not known
  bool is_whole = true;         ///< all of a Set that is not extruded
  int n_slots = 1;              ///< ways by which an element reaches what it writes
  std::vector<SizedMap> maps = {};
  std::vector<SizedArgument> arguments = {};
};

/// @brief Whether every index into an argument, a Map or a plan's array fits into 32 bits, with
/// room to stride.
/// @param[in] most_padding Entries that padded columns may hold for each incidence.
[[nodiscard]] bool fits_narrow(const LoopSizes& loop, double most_padding);

/// @brief Whether padding columns costs little, as targets have similar numbers of elements; true
/// where values of Maps are not known, as on most meshes.
[[nodiscard]] bool is_evenly_covered(const LoopSizes& loop, double most_padding, PlanCache& plans,
                                     int n_threads);

/// @brief The most elements that lead to a target by the only Map that is reduced through; 0: there
/// are several, or its values are not known.
[[nodiscard]] std::int64_t largest_degree(const LoopSizes& loop, PlanCache& plans, int n_threads);

/// @brief Bytes of incidences, elements times slots, in plan arrays.
[[nodiscard]] int entry_bytes(const LoopSizes& loop);

/// @brief Everything that a function's text takes for granted of sizes and meshes.
/// @param[in] whole The function.
/// @param[in] members The loops that it is made of, first the one whose incidences are counted;
/// none: it is one loop.
[[nodiscard]] Widths widths_of(const LoopSizes& whole, const std::vector<LoopSizes>& members,
                               const Facts& facts, const Tuning& tuning, PlanCache& plans,
                               int n_threads);

/// @brief Bytes that one call must move: each Dat and each Map entry once, what is read and written
/// both ways; not what one member hands on to the next.
/// @param[in] zeroed Numbers of Dats whose values are known, and not read.
/// @param[in] dropped Numbers of Dats whose values are not stored.
[[nodiscard]] std::int64_t useful_bytes(const std::vector<LoopSizes>& members,
                                        const std::set<std::int64_t>& zeroed = {},
                                        const std::set<std::int64_t>& dropped = {});

}  // namespace op2::plan
