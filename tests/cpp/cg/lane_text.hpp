// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "cg/context.hpp"

/// What the tests of text over lanes share.
namespace op2::cg::testing {

/// Text of a function in which @p print defines what it needs.
template <class Print>
std::string text_of(const Dialect& dialect, const Print& print) {
  Context context(dialect);
  {
    const Scope scope = context.function("void f(void)");
    print(context);
  }
  return context.finish();
}

/// How often @p part stands in @p text.
inline int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace op2::cg::testing
