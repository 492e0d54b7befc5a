// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/access.hpp"
#include "base/dtype.hpp"
#include "base/paths.hpp"
#include "kernel/body.hpp"

namespace op2::ir {

/// Symbolic loops: what is computed, without sizes, pointers or the user's names for Sets, Maps and
/// Dats. Their canonical form is the signature; see signature.hpp.

using op2::Iteration;
using op2::Layers;
using op2::MapRef;
using op2::RowRef;

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

/// @brief In the place of a Set's number: the visited Set, if no Map leads to it.
inline constexpr int visited_alone = -1;
/// @brief In the place of a Set's number: a Global, or the entries of a matrix.
inline constexpr int no_set = -2;

/// @brief A Dat on the iteration set, `dim` scalars an element.
struct DirectDat {
  DType dtype;
  int dim;
  Access access;
  Alias alias;
  int stride = 0;                    ///< scalars from a row to the next; 0: as many as `dim`
  int component = 0;                 ///< of the row, where the scalars begin
  std::optional<DType> stored = {};  ///< what memory holds, if not `dtype`, which the kernel sees
  bool operator==(const DirectDat&) const = default;
};

/// @brief A Dat reached through the path `Loop::maps[map]`.
struct IndirectDat {
  DType dtype;
  int dim;
  Access access;
  int map;
  Alias alias;
  int stride = 0;                    ///< scalars from a row to the next; 0: as many as `dim`
  int component = 0;                 ///< of the row, where the scalars begin
  std::optional<DType> stored = {};  ///< what memory holds, if not `dtype`, which the kernel sees
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
  std::optional<DType> stored = {};  ///< what memory holds, if not `dtype`, which the kernel sees
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

/// @brief What one call of a member's kernel is for: an item of the Group, or each pair (element,
/// slot) that leads to it, in a fixed order. In the latter case Maps lead from the elements to the
/// Group's Set, and the item keeps the share of the slot.
enum class Visit : std::uint8_t { items, incidences };

/// @brief One loop of a Group: a kernel, and how it is visited.
struct Member {
  kernel::KernelPtr kernel;
  Visit visit = Visit::items;
  std::vector<int> constants = {};  ///< of the Group, ascending; the only member uses all of them
};

/// @brief A version of what a Dat or Global holds: every member that writes it makes a new one.
struct Value {
  int set = 0;  ///< number of its Set, as Group::set
  DType dtype = DType::float64;
  int dim = 1;
  Alias alias;
  int version = 0;       ///< 0: what was there before the Group
  bool stored = true;    ///< somebody looks at it after the Group, so memory must hold it
  bool is_zero = false;  ///< it is 0 everywhere, whatever memory holds
  bool operator==(const Value&) const = default;
};

/// @brief In the place of a Value's number: none is read, or written.
inline constexpr int no_value = -1;

/// @brief One argument of a Group: what it is, and all that the Group knows of it. It can be
/// visited and asked as the Arg that it is.
struct Operand : Arg {
  using Arg::operator=;             ///< another Arg, of the same parameter
  int parameter = 0;                ///< of its member's kernel: it is that, or a part of it
  std::optional<Place> place = {};  ///< in the tensor of its parameter, if that has blocks
  int member = 0;                   ///< of the Group
  int reads = no_value;             ///< the version that it reads, a number of Group::values
  int writes = no_value;            ///< the version that it makes
  /// READ of the item's own row, loaded before the item overwrites the memory by another argument
  bool is_before = false;
  bool operator==(const Operand&) const = default;
};

/// @brief Loops that are carried out item by item, one member after the other for each item.
///
/// Equal numbers mean equal things in all members: Sets, Dats, memory, Maps, Consts. A par_loop is
/// a Group of one member.
struct Group {
  std::vector<Member> members;
  /// Of the members in turn, in the order of their parameters. Arguments of one parameter, the
  /// fields of a mixed Dat, are packed end to end, or if they have places are blocks of a matrix
  /// that starts at zero.
  std::vector<Operand> args;
  std::vector<MapRef> maps;         ///< unique paths in order of first use
  std::vector<ConstRef> constants;  ///< referenced ones only, sorted by name
  Iteration iteration = {};
  int set = visited_alone;         ///< number of the Set whose items are visited, as MapRef::toset
  std::vector<Value> values = {};  ///< empty: nobody asked for them; see number_values()
};

/// @brief A par_loop: one kernel.
using Loop = Group;

/// @brief A Group of one member that visits items: argument i is its kernel's parameter i.
[[nodiscard]] Loop loop_of(kernel::KernelPtr kernel, std::vector<Arg> args,
                           std::vector<MapRef> maps, std::vector<ConstRef> constants);

/// @brief The names of the members' kernels, joined by `_`.
[[nodiscard]] std::string name_of(const Group& group);

/// @brief The member that @p arg is an argument of.
[[nodiscard]] std::size_t member_of(const Group& group, std::size_t arg);
[[nodiscard]] const kernel::Kernel& kernel_of(const Group& group, std::size_t arg);
/// @brief The kernel of a Group of one. @throws InternalError if there are several.
[[nodiscard]] const kernel::Kernel& kernel_of(const Group& group);

/// @brief The Consts that a member's kernel gets, as numbers of Group::constants.
[[nodiscard]] std::vector<int> constants_of(const Group& group, std::size_t member);

/// @brief The kernel's parameter that @p arg is, or is a part of.
[[nodiscard]] int parameter_of(const Group& group, std::size_t arg);

/// @brief True if the parameter of @p arg is made of several arguments.
[[nodiscard]] bool is_part(const Group& group, std::size_t arg);

/// @brief The place of @p arg in its parameter's tensor; null if parts are end to end.
[[nodiscard]] const Place* place_of(const Group& group, std::size_t arg);

/// @brief What the kernel sees, and sums are made in.
[[nodiscard]] DType dtype_of(const Arg& arg);
/// @brief What memory holds: a narrower type of the same kind, or dtype_of().
[[nodiscard]] DType stored_of(const Arg& arg);
/// @brief Whether some argument's memory holds another type than its kernel sees.
[[nodiscard]] bool converts(const Group& group);
[[nodiscard]] int dim_of(const Arg& arg);
[[nodiscard]] Access access_of(const Arg& arg);
[[nodiscard]] const Alias& alias_of(const Arg& arg);
[[nodiscard]] Alias& alias_in(Arg& arg);

/// @brief Scalars the kernel sees behind its parameter: dim, times arity if indirect, times both
/// arities for a matrix.
[[nodiscard]] int extent_of(const Loop& loop, const Arg& arg);

/// @brief The Map that an argument's targets are the entries of: of a matrix the row map, since
/// two elements that share no row share no entry, or the column map of one row. -1 if there is
/// none.
[[nodiscard]] int target_map_of(const Arg& arg);

/// @brief Check the loop against itself and its kernel. @throws InternalError naming the argument.
void verify(const Loop& loop);

/// @brief Readable text, one line an argument.
[[nodiscard]] std::string dump(const Loop& loop);

}  // namespace op2::ir
