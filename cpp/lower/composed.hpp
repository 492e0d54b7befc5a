// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "lower/incidence.hpp"

namespace op2::lower {

/// Visits by incidences where each element leads to a single target, as messages along edges do.
/// Rows of the other Maps then stand in the order of the incidences, and the element's number is
/// not looked up first. No array is longer than the Map: each element has one incidence.

/// @brief Maps of a member's reads, but for the target's own.
struct Composition {
  std::vector<int> maps;        ///< in the order of first use
  bool needs_elements = false;  ///< the member also reads what belongs to the element
};

/// @brief The argument as a Dat that is read through a Map, else null.
[[nodiscard]] const ir::IndirectDat* read_through_map(const ir::Arg& arg);

/// @brief True if the kernel sees neither the element nor its place in a Subset or a column.
[[nodiscard]] bool is_over_whole_set(const ir::Iteration& iteration);

/// @brief The Maps to be composed for a member on a GPU; nothing where an element has several
/// targets, or Maps have more entries than the tuning allows.
[[nodiscard]] std::optional<Composition> composition_of(const Request& request, std::size_t member);

/// @brief Ask the plan for the rows of @p composition, into Incidence::composed.
void add_composed(Builder& builder, Incidence& incidence, const Composition& composition,
                  std::size_t member);

/// @brief Let the member load by the composed rows. Returns the loads of the target's own rows,
/// which come before the loop over incidences.
[[nodiscard]] kir::Block load_composed(Builder& builder, const Incidence& incidence,
                                       std::size_t member);

/// @brief The first composed entry of column @p column, padded: -1 where there is no incidence.
[[nodiscard]] kir::Expr leading_entry(const Incidence& incidence, const kir::Expr& column);

}  // namespace op2::lower
