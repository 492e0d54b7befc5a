// SPDX-License-Identifier: BSD-3-Clause
#include "base/canonical_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <system_error>

#include "base/error.hpp"

namespace op2 {
namespace {

/// The whole of @p digits as a number; false if it is anything else, or not as Canonical writes it.
template <class T>
bool parse(std::string_view digits, T& value) {
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return failure == std::errc() && end == digits.data() + digits.size() &&
         fmt::format("{}", value) == digits;
}

}  // namespace

void CanonicalReader::fail(std::string_view expected) const {
  throw UsageError(
      fmt::format("damaged data: expected {} at byte {} of {}", expected, at_, text_.size()));
}

std::string_view CanonicalReader::field(char tag, std::string_view what) {
  if (at_ >= text_.size() || text_[at_] != tag) fail(what);
  const std::size_t colon = text_.find(':', at_);
  std::size_t n_bytes = 0;
  if (colon == std::string_view::npos || !parse(text_.substr(at_ + 1, colon - at_ - 1), n_bytes) ||
      n_bytes > text_.size() - colon - 1) {
    fail(what);
  }
  at_ = colon + 1 + n_bytes;
  return text_.substr(colon + 1, n_bytes);
}

std::int64_t CanonicalReader::number() {
  const std::size_t begin = at_;
  std::int64_t value = 0;
  if (parse(field('n', "a number"), value)) return value;
  at_ = begin;
  fail("a number");
}

int CanonicalReader::small() {
  const std::size_t begin = at_;
  const std::int64_t value = number();
  if (value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max()) {
    return static_cast<int>(value);
  }
  at_ = begin;
  fail("a number of 32 bits");
}

bool CanonicalReader::flag() {
  const std::size_t begin = at_;
  const std::int64_t value = number();
  if (value == 0 || value == 1) return value == 1;
  at_ = begin;
  fail("0 or 1");
}

std::string_view CanonicalReader::open() {
  const std::string_view name = field('(', "a record");
  if (++n_open_ > most_records) fail("fewer records within each other");
  return name;
}

void CanonicalReader::open(std::string_view name) {
  const std::size_t begin = at_;
  if (open() == name) return;
  at_ = begin;
  fail(fmt::format("a record '{}'", name));
}

void CanonicalReader::close() {
  if (!is_at_close()) fail("the end of a record");
  --n_open_;
  ++at_;
}

}  // namespace op2
