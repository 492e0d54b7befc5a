// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string_view>

#include "lower/builder.hpp"

namespace op2::lower {

/// @brief The stages of lowering, in order; see the pass table in lower.cpp.
enum class Stage : std::uint8_t { strategy, legalise, expand };

inline constexpr std::string_view stage_names[] = {"strategy", "legalise", "expand"};

/// @brief Called with the module after each stage, for dumps and tests.
using Observer = std::function<void(Stage, const kir::Module&)>;

/// @brief Why the loop cannot run on `options.lanes` lanes; empty if it can.
[[nodiscard]] std::string why_not_on_lanes(const Request& request);

/// @brief Loop to printable KernelIR. The result is verified after every stage.
[[nodiscard]] kir::Module lower(const Request& request, const Observer& observe);

}  // namespace op2::lower
