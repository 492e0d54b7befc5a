// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace op2::testing {

/// What the Error that @p action throws says; a failure if it throws none.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// Whether @p text contains each of @p parts; the failure names the one that is missing.
template <class... Parts>
::testing::AssertionResult contains(const std::string& text, const Parts&... parts) {
  for (const std::string& part : {std::string(parts)...}) {
    if (text.find(part) == std::string::npos) {
      return ::testing::AssertionFailure() << "no '" << part << "' in: " << text;
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace op2::testing
