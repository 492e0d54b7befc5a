// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "cg/dialect.hpp"
#include "kernel/body.hpp"
#include "kernel/lane_functions.hpp"
#include "kernel/rows.hpp"

namespace op2::cg {

struct KernelStyle {
  /// Say `#line` before each statement, so that a compiler's message points at the user's text.
  /// Only for a recompile that is to show an error: text with it is not canonical.
  bool line_markers = false;
  /// Declare the library functions that are called; without it the language must know them.
  bool prototypes = true;
  std::string_view boolean = "_Bool";  ///< The language's word for bool.
  /// Loops along rows are left as loops: GCC would unroll them before it looks for vectors, and
  /// find worse ones. 0 steps: none.
  kernel::RowLimits rows = {};
  kernel::Elementary elementary = {};  ///< Where elementary functions of vectors come from.
};

/// @brief A declaration without initialiser, e.g. "double (*x)[2]"; a type alone if @p name is "".
[[nodiscard]] std::string declaration_text(const kernel::Type& type, std::string_view name,
                                           const Dialect& dialect, const KernelStyle& style = {});

/// @brief An expression, with the parentheses that C needs and those that compilers ask for.
[[nodiscard]] std::string expression_text(const kernel::Expr& expr, const Dialect& dialect,
                                          const KernelStyle& style = {});

/// @brief An expression that a branch or loop tests: an assignment gets its own parentheses.
[[nodiscard]] std::string condition_text(const kernel::Expr& expr, const Dialect& dialect,
                                         const KernelStyle& style = {});

/// @brief A declaration with its initialisers, without the semicolon.
/// @param[in] storage Of a static table; the dialect's if empty.
[[nodiscard]] std::string variables_text(const kernel::Declare& node, const Dialect& dialect,
                                         const KernelStyle& style = {},
                                         std::string_view storage = {});

}  // namespace op2::cg
