// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string_view>

#include "lower/builder.hpp"

namespace op2::lower {

/// @brief The passes of lowering, in their order. Which loops each is for stands in the table in
/// lower.cpp, what it does in passes.hpp. A loop goes through one of the layouts, which come first.
enum class Stage : std::uint8_t {
  in_order,
  summed_blocks,
  elements,
  teams,
  staged_blocks,
  launched_blocks,
  blocks,
  colours,
  slots,
  incidences,
  scratch,
  layout = scratch,  ///< the last of them
  lanes,
  reduce,
  legalise,
  expand,
  narrow
};

inline constexpr std::string_view stage_names[] = {
    "in_order", "summed_blocks", "elements", "teams",      "staged_blocks", "launched_blocks",
    "blocks",   "colours",       "slots",    "incidences", "scratch",       "lanes",
    "reduce",   "legalise",      "expand",   "narrow"};

/// @brief Called with the module after each pass that ran, for dumps and tests.
using Observer = std::function<void(Stage, const kir::Module&)>;

/// @brief Why the loop cannot run on `options.lanes` lanes; empty if it can.
[[nodiscard]] std::string why_not_on_lanes(const Request& request);

/// @brief Check a module behind @p stage, as lower() does. Barriers are checked before `expand`, of
/// all modules: pass `expand` makes loops of components, whose subscripts the check cannot always
/// tell apart, and neither adds a barrier nor takes one away.
/// @throws InternalError naming the pass after which the module is no program; see kir::verify().
void verify_after(Stage stage, const kir::Module& module);

/// @brief Loop to printable KernelIR, pass by pass.
/// @throws InternalError naming the pass after which the module is no program; see kir::verify().
[[nodiscard]] kir::Module lower(const Request& request, const Observer& observe);

}  // namespace op2::lower
