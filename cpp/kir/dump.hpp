// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "kir/nodes.hpp"

namespace op2::kir {

/// @brief Readable text, for `PYOP2CXX_DUMP`, messages and tests.
[[nodiscard]] std::string dump(const Module& module);
[[nodiscard]] std::string dump(const Stmt& stmt);
[[nodiscard]] std::string dump(const Expr& expr);

}  // namespace op2::kir
