// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace op2 {

/// @brief The cells of each column of an extruded Set visited by a loop.
enum class Region {
  all,              ///< every cell
  bottom,           ///< the lowest
  top,              ///< the highest
  interior_facets,  ///< pairs of a cell and the cell above
};

/// @brief How far the entries of a Map from columns move from a cell to the cell above.
struct Offset {
  std::vector<int> layers;         ///< [arity]; empty: they do not move
  std::vector<int> quotient = {};  ///< [arity]; layers of an entry above its column's
                                   ///< bottom, where the extrusion is periodic
};

}  // namespace op2

/// The states behind the objects of op2.hpp, in the scope of that header.
namespace op2::api {

struct SetState;
struct SubsetState;
struct MapState;
struct SparsityState;
struct DataState;
struct LoopState;

using SetPointer = std::shared_ptr<const SetState>;
using SubsetPointer = std::shared_ptr<const SubsetState>;
using MapPointer = std::shared_ptr<const MapState>;
using SparsityPointer = std::shared_ptr<const SparsityState>;
using DataPointer = std::shared_ptr<const DataState>;

/// @brief Memory of the user's, of `size` scalars, `dim` for each entity.
struct View {
  const void* data;
  std::size_t scalar_bytes;
  std::size_t size;
  int dim;
};

/// @brief Maps from a common Set, to the rows and to the columns of a matrix.
struct MapPair {
  MapPointer rows;
  MapPointer columns;
  Region region = Region::all;
};

/// @param[in] layers Of all columns: one more than the number of cells.
[[nodiscard]] SetPointer made_extruded(const SetPointer& base, std::int64_t layers, bool periodic);
/// @param[in] layers [2 * base size]: for each column the lowest layer, and the highest plus one.
[[nodiscard]] SetPointer made_extruded(const SetPointer& base, const View& layers, bool periodic);
[[nodiscard]] SubsetPointer made_subset(const SetPointer& whole, const View& indices,
                                        std::string name);
[[nodiscard]] MapPointer made_map(const SetPointer& from, const SetPointer& to, const View& values,
                                  Offset offset, std::string name);
/// @param[in] offsets [from size + 1] and @p values are copied.
[[nodiscard]] MapPointer made_ragged_map(const SetPointer& from, const SetPointer& to,
                                         const View& offsets, const View& values, std::string name);
/// @brief The numbers of entries of a ragged Map's rows, which loops read.
[[nodiscard]] const DataPointer& counts_of(const MapState& map);
[[nodiscard]] std::span<const std::int32_t> count_values(const MapState& map);
[[nodiscard]] DataPointer made_dat(const SetPointer& set, const View& values, std::string name);
/// @param[in] kind The kind in messages: "Global", "Const".
[[nodiscard]] DataPointer made_global(const View& values, const char* kind, std::string name);
[[nodiscard]] SparsityPointer made_sparsity(const SetPointer& rows, const SetPointer& columns,
                                            const std::vector<MapPair>& pairs, std::string name);
[[nodiscard]] DataPointer made_mat(const SparsityPointer& sparsity, const View& values,
                                   std::string name);
void check_changed(const MapState& map);
/// @brief Make values valid in the program's memory, after waiting for a device with newer values.
/// @param[in] is_written Whether the values will be changed there.
void bring_to_host(const DataState& data, bool is_written);
void set_to_zero(const DataState& data);
void run(LoopState& loop);

}  // namespace op2::api
