// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>

#include "ir/kernel_ir.hpp"

namespace op2::lower {

/// @brief What stands for an expression; nothing if it stays, and its operands are looked at.
using Replacement = std::function<std::optional<kir::Expr>(const kir::Expr&)>;

/// @brief @p expr with every part replaced that @p by has something for, outer parts first. What
/// was put in is not looked at again; arithmetic folds where numbers came in.
[[nodiscard]] kir::Expr replaced(const kir::Expr& expr, const Replacement& by);

/// @brief The same for all expressions of statements that are expanded but for updates.
/// @throws InternalError for a statement that hides its expressions: gathers, scatters, launches.
[[nodiscard]] kir::Block replaced(const kir::Block& block, const Replacement& by);

}  // namespace op2::lower
