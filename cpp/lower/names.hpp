// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace op2::lower {

/// @brief Names that must stay distinct within one generated function.
class Names {
 public:
  explicit Names(std::vector<std::string> reserved) : used_(std::move(reserved)) {}

  /// @brief @p wanted, or the first of wanted_1, wanted_2, … that is free. Taken from then on.
  /// What is longer than names of files can be is cut off.
  std::string take(const std::string& wanted);

 private:
  std::vector<std::string> used_;
};

}  // namespace op2::lower
