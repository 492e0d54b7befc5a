// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace op2 {

/// @brief Reads the output of Canonical, field by field.
///
/// Other input, such as a truncated file, is a UsageError with the place and the expected field.
class CanonicalReader {
 public:
  /// @param[in] text Must live as long as the reader.
  explicit CanonicalReader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string text() { return std::string(field('s', "text")); }
  [[nodiscard]] std::int64_t number();
  /// @brief A number in the range of `int`.
  [[nodiscard]] int small();
  [[nodiscard]] bool flag();
  /// @brief Enter a record. @return The record's name.
  [[nodiscard]] std::string_view open();
  /// @brief Enter a record with @p name.
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
