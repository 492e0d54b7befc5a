// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace op2 {

/// @brief How a loop uses an argument. The numbers are PyOP2's.
enum class Access : std::uint8_t {
  read = 1,   ///< values are read
  write = 2,  ///< all values are overwritten, and none read before
  rw = 3,     ///< read and written
  inc = 4,    ///< added to, the old values included
  min = 5,    ///< made smaller
  max = 6,    ///< made larger
};

/// @brief Upper-case name, e.g. "READ".
[[nodiscard]] constexpr std::string_view name_of(Access access) {
  switch (access) {
    case Access::read:
      return "READ";
    case Access::write:
      return "WRITE";
    case Access::rw:
      return "RW";
    case Access::inc:
      return "INC";
    case Access::min:
      return "MIN";
    case Access::max:
      return "MAX";
  }
  return "";
}

/// @brief True unless the access only reads.
[[nodiscard]] constexpr bool writes(Access access) {
  return access != Access::read;
}

/// @brief True for the accesses whose contributions commute: INC, MIN, MAX.
[[nodiscard]] constexpr bool is_reduction(Access access) {
  return access == Access::inc || access == Access::min || access == Access::max;
}

}  // namespace op2
