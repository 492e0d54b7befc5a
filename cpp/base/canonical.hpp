// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace op2 {

/// @brief Canonical, length-prefixed serialisation of a key.
///
/// Every field is written as `tag length ':' bytes`, so no two different sequences of fields give
/// the same string. Keys are compared on the string; the digest only indexes.
class Canonical {
 public:
  Canonical& text(std::string_view value);
  Canonical& number(std::int64_t value);
  Canonical& flag(bool value) { return number(value ? 1 : 0); }
  /// @brief Open a nested record of kind @p name; balance with close().
  Canonical& open(std::string_view name);
  Canonical& close();

  [[nodiscard]] const std::string& str() const { return out_; }

 private:
  std::string out_;
};

}  // namespace op2
