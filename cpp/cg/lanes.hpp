// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "cg/context.hpp"
#include "kir/nodes.hpp"

namespace op2::cg {

/// Statements of a wrapper on lanes: rows that are transposed in registers, and what is summed.

/// @brief How the printer of a module spells an expression.
using LaneSpelling = std::function<std::string(const kir::Expr&)>;

void print_lane_gather(Context& context, const kir::LaneGather& gather,
                       const LaneSpelling& spelling);
void print_lane_turn(Context& context, const kir::LaneTurn& turn, const LaneSpelling& spelling);
void print_lane_store(Context& context, const kir::LaneStore& store, const LaneSpelling& spelling);
void print_lane_add(Context& context, const kir::LaneAdd& add, const LaneSpelling& spelling);
void print_lane_share(Context& context, const kir::LaneShare& share, const LaneSpelling& spelling);
void print_lane_fold(Context& context, const kir::LaneFold& fold);

}  // namespace op2::cg
