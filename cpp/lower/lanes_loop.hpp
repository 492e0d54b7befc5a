// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "lower/builder.hpp"

namespace op2::lower {

/// @brief Rewrite the loops over elements so that each pass takes `options.lanes` of them at once.
///
/// Stands after the strategy passes, because it serves them all: it finds the loops that call the
/// kernel, whatever they run over. Gathers become rows loaded whole and transposed, scatters rows
/// updated lane by lane, so additions keep the order of a loop that takes one element after the
/// other. The last pass repeats the last element in the lanes that are left over.
///
/// @return The module on lanes, or why there is none; @p module is unchanged then.
struct LoopOnLanes {
  std::optional<kir::Module> module;
  std::string why;
};
[[nodiscard]] LoopOnLanes loop_on_lanes(const kir::Module& module, const Request& request);

}  // namespace op2::lower
