// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace op2 {

/// @brief A value of JSON, with the text behind it.
struct Json {
  std::string_view text = {};  ///< without blanks outside of strings
  std::string string = {};     ///< of a string: the characters, in UTF-8
  std::vector<std::pair<std::string, Json>> members = {};
  std::vector<Json> items = {};

  /// @throws UsageError without a member @p name.
  [[nodiscard]] const Json& at(std::string_view name) const;
  /// @throws UsageError for other values than numbers.
  [[nodiscard]] double number() const;
};

/// @brief The same text without blanks outside of strings.
[[nodiscard]] std::string without_blanks(std::string_view text);

/// @brief The value of a text.
/// @param[in] compact Result of without_blanks(); must live as long as the value.
/// @throws UsageError for a text cut short, or nested too deeply.
[[nodiscard]] Json read_json(std::string_view compact);

}  // namespace op2
