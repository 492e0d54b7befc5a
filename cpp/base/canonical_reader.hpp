// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace op2 {

/// @brief Reads what Canonical wrote, field by field.
///
/// Anything else, such as a file that was cut short, is a UsageError that says at which byte what
/// was expected.
class CanonicalReader {
 public:
  /// @param[in] text Must live as long as the reader.
  explicit CanonicalReader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string text() { return std::string(field('s', "text")); }
  [[nodiscard]] std::int64_t number();
  /// @brief A number that an `int` holds.
  [[nodiscard]] int small();
  [[nodiscard]] bool flag();
  /// @brief Enter a record. @return Its name.
  [[nodiscard]] std::string_view open();
  /// @brief Enter a record of this name.
  void open(std::string_view name);
  void close();

  [[nodiscard]] bool is_at_close() const { return at_ < text_.size() && text_[at_] == ')'; }
  [[nodiscard]] bool is_at_end() const { return at_ == text_.size(); }

  [[noreturn]] void fail(std::string_view expected) const;

 private:
  static constexpr int most_records = 200;  // within each other

  std::string_view field(char tag, std::string_view what);

  std::string_view text_;
  std::size_t at_ = 0;
  int n_open_ = 0;
};

}  // namespace op2
