// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "kir/nodes.hpp"

namespace op2::cg {

/// @brief "[shape]: what is in it" of an array of a plan or of a matrix's pattern; empty for
/// others.
[[nodiscard]] std::string array_comment(const kir::Parameter& parameter);

}  // namespace op2::cg
