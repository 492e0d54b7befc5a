// SPDX-License-Identifier: BSD-3-Clause
#include "base/canonical.hpp"

#include <fmt/format.h>

namespace op2 {

Canonical& Canonical::text(std::string_view value) {
  out_ += fmt::format("s{}:{}", value.size(), value);
  return *this;
}

Canonical& Canonical::number(std::int64_t value) {
  const std::string digits = fmt::format("{}", value);
  out_ += fmt::format("n{}:{}", digits.size(), digits);
  return *this;
}

Canonical& Canonical::open(std::string_view name) {
  out_ += fmt::format("({}:{}", name.size(), name);
  return *this;
}

Canonical& Canonical::close() {
  out_ += ')';
  return *this;
}

}  // namespace op2
