// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "cg/context.hpp"
#include "ir/kernel_body.hpp"
#include "ir/kernel_ir.hpp"

namespace op2::cg {

/// Vectors of elements in C with the vector extensions of GCC and Clang: types, the functions of
/// ir/lane_functions.hpp, rows that are transposed in registers. What is used is defined on the
/// first request, at the top of the text.

/// @brief Name of a vector type, e.g. "op2_float64x8".
[[nodiscard]] std::string vector_name(DType dtype, int lanes);

/// @brief The name of a vector type, which is defined if it was not.
std::string vector_type(Context& context, DType dtype, int lanes);

/// @brief Define every vector type and every function over lanes that @p body uses.
void define_lanes(Context& context, const ir::KernelBody& body);

/// @brief How the printer of a module spells an expression.
using LaneSpelling = std::function<std::string(const kir::Expr&)>;

void print_lane_gather(Context& context, const kir::LaneGather& gather,
                       const LaneSpelling& spelling);
void print_lane_turn(Context& context, const kir::LaneTurn& turn, const LaneSpelling& spelling);
void print_lane_store(Context& context, const kir::LaneStore& store, const LaneSpelling& spelling);
void print_lane_add(Context& context, const kir::LaneAdd& add, const LaneSpelling& spelling);
void print_lane_fold(Context& context, const kir::LaneFold& fold);

}  // namespace op2::cg
