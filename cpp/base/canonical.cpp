// SPDX-License-Identifier: BSD-3-Clause
#include "base/canonical.hpp"

#include <array>
#include <charconv>

namespace op2 {
namespace {

/// The digits of a number; most of what a loop is found by is written here, so without fmt.
class Digits {
 public:
  explicit Digits(std::int64_t value)
      : end_(std::to_chars(digits_.data(), digits_.data() + digits_.size(), value).ptr) {}
  Digits(const Digits&) = delete;
  Digits& operator=(const Digits&) = delete;
  Digits(Digits&&) = delete;
  Digits& operator=(Digits&&) = delete;
  ~Digits() = default;

  [[nodiscard]] std::string_view view() const { return {digits_.data(), end_}; }

 private:
  std::array<char, 20> digits_{};  // as many as the least number has, with its sign
  const char* end_;
};

void add_field(std::string& out, char tag, std::string_view bytes) {
  out += tag;
  out += Digits(static_cast<std::int64_t>(bytes.size())).view();
  out += ':';
  out += bytes;
}

}  // namespace

Canonical& Canonical::text(std::string_view value) {
  add_field(out_, 's', value);
  return *this;
}

Canonical& Canonical::number(std::int64_t value) {
  add_field(out_, 'n', Digits(value).view());
  return *this;
}

Canonical& Canonical::open(std::string_view name) {
  add_field(out_, '(', name);
  return *this;
}

Canonical& Canonical::close() {
  out_ += ')';
  return *this;
}

}  // namespace op2
