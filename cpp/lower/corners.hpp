// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/abi_types.hpp"
#include "lower/incidence.hpp"

namespace op2::lower {

/// What elements lead to by a Map their targets often lead to themselves, as edges have nodes of
/// their cells. Where another member goes by the targets' Map anyway, its entries are loaded once,
/// and selects pick those of each element; a byte of the plan says which. The few elements that
/// lead elsewhere look it up. That saves bytes to read, and no registers: the values behind the
/// entries, which are several numbers each, would need too many of these. Lanes of a
/// processor hold the values: columns with equal corners on all lanes take values from there.

/// @brief Two Maps to one Set that this may be done for.
struct CornerCandidate {
  abi::CornerMaps maps;
  std::string why_not;  ///< empty: Options::corners may name `maps`
};

/// @brief All of them in a Group with members that are visited by incidences. Whether they share
/// entries is a matter of the Maps' values, which nobody knows here.
[[nodiscard]] std::vector<CornerCandidate> corner_candidates(const Request& request);

/// @brief The argument with the rows of argument @p arg, of the same Dat, that targets read by
/// their own Map; nothing if there is none. Lanes take values from there, where GPUs take entries.
[[nodiscard]] std::optional<std::size_t> same_rows(const ir::Loop& loop, std::size_t arg,
                                                   const abi::CornerMaps& maps);

/// @brief Ask the plan for the bytes.
/// @param[in] arg Goes by the Map from the elements.
/// @param[in] rows Where its entries are to be looked up.
[[nodiscard]] CornerArray add_corners(Builder& builder, std::size_t arg,
                                      const abi::CornerMaps& maps, const kir::Parameter& rows);

/// @brief Load the entries of the target.
[[nodiscard]] kir::Block own_entries(const CornerArray& corners);

/// @brief Declare the entries of a column's element and pick them, or look them up.
/// @param[in] at Number of the row that they are looked up in.
[[nodiscard]] kir::Block pick_entries(const CornerArray& corners, const kir::Expr& at);

}  // namespace op2::lower
