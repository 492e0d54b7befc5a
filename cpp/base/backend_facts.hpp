// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/tuning.hpp"

namespace op2 {

/// @brief How functions come to run: work items in sequence, on several threads, or on the lanes of
/// a device with launches by the host. Only consequences of the way to run depend on Lanes; every
/// other difference between machines is a separate fact.
enum class Lanes : std::uint8_t { one, threads, grid };

inline constexpr std::string_view lanes_names[] = {"one", "threads", "grid"};

/// @brief The abilities of a backend. Passes read the facts, never the backend's name. Each fact
/// has a single meaning, so other machines can be other combinations.
struct Facts {
  Lanes lanes = Lanes::one;
  bool atomics = false;            ///< of every real scalar type, by any means (CAS included)
  int warp = 0;                    ///< lanes with an exchange of registers; 0: none
  bool one_address_space = true;   ///< a single type of pointer reaches private and shared memory
  bool complex_arithmetic = true;  ///< otherwise complex numbers can only be moved
  bool float64 = true;
  bool fetches = false;         ///< indices can be read past the caches
  bool fences = false;          ///< a block can see writes of another block of the same launch
  bool any_kernel = false;      ///< of any text: unparsed, with headers, with any calls
  bool rows_in_place = false;   ///< a kernel works on an element's own row in place, uncopied
  bool const_optional = false;  ///< a kernel may leave out the const of read-only values

  // of a grid
  bool vectors_in_lane = false;   ///< a lane has separate vectors, for elements side by side
  bool runs_in_lane = false;      ///< a lane takes elements that follow each other: the lanes of a
                                  ///< block do not run at the same time, and share a cache
  bool fast_shared = true;        ///< memory shared by a block is faster than its cache
  bool private_on_stack = false;  ///< private arrays of all of a block's lanes lie on a common
                                  ///< stack
  std::int64_t shared_bytes =
      48 << 10;  ///< of a block's memory: decides on strategies, not on text
  bool operator==(const Facts&) const = default;

  /// @brief The facts of this backend restricted to a concrete device. A device may compute in
  /// single precision only, or exchange registers among another number of lanes. The cores of a
  /// processor are the blocks of a grid.
  /// @param[in] device_warp, device_shared_bytes 0: the backend's.
  [[nodiscard]] constexpr Facts on(bool is_processor, bool has_float64, int device_warp = 0,
                                   std::int64_t device_shared_bytes = 0) const {
    Facts facts = *this;
    facts.float64 = float64 && has_float64;
    if (warp > 0 && device_warp > 0) facts.warp = device_warp;
    facts.vectors_in_lane = facts.runs_in_lane = facts.private_on_stack = is_processor;
    facts.fast_shared = !is_processor;
    if (device_shared_bytes > 0) facts.shared_bytes = device_shared_bytes;
    return facts;
  }
};

/// @brief Facts from the sizes of Sets and the layout of values, taken for granted by code.
struct Widths {
  int element_bytes = 4;   ///< plan arrays: width of element numbers
  int entry_bytes = 4;     ///< plan arrays: width of element number times slots
  int target_bytes = 4;    ///< plan arrays: width of target numbers
  int position_bytes = 1;  ///< plan arrays: width of places within a matrix's row: 1, 2 or 4
  bool padded = false;     ///< on a grid: incidences as columns of equal length
  int columns = 0;         ///< padded: no target has more incidences; 0: not known
  bool summed = false;     ///< on a GPU: enough is added for a sum by blocks first
  bool scattered = false;  ///< on a GPU: lanes side by side would add to memory far apart
  bool gathered = false;   ///< on a GPU: elements add enough to one target each, and targets have
                           ///< similar numbers of elements; decides on strategies, not on text
  int index_bytes = 8;     ///< on a grid: width of all index arithmetic
  std::vector<int> soa = {};  ///< on a grid: arguments whose Dats lie as structures of arrays
  bool operator==(const Widths&) const = default;
};

/// @brief The class of devices whose default numbers fit a backend.
[[nodiscard]] constexpr DeviceClass class_of(const Facts& facts) {
  if (facts.lanes != Lanes::grid) return DeviceClass::host;
  return facts.vectors_in_lane ? DeviceClass::processor : DeviceClass::gpu;
}

}  // namespace op2
