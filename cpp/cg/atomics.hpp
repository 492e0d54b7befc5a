// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/dtype.hpp"
#include "cg/context.hpp"
#include "kir/nodes.hpp"

namespace op2::cg {

/// @brief Statements that update `*address` by @p value without losing any other lane's update.
///
/// One instruction where the dialect has one for this type and operation; otherwise a helper
/// function with a compare-and-swap (CAS) loop, which @p context gets once. Complex sums are two
/// sums: neither part needs the other to be current. Types narrower than a word exchange the word
/// around them.
[[nodiscard]] std::string atomic_update(Context& context, DType dtype, kir::Update update,
                                        const std::string& address, const std::string& value);

}  // namespace op2::cg
