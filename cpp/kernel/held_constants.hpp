// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief A floating value. Equal are those of equal bits: -0.0 is not 0.0.
struct Real {
  double value = 0;
  bool operator==(const Real& other) const {
    return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(other.value);
  }
};

/// @brief What a scalar holds: of integers and bool the first, of floating types the second; of
/// complex ones that is the real part, and the other one is 0.0.
using Constant = std::variant<std::int64_t, Real>;

/// @brief Integers beyond it, and below its negative, are not followed by runs of kernels.
inline constexpr std::int64_t followed_up_to = (std::int64_t{1} << 31) - 1;

/// @brief 0, or 0.0.
[[nodiscard]] bool is_zero(const Constant& constant);

/// @brief The value of a floating literal; nothing if it is none, or has no finite value that a
/// double holds exactly. One without a suffix is rounded to double, one with an f to float.
[[nodiscard]] std::optional<double> real_of(std::string_view literal);

/// @brief True if an integer type holds @p value as it is, of values that runs of kernels follow.
[[nodiscard]] inline bool keeps(Base base, std::int64_t value) {
  switch (base) {
    case Base::int32:
    case Base::int64:
      return -followed_up_to <= value && value <= followed_up_to;
    case Base::uint32:
    case Base::uint64:
      return 0 <= value && value <= followed_up_to;
    case Base::int8:
    case Base::int16:
      return -127 <= value && value <= 127;
    case Base::uint8:
    case Base::uint16:
      return 0 <= value && value <= 127;
    case Base::boolean:
      return value == 0 || value == 1;
    default:
      return false;
  }
}

/// @brief What a scalar of this type holds once @p constant went into it; nothing if the value
/// changes on the way, but for bool, or is beyond what runs of kernels follow.
[[nodiscard]] std::optional<Constant> held_as(const Constant& constant, Base base);

}  // namespace op2::kernel
