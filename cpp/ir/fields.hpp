// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/loop.hpp"

namespace op2::ir {

/// @brief Name and value of each field of a loop's signature, in words, for messages.
///
/// Loops of equal signatures have equal fields. Kernels are digests of their texts.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> fields(const Loop& loop);

}  // namespace op2::ir
