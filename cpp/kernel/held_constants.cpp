// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/held_constants.hpp"

#include <locale.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>

#include "base/overload.hpp"

namespace op2::kernel {
namespace {

constexpr std::int64_t n_exact = std::int64_t{1} << 53;  // doubles hold all integers up to it

template <class Float>
std::optional<double> parsed_as(std::string_view digits, std::chars_format format) {
  Float value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, format);
  const auto exact = static_cast<double>(value);
  const bool is_whole = error == std::errc{} && stop == end && std::isfinite(exact);
  return is_whole && static_cast<Float>(exact) == value ? std::optional(exact) : std::nullopt;
}

/// std::from_chars takes no long double in the C++ library of Clang.
std::optional<double> parsed_as_long_double(const std::string& text) {
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  char* stop = nullptr;
  errno = 0;
  const long double value = strtold_l(text.c_str(), &stop, c_locale);
  const auto exact = static_cast<double>(value);
  const bool is_whole = errno == 0 && *stop == '\0' && std::isfinite(exact);
  return is_whole && exact == value ? std::optional(exact) : std::nullopt;
}

std::optional<Constant> as_integer(std::int64_t value, Base base) {
  if (base == Base::boolean) return Constant(std::int64_t{value != 0});
  return keeps(base, value) ? std::optional<Constant>(value) : std::nullopt;
}

std::optional<Constant> as_integer(double value, Base base) {
  if (base == Base::boolean) return Constant(std::int64_t{value != 0});
  const bool is_whole = std::trunc(value) == value && std::abs(value) <= n_exact;
  return is_whole ? as_integer(static_cast<std::int64_t>(value), base) : std::nullopt;
}

std::optional<Constant> as_real(double value, Base base) {
  if (base != Base::float32 && base != Base::complex64) return Real{value};
  const bool has_range = std::abs(value) <= std::numeric_limits<float>::max();
  const bool is_exact = has_range && static_cast<double>(static_cast<float>(value)) == value;
  return is_exact ? std::optional<Constant>(Real{value}) : std::nullopt;
}

std::optional<Constant> as_real(std::int64_t value, Base base) {
  const bool is_exact = -n_exact <= value && value <= n_exact;
  return is_exact ? as_real(static_cast<double>(value), base) : std::nullopt;
}

}  // namespace

bool is_zero(const Constant& constant) {
  return constant == Constant(std::int64_t{0}) || constant == Constant(Real{0.0});
}

std::optional<double> real_of(std::string_view literal) {
  const bool is_hex = literal.starts_with("0x") || literal.starts_with("0X");
  if (is_hex) literal.remove_prefix(2);
  if (literal.find_first_of(is_hex ? "pP" : ".eE") == std::string_view::npos) return std::nullopt;
  const auto format = is_hex ? std::chars_format::hex : std::chars_format::general;
  const std::string_view digits = literal.substr(0, literal.size() - 1);
  switch (literal.back()) {
    case 'f':
    case 'F':
      return parsed_as<float>(digits, format);
    case 'l':
    case 'L':
      return parsed_as_long_double((is_hex ? "0x" : "") + std::string(digits));
    default:
      return parsed_as<double>(literal, format);
  }
}

std::optional<Constant> held_as(const Constant& constant, Base base) {
  const bool is_real = base == Base::float32 || base == Base::float64 || is_complex(base);
  if (!is_real && !is_integer(base)) return std::nullopt;
  return std::visit(overload{[&](std::int64_t value) {
                               return is_real ? as_real(value, base) : as_integer(value, base);
                             },
                             [&](const Real& real) {
                               return is_real ? as_real(real.value, base)
                                              : as_integer(real.value, base);
                             }},
                    constant);
}

}  // namespace op2::kernel
