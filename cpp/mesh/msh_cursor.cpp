// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/msh_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.hpp"

namespace op2::mesh {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

}  // namespace

std::string_view MshCursor::word() {
  while (place_ < data_.size() && is_blank(data_[place_])) ++place_;
  const std::size_t begin = place_;
  while (place_ < data_.size() && !is_blank(data_[place_])) ++place_;
  return data_.substr(begin, place_ - begin);
}

std::string_view MshCursor::line() {
  const std::size_t begin = place_;
  const std::size_t end = std::min(data_.find('\n', begin), data_.size());
  place_ = std::min(end + 1, data_.size());
  return data_.substr(begin, end - begin);
}

bool MshCursor::skip_past(std::string_view word) {
  const std::size_t found = data_.find(word, place_);
  if (found == std::string_view::npos) return false;
  place_ = found + word.size();
  return true;
}

template <class Number>
Number MshCursor::from_bytes(const char* what) {
  if (data_.size() - place_ < sizeof(Number)) fail_at_end(what);
  Number found{};
  std::memcpy(&found, data_.data() + place_, sizeof(Number));
  place_ += sizeof(Number);
  return found;
}

template <class Number>
Number MshCursor::from_text(const char* what) {
  const std::string_view text = word();
  if (text.empty()) fail_at_end(what);
  // A sign that from_chars does not take.
  const char* begin = text.data() + (text.size() > 1 && text.front() == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  Number found{};
  const auto [stop, error] = std::from_chars(begin, end, found);
  if (error != std::errc() || stop != end) {
    fail_at(place_ - text.size(), fmt::format("expected {}, got '{}'", what, shown(text)));
  }
  return found;
}

std::string MshCursor::shown(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string found(text.substr(0, most));
  std::ranges::replace_if(
      found, [](char c) { return c < ' ' || c > '~'; }, '?');
  return found;
}

std::int32_t MshCursor::int32(const char* what) {
  return is_binary_ ? from_bytes<std::int32_t>(what) : from_text<std::int32_t>(what);
}

std::int64_t MshCursor::int64(const char* what) {
  return is_binary_ ? from_bytes<std::int64_t>(what) : from_text<std::int64_t>(what);
}

double MshCursor::real(const char* what) {
  return is_binary_ ? from_bytes<double>(what) : from_text<double>(what);
}

// A number takes four bytes at least, or a digit and a blank.
std::int64_t MshCursor::count(const char* what, std::int64_t least_numbers) {
  const std::int64_t n = int64(what);
  check_count(n, least_numbers, is_binary_ ? 4 : 2, what);
  return n;
}

std::int64_t MshCursor::count_in_text(const char* what, std::int64_t least_numbers) {
  const auto n = from_text<std::int64_t>(what);
  check_count(n, least_numbers, is_binary_ ? 4 : 2, what);
  return n;
}

void MshCursor::check_count(std::int64_t n, std::int64_t least_numbers, std::size_t bytes_each,
                            const char* what) const {
  const std::size_t left = data_.size() - place_ + 1;  // a last line may lack its end
  const std::size_t most = left / (static_cast<std::size_t>(least_numbers) * bytes_each);
  if (n < 0 || static_cast<std::uint64_t>(n) > most) {
    fail(fmt::format("{} is {}, but only {} bytes follow", what, n, data_.size() - place_));
  }
}

std::string MshCursor::quoted(const char* what) {
  const std::string_view text = line();
  const std::size_t first = text.find('"');
  const std::size_t last = text.rfind('"');
  if (first == std::string_view::npos || last == first) {
    fail_at(place_ - std::min(place_, text.size() + 1),
            fmt::format("expected {} in double quotes, got '{}'", what, shown(text)));
  }
  return std::string(text.substr(first + 1, last - first - 1));
}

void MshCursor::fail_at_end(const char* what) const {
  fail_at(data_.size(), fmt::format("the file ends where {} is expected", what));
}

void MshCursor::fail_at(std::size_t place, const std::string& message) const {
  if (is_binary_) {
    throw MeshFileError(fmt::format("byte {}, in {}: {}", place, section_, message));
  }
  const std::string_view before = data_.substr(0, std::min(place, data_.size()));
  throw MeshFileError(fmt::format(
      "line {}, in {}: {}", std::count(before.begin(), before.end(), '\n') + 1, section_, message));
}

}  // namespace op2::mesh
