// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/access.hpp"
#include "base/dtype.hpp"
#include "ir/kernel_body.hpp"

namespace op2::ir {

/// The symbolic loop: what is computed, without sizes, pointers or the user's names for Sets, Maps
/// and Dats. Its canonical form is the signature; see signature.hpp.

/// @brief Which memory an argument touches, as classes numbered in order of first use.
///
/// Arguments with equal `data` are the same array with the same shape. Arguments with equal
/// `memory` may overlap (two Dats over one NumPy array, a view and its parent). The same Dat has
/// equal numbers in both.
struct Alias {
  int data = 0;
  int memory = 0;
  bool operator==(const Alias&) const = default;
};

/// @brief Which entry of a Map's row leads to one row of an argument.
///
/// The target is `entry + offset * (level + above)`, where `level` counts the layers of an extruded
/// Set from the bottom of its column; periodic: `(level + above + quotient) % levels - quotient %
/// levels` instead.
struct RowRef {
  int slot = 0;      ///< of the Map
  int offset = 0;    ///< from a layer to the next
  int quotient = 0;  ///< layers that the entry itself lies above its column's bottom
  int above = 0;     ///< 1: in the cell above, as the second half of an interior facet is
  bool operator==(const RowRef&) const = default;
};

/// @brief A path: a Map, and the entries of its rows that an argument is made of.
struct MapRef {
  int arity = 1;                  ///< rows of an argument
  int toset = 0;                  ///< numbers the target Sets in order of first use
  int width = 0;                  ///< entries of a row of the Map; 0: as many as `arity`
  std::vector<RowRef> rows = {};  ///< [arity]; empty: all entries of the Map in their order
  bool operator==(const MapRef&) const = default;
};

/// @brief Whether the layers of an extruded Set are as many in every column.
enum class Layers : std::uint8_t { none, constant, variable };

/// @brief How work items become elements. Sizes, lists and numbers of layers are run-time data.
struct Iteration {
  bool subset = false;           ///< elements are looked up in a list
  Layers layers = Layers::none;  ///< items are cells of columns; elements are the columns
  bool periodic = false;         ///< the top layer is below the bottom one
  bool pass_layer = false;       ///< the kernel's last parameter is the layer
  int index_bytes = 4;           ///< width of the lists of elements, columns and levels
  bool operator==(const Iteration&) const = default;
};

/// @brief A Dat on the iteration set, `dim` scalars an element.
struct DirectDat {
  DType dtype;
  int dim;
  Access access;
  Alias alias;
  int stride = 0;     ///< scalars from a row to the next; 0: as many as `dim`
  int component = 0;  ///< of the row, where the scalars begin
  bool operator==(const DirectDat&) const = default;
};

/// @brief A Dat reached through the path `Loop::maps[map]`.
struct IndirectDat {
  DType dtype;
  int dim;
  Access access;
  int map;
  Alias alias;
  int stride = 0;     ///< scalars from a row to the next; 0: as many as `dim`
  int component = 0;  ///< of the row, where the scalars begin
  bool operator==(const IndirectDat&) const = default;
};

template <class Dat>
[[nodiscard]] int stride_of(const Dat& dat) {
  return dat.stride == 0 ? dat.dim : dat.stride;
}

/// @brief A Global or Constant that the kernel only reads.
struct GlobalRead {
  DType dtype;
  int dim;
  Alias alias;
  bool operator==(const GlobalRead&) const = default;
};

/// @brief A Global that the loop reduces into: access is inc, min or max.
struct GlobalReduce {
  DType dtype;
  int dim;
  Access access;
  Alias alias;
  bool operator==(const GlobalReduce&) const = default;
};

/// @brief A matrix that each element adds a dense tensor to, or sets entries of: access is inc or
/// write. Its rows and columns are the entries of two Maps, in blocks of row_dim x col_dim scalars.
struct MatArg {
  DType dtype;
  int row_dim;
  int col_dim;
  Access access;
  int row_map;
  int col_map;
  bool masked;    ///< some entries are dropped: boundary rows, undefined Map entries
  bool unrolled;  ///< they are dropped scalar by scalar, not block by block
  Alias alias;
  bool by_columns = false;  ///< there is one row, so elements that share no column share no entry
  bool operator==(const MatArg&) const = default;
};

using Arg = std::variant<DirectDat, IndirectDat, GlobalRead, GlobalReduce, MatArg>;

/// @brief A Const that the kernel uses by its bare name.
struct ConstRef {
  std::string name;
  DType dtype;
  int dim;
  bool operator==(const ConstRef&) const = default;
};

/// @brief Where a part of a parameter lies in a tensor of two dimensions: rows of `n_columns` of
/// the part's scalars begin at (row, column) of the tensor, whose rows have `width`.
struct Place {
  int row = 0;
  int column = 0;
  int n_columns = 0;
  int width = 0;
  bool operator==(const Place&) const = default;
};

struct Loop {
  std::shared_ptr<const Kernel> kernel;
  std::vector<Arg> args;            ///< in the order of the kernel's parameters
  std::vector<MapRef> maps;         ///< unique paths in order of first use
  std::vector<ConstRef> constants;  ///< referenced ones only, sorted by name
  /// [args] the kernel's parameter that each argument is a part of, ascending; empty: argument i
  /// is parameter i. Arguments of one parameter, the fields of a mixed Dat, are packed end to end.
  std::vector<int> parameters = {};
  Iteration iteration = {};
  /// [args] of parts that are blocks of a matrix instead, which start at zero; of width 0 for other
  /// arguments. Empty: there are none.
  std::vector<Place> places = {};
};

/// @brief The kernel's parameter that @p arg is, or is a part of.
[[nodiscard]] int parameter_of(const Loop& loop, std::size_t arg);

/// @brief True if the parameter of @p arg is made of several arguments.
[[nodiscard]] bool is_part(const Loop& loop, std::size_t arg);

/// @brief The place of @p arg in its parameter's tensor; null if parts are end to end.
[[nodiscard]] const Place* place_of(const Loop& loop, std::size_t arg);

[[nodiscard]] DType dtype_of(const Arg& arg);
[[nodiscard]] int dim_of(const Arg& arg);
[[nodiscard]] Access access_of(const Arg& arg);
[[nodiscard]] const Alias& alias_of(const Arg& arg);

/// @brief Scalars the kernel sees behind its parameter: dim, times arity if indirect, times both
/// arities for a matrix.
[[nodiscard]] int extent_of(const Loop& loop, const Arg& arg);

/// @brief The Map that an argument's targets are the entries of: of a matrix the row map, since
/// two elements that share no row share no entry, or the column map of one row. -1 if there is
/// none.
[[nodiscard]] int target_map_of(const Arg& arg);

/// @brief True if any argument writes through a Map.
[[nodiscard]] bool writes_indirectly(const Loop& loop);

/// @brief Bytes one pass must move if caches were perfect is run-time data; this is its symbolic
/// part: bytes per element of the direct arguments and maps. INC and RW count twice.
[[nodiscard]] std::int64_t direct_bytes_per_element(const Loop& loop);

/// @brief Check the loop against itself and its kernel. @throws InternalError naming the argument.
void verify(const Loop& loop);

/// @brief Readable text, one line an argument.
[[nodiscard]] std::string dump(const Loop& loop);

}  // namespace op2::ir
