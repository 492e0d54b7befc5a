// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/access.hpp"
#include "base/backend_facts.hpp"
#include "base/tuning.hpp"
#include "plan/plan_cache.hpp"

/// The rules from sizes and meshes to the text of a loop, and the number of bytes that a loop
/// moves.
namespace op2::plan {

/// @brief A Map of a loop.
struct SizedMap {
  std::int64_t id = 0;          ///< equal numbers: the same Map
  MapPointer table = nullptr;   ///< null: unknown values, as in static mode
  std::int64_t n_targets = -1;  ///< -1: not known
  int arity = 1;
  int index_bytes = 4;
  std::vector<int> slots = {};  ///< the entries of a row that are used; empty: all
};

/// @brief An argument of a loop. Values common to all elements have no rows and no Map.
struct SizedArgument {
  std::int64_t data = 0;  ///< equal numbers: the same values
  Access access = Access::read;
  int map = -1;                   ///< number of the Map to rows; -1: none
  int columns = -1;               ///< of a matrix with entries found by places: the Map to columns
  int target = -1;                ///< the argument's Map to shared values
  std::int64_t n_scalars = 0;     ///< passed to an element's kernel
  std::int64_t n_rows = 0;        ///< of a Dat, or of a matrix in memory in the form of a Dat
  std::int64_t row_scalars = 0;   ///< from a row to the next
  std::int64_t row_bytes = 0;     ///< of the used scalars of a row
  std::int64_t matrix_bytes = 0;  ///< of all values of a matrix; of others 0
  std::int64_t matrix_scalars = 0;  ///< the same as a number of scalars; 0: not known
  int position_bytes = 1;           ///< of a place in a row of the matrix
  bool is_soa = false;              ///< lies on a device as a structure of arrays
};

/// @brief The facts of a loop, as far as sizes and Maps decide the text.
struct LoopSizes {
  std::int64_t n_items = 0;     ///< work items
  std::int64_t n_entities = 0;  ///< rows of Maps in use: columns of an extruded Set
  std::int64_t n_whole = -1;    ///< entities of the Set where Maps start; -1: not known
  bool is_whole = true;         ///< all of a Set without extrusion
  int n_slots = 1;              ///< ways from an element to written values
  std::vector<SizedMap> maps = {};
  std::vector<SizedArgument> arguments = {};
};

/// @brief Whether every index into an argument, a Map or a plan's array fits into 32 bits, with
/// room to stride.
/// @param[in] most_padding Entries of padded columns for each incidence, at most.
[[nodiscard]] bool fits_narrow(const LoopSizes& loop, double most_padding);

/// @brief Whether padding columns costs little, as targets have similar numbers of elements; true
/// where values of Maps are not known, as on most meshes.
[[nodiscard]] bool is_evenly_covered(const LoopSizes& loop, double most_padding, PlanCache& plans,
                                     int n_threads);

/// @brief The most elements for a target by the only Map of reductions; 0: there are several, or
/// the values are not known.
[[nodiscard]] std::int64_t largest_degree(const LoopSizes& loop, PlanCache& plans, int n_threads);

/// @brief Bytes of incidences, elements times slots, in plan arrays.
[[nodiscard]] int entry_bytes(const LoopSizes& loop);

/// @brief Everything that a function's text takes for granted of sizes and meshes.
/// @param[in] whole The function.
/// @param[in] members The loops in the function, the loop of the counted incidences first; none: a
/// single loop.
[[nodiscard]] Widths widths_of(const LoopSizes& whole, const std::vector<LoopSizes>& members,
                               const Facts& facts, const Tuning& tuning, PlanCache& plans,
                               int n_threads);

/// @brief Bytes that a call must move: each Dat and each Map entry once, values read and written
/// both ways; without values handed on between members.
/// @param[in] zeroed Numbers of Dats whose values are known, and not read.
/// @param[in] dropped Numbers of Dats whose values are not stored.
[[nodiscard]] std::int64_t useful_bytes(const std::vector<LoopSizes>& members,
                                        const std::set<std::int64_t>& zeroed = {},
                                        const std::set<std::int64_t>& dropped = {});

}  // namespace op2::plan
