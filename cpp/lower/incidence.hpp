// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lower/builder.hpp"

namespace op2::lower {

/// @brief Entries of a Map that are taken from those of the targets: see lower/corners.hpp.
struct CornerArray {
  kir::Parameter codes;  ///< [n_columns, n_rows] see base/corner_codes.hpp
  kir::Parameter rows;   ///< that of PairArrays, which is seldom read
  std::string own_map;   ///< parameter: the Map from the targets
  int n_entries = 0;     ///< of an element
  int n_corners = 0;     ///< entries of a target
  std::string own;       ///< private: the target's entries
  std::string code;      ///< private: that of the column
  std::string entries;   ///< private: the element's entries
};

/// @brief Columns of elements that lead to two targets: see lower/pairs.hpp.
struct PairArrays {
  kir::Parameter neighbours;                   ///< [n_columns, n_rows] see plan::PairColumns
  std::map<int, kir::Parameter> rows;          ///< [n_columns, n_rows, arity] where other Maps lead
  std::map<int, CornerArray> corners;          ///< of those Maps whose rows are seldom read
  std::map<std::string, std::string> fetched;  ///< private arrays of those that are read ahead
  int n_columns = 0;  ///< that are read before the first is computed; 0: none is
};

/// @brief Rows of a Map in the order of incidences: see lower/composed.hpp.
struct ComposedArray {
  kir::Parameter rows;  ///< [n_incidences, arity]; padded: [n_columns, n_rows, arity]
  int arity = 0;
};

/// @brief The plan's inverse maps as wrapper parameters: what `owner` and `scratch` walk along.
struct Incidence {
  kir::Parameter sizes;      ///< read by the launch: number of targets, of columns
  kir::Parameter offset;     ///< [n_targets + 1] into entry; not padded
  kir::Parameter entry;      ///< [n_incidences] element * n_slots + slot; padded: by column
  kir::Parameter present;    ///< [n_targets] 1 where there are incidences; of further ones on grids
  std::string is_present;    ///< private: that of the target, read before anything is computed
  kir::Parameter target;     ///< [n_targets] the targets that are touched; null: all of them;
                             ///< of the first inverse
  kir::Parameter n_columns;  ///< padded: columns, each of n_rows entries, -1 where there is none
  kir::Parameter n_rows;
  std::vector<int> maps;  ///< the Maps that are inverted, in slot order
  int n_slots = 0;        ///< arities of `maps`, summed
  bool is_padded = false;
  bool is_paired = false;  ///< padded, and `pairs` holds the columns
  PairArrays pairs;
  bool is_composed = false;  ///< the target's own rows are read once, other Maps by `composed`
  std::map<int, ComposedArray> composed;
  bool has_entries = true;  ///< else composed rows are all that is read of an incidence
  [[nodiscard]] std::vector<kir::Parameter> parameters() const;
};

/// @brief The slots of one of the inverted Maps: [first, first + arity).
struct SlotRange {
  int first;
  int arity;
};
[[nodiscard]] SlotRange slots_of(const Incidence& incidence, const ir::Loop& loop, int map);

/// @brief @p body where slot `o` is one of @p slots; nothing to ask where there are no others.
[[nodiscard]] kir::Stmt where_slot_is(const Incidence& incidence, const SlotRange& slots,
                                      kir::Block body);

/// @brief Does the plan's `sizes` array come with the inverse, or only where the caller needs it?
enum class Sizes : std::uint8_t { always, if_padded };

/// @brief Maps that Dats and matrices are reduced through, in order of first use: by one member, or
/// by any.
[[nodiscard]] std::vector<int> reduced_maps(const ir::Loop& loop,
                                            std::optional<std::size_t> member = std::nullopt);

/// @brief Slots of the Maps that Dats and matrices are reduced through: incidences an element has.
[[nodiscard]] int n_slots(const ir::Loop& loop);

/// @brief The slot in which an element is counted once: the first one of a Map that leads somewhere
/// from every element, as those of Dats do. Nothing if each Map may have entries that lead nowhere:
/// from the targets some elements are not seen at all.
[[nodiscard]] std::optional<int> counting_slot(const ir::Loop& loop,
                                               const std::vector<MapFacts>& maps,
                                               std::size_t member = 0);

/// @brief Ask the plan for the inverse of every Map that a member reduces a Dat or a matrix
/// through. The first one of a Group may be padded; those of further members are not, and have a
/// row for every target.
[[nodiscard]] Incidence add_incidence(Builder& builder, Sizes sizes, std::size_t member = 0);

/// @brief @p body with `target` declared for row `t`, which it is itself where all have rows.
[[nodiscard]] kir::Block of_target(const Builder& builder, const Incidence& incidence,
                                   kir::Block body);

/// @brief Read whether target `t` has any incidences, where for_incidences() asks for that. It goes
/// in front of all that is computed for the target: in the branch itself everybody would wait for
/// memory once more.
[[nodiscard]] kir::Block load_presence(const Incidence& incidence);

/// @brief Loop over the incidences of target `t` with the item's position and `o`, its slot,
/// declared, around @p body. After load_presence().
[[nodiscard]] kir::Block for_incidences(Builder& builder, const Incidence& incidence,
                                        kir::Block body);

/// @brief Loop over all incidences of the targets [begin, end), one target after the other, with
/// the item's position and `o` declared around @p body. On a grid in groups of targets. Not for
/// padded incidences.
[[nodiscard]] kir::Stmt for_all_incidences(Builder& builder, const Incidence& incidence,
                                           kir::Block body);

/// @brief The target that slot `o` of element `n` names, read from its Map.
[[nodiscard]] kir::Expr target_of_slot(Builder& builder, const Incidence& incidence);

/// @brief `data[target] op= pack` where slot `o` belongs to the argument's Map, of the row of that
/// slot.
[[nodiscard]] kir::Stmt add_share(Builder& builder, const Incidence& incidence, std::size_t arg);

/// @brief Dats that are reduced through a Map.
[[nodiscard]] std::vector<std::size_t> reduced_args(const ir::Loop& loop);

/// @brief One private sum for each Dat that is reduced; arguments of the same Dat share it.
[[nodiscard]] std::vector<std::string> take_accumulators(Builder& builder);

/// @brief Statements before and after the incidences: `acc = data[target]`, `data[target] = acc`;
/// on a grid sums start at 0 and are added: `data[target] += acc`.
[[nodiscard]] kir::Block load_accumulators(Builder& builder, const std::vector<std::string>& names);
[[nodiscard]] kir::Block store_accumulators(Builder& builder,
                                            const std::vector<std::string>& names);

/// @brief Where the results of an element are: in a private array, or in scratch memory.
enum class ShareFrom : std::uint8_t { pack, memory };

/// @brief `acc[c] op= values[(o - first) * dim + c]` where slot `o` belongs to the argument's Map.
/// @p values is indexed from @p at.
[[nodiscard]] kir::Stmt keep_share(const Builder& builder, const Incidence& incidence,
                                   std::size_t arg, const std::string& accumulator,
                                   const std::string& values, const kir::Expr& at, ShareFrom from);

}  // namespace op2::lower
