// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "kernel/body.hpp"
#include "kernel/facts.hpp"

namespace op2::kernel {

/// @brief An update of `target` with a value that the target's own does not flow into otherwise.
struct Update {
  Use use = Use::increment;
  const Expr* target = nullptr;
  std::vector<const Expr*> values;  ///< what is added to, or compared with, the target
  std::vector<const Expr*> own;     ///< where the target's value is read for the update itself
};

/// @brief Recognise an increment, minimum or maximum written as an expression.
[[nodiscard]] std::optional<Update> update_of(const Expr& expr);

/// @brief Recognise `if (e < x) x = e;` and its kin.
[[nodiscard]] std::optional<Update> update_of(const If& node);

}  // namespace op2::kernel
