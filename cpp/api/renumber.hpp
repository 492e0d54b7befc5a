// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "api/op2.hpp"
#include "api/states.hpp"
#include "plan/curves.hpp"

/// Renumbering of meshes, so entities close in space are close in memory: `op2.renumber` of Python.
namespace op2 {

using plan::Curve;

/// @brief A Map with the writable memory of its values; the Map itself only reads them.
struct MapMemory {
  /// @throws UsageError if they are not the Map's values.
  template <int Arity, class Index>
  MapMemory(const Map<Arity, Index>& moved, std::type_identity_t<std::span<Index>> values)
      : MapMemory(moved.state(), std::as_writable_bytes(values)) {}

  api::MapPointer map;
  std::span<std::byte> bytes;  ///< the values

 private:
  MapMemory(api::MapPointer moved, std::span<std::byte> values);
};

/// @brief A Dat whose values move with the entities of its Set.
struct DatMemory {
  /// @param[in] moved The Dat itself, written to as values().
  template <class T, int Dim>
  DatMemory(const Dat<T, Dim>& moved) : dat(moved.state()) {}

  api::DataPointer dat;
};

/// @brief The result of renumber(): the way between the program's numbers and the numbers in use.
class Renumbering {
 public:
  struct State;
  /// @param[in] state From renumber().
  explicit Renumbering(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// @brief The original numbers, [set.size()], by current number.
  /// @throws UsageError if the Set was not renumbered, or the renumbering was undone.
  [[nodiscard]] std::span<const std::int64_t> order(const Set& set) const;

  /// @brief Give all Maps and Dats their original numbering back.
  /// @throws UsageError after an earlier undo().
  void undo();

 private:
  std::shared_ptr<State> state_;
};

namespace api {
[[nodiscard]] Renumbering renumbered(const std::vector<MapMemory>& maps,
                                     const std::vector<DatMemory>& dats, const DatMemory& root,
                                     std::span<const double> coordinates, int dim, Curve curve);
}  // namespace api

/// @brief Renumber the Sets connected by Maps, and all given objects on these Sets.
///
/// The Set of the coordinates is ordered along a curve through them. From there the order spreads
/// along the Maps: elements go by their smallest target, targets by the first element that names
/// them. Values are moved in place, in the program's memory; existing loops go on with them. Give
/// every Map and Dat of these Sets: a missing object keeps the old numbers and no longer fits.
/// Subsets, Sparsities and extruded Sets are to be made afterwards.
///
/// @param[in] maps All Maps between the Sets.
/// @param[in] dats All Dats on them, but for the coordinates, also moved.
/// @param[in] coordinates One to three real numbers for each entity.
/// @param[in] curve Hilbert suits the caches of processors; lines suit GPUs.
/// @throws UsageError if a coordinate is not finite, Dats share a part of their memory, or a Map
/// starts on an extruded Set. Nothing is moved then.
template <class T, int Dim>
Renumbering renumber(const std::vector<MapMemory>& maps, const std::vector<DatMemory>& dats,
                     const Dat<T, Dim>& coordinates, Curve curve = Curve::hilbert) {
  static_assert(std::is_floating_point_v<T> && Dim <= 3, "coordinates are one to three numbers");
  const std::span<const T> values = coordinates.read();
  const std::vector<double> points(values.begin(), values.end());
  return api::renumbered(maps, dats, coordinates, points, Dim, curve);
}

}  // namespace op2
