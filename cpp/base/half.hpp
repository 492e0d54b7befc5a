// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace op2 {

/// @brief A real number in 16 bits of memory, without arithmetic.
///
/// Numbers become the nearest one, of two the even one, and infinite beyond the range. Rounding is
/// by adding a power of two whose last digit is that of the result, so subnormal numbers are no
/// case of their own.
/// @tparam fraction Bits behind the point: 10 of IEEE 754's binary16, 7 of bfloat16.
template <int fraction>
class Half {
 public:
  Half() = default;

  template <class T>
  requires std::is_arithmetic_v<T>
  explicit constexpr Half(T value) : bits_(bits_of(static_cast<double>(value))) {}

  template <class T>
  requires std::is_arithmetic_v<T>
  explicit constexpr operator T() const { return static_cast<T>(number()); }

  constexpr bool operator==(const Half& other) const { return number() == other.number(); }

  /// @brief Print as float, on any stream: no header of streams is needed here.
  template <class Stream>
  friend auto operator<<(Stream& out, Half value) -> decltype(out << 1.0F) {
    return out << value.number();
  }

 private:
  static constexpr int bias_ = (1 << (14 - fraction)) - 1;
  static constexpr std::uint32_t infinity_ = 0x7fffU >> fraction << fraction;

  [[nodiscard]] constexpr float number() const {
    const std::uint32_t size = static_cast<std::uint32_t>(bits_ & 0x7fff) << (23 - fraction);
    const std::uint32_t sign = static_cast<std::uint32_t>(bits_ & 0x8000) << 16;
    constexpr std::uint32_t raised = (127U - bias_) << 23;
    std::uint32_t found = size + raised;
    if ((bits_ & infinity_) == infinity_) found += raised;
    if (bias_ < 127 && size < 1U << 23) {
      constexpr auto least = std::bit_cast<float>(raised + (1U << 23));
      found = std::bit_cast<std::uint32_t>(std::bit_cast<float>(found + (1U << 23)) - least);
    }
    return std::bit_cast<float>(found | sign);
  }

  static constexpr std::uint16_t bits_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t size = bits & (~std::uint64_t{0} >> 1);
    const auto sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000);
    constexpr std::uint64_t least = 1024 - bias_;  // the exponent of subnormal numbers
    const std::uint64_t exponent = size >> 52 < least ? least : size >> 52;
    if (size > std::uint64_t{0x7ff} << 52) {
      return static_cast<std::uint16_t>(sign | infinity_ | 1U << (fraction - 1));
    }
    if (exponent > 1023 + bias_) return static_cast<std::uint16_t>(sign | infinity_);
    const std::uint64_t power = (exponent + 52 - fraction) << 52;
    const double sum = std::bit_cast<double>(size) + std::bit_cast<double>(power);
    const std::uint64_t digits = std::bit_cast<std::uint64_t>(sum) - power;
    return static_cast<std::uint16_t>(sign | (((exponent - least) << fraction) + digits));
  }

  std::uint16_t bits_ = 0;
};

using Float16 = Half<10>;
using Bfloat16 = Half<7>;

template <class T>
inline constexpr bool is_half_v = false;
template <int fraction>
inline constexpr bool is_half_v<Half<fraction>> = true;

}  // namespace op2
