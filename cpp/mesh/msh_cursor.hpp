// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace op2::mesh {

/// @brief A place in a file of Gmsh, and the reading of numbers from there on: as text, or as
/// bytes.
///
/// All input is checked; every failure names the section and the place.
class MshCursor {
 public:
  explicit MshCursor(std::span<const char> data) : data_(data.data(), data.size()) {}

  void set_binary(bool is_binary) { is_binary_ = is_binary; }
  [[nodiscard]] bool is_binary() const { return is_binary_; }
  /// Name the current part of the file, for messages.
  void enter(std::string_view section) { section_ = shown(section); }

  /// @brief The next word, from the current place or the next line on; empty at the end.
  [[nodiscard]] std::string_view word();
  /// @brief The rest of the current line; the next line comes next.
  [[nodiscard]] std::string_view line();
  /// @brief Go behind the next occurrence of a word; false if there is none.
  [[nodiscard]] bool skip_past(std::string_view word);
  /// @brief Go to the begin of the next line.
  void skip_line() { static_cast<void>(line()); }

  [[nodiscard]] std::int32_t int32(const char* what);
  [[nodiscard]] std::int64_t int64(const char* what);
  [[nodiscard]] double real(const char* what);
  /// @brief A number of things to follow, each of at least @p least_numbers numbers.
  /// @throws MeshFileError if the rest of the file is too short for them.
  [[nodiscard]] std::int64_t count(const char* what, std::int64_t least_numbers);
  /// @brief As `count`, where the number stands in a line of text in binary files, too.
  [[nodiscard]] std::int64_t count_in_text(const char* what, std::int64_t least_numbers);
  /// @brief A text in quotes, possibly with blanks.
  [[nodiscard]] std::string quoted(const char* what);

  /// @brief The begin of a text as messages show it; a damaged file may have any byte there.
  [[nodiscard]] static std::string shown(std::string_view text);
  /// @throws MeshFileError always: the message gives the current place in the file.
  [[noreturn]] void fail(const std::string& message) const { fail_at(place_, message); }
  [[noreturn]] void fail_at(std::size_t place, const std::string& message) const;
  [[nodiscard]] std::size_t place() const { return place_; }

 private:
  template <class Number>
  Number from_bytes(const char* what);
  template <class Number>
  Number from_text(const char* what);
  void check_count(std::int64_t n, std::int64_t least_numbers, std::size_t bytes_each,
                   const char* what) const;
  [[noreturn]] void fail_at_end(const char* what) const;

  std::string_view data_;
  std::size_t place_ = 0;
  bool is_binary_ = false;
  std::string section_ = "the header";
};

}  // namespace op2::mesh
