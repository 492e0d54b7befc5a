// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>

namespace fmt {
namespace {

constexpr int least_exponent = -4;  // numbers below are written with an exponent
constexpr int usual_digits = 16;    // numbers with more digits before the point, too
constexpr int digits_of_g = 6;

bool is_digit(char one) {
  return one >= '0' && one <= '9';
}

void append_natural(std::string& text, unsigned long long value, unsigned base = 10) {
  std::array<char, 24> digits;
  std::size_t at = digits.size();
  do {
    digits[--at] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  text.append(digits.data() + at, digits.size() - at);
}

void append_integer(std::string& text, long long value) {
  if (value < 0) text += '-';
  const auto bits = static_cast<unsigned long long>(value);
  append_natural(text, value < 0 ? 0 - bits : bits);
}

/// A positive number as digits, of which the first stands before the point, and its exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

/// printf writes the point of the program's locale, which a program may set; digits are the same.
std::string printed(const char* how, int n, double value) {
  std::array<char, 400> made;
  const int size = std::snprintf(made.data(), made.size(), how, n, value);
  return {made.data(), static_cast<std::size_t>(size)};
}

/// std::to_chars would bring large tables where the C++ library is linked into the program.
Decimal decimal(const std::string& scientific) {
  const std::size_t e = scientific.find('e');
  Decimal found;
  std::copy_if(scientific.begin(), scientific.begin() + static_cast<std::ptrdiff_t>(e),
               std::back_inserter(found.digits), is_digit);
  found.digits.erase(std::max<std::size_t>(found.digits.find_last_not_of('0') + 1, 1));
  found.exponent = std::atoi(scientific.c_str() + e + 1);
  return found;
}

/// The fewest digits of printf that are read as the same number. All numbers of 15 digits come
/// back, or of 6; those next to zero are far from each other, and fewer digits tell them apart.
Decimal shortest(double value, bool is_single) {
  const double least =
      is_single ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  const int most = is_single ? 9 : 17;
  int n = is_single ? 6 : 15;
  if (value < least) n = 1;
  for (;; ++n) {
    const std::string text = printed("%.*e", n - 1, value);
    const bool is_same = is_single ? std::strtof(text.c_str(), nullptr) == static_cast<float>(value)
                                   : std::strtod(text.c_str(), nullptr) == value;
    if (is_same || n == most) return decimal(text);
  }
}

void append_decimal(std::string& text, const Decimal& number, int most_digits) {
  const auto& [digits, exponent] = number;
  const int n = static_cast<int>(digits.size());
  if (exponent < least_exponent || exponent >= most_digits) {
    text += digits[0];
    if (n > 1) text.append(1, '.').append(digits, 1);
    text += exponent < 0 ? "e-" : "e+";
    if (std::abs(exponent) < 10) text += '0';
    append_natural(text, static_cast<unsigned long long>(std::abs(exponent)));
  } else if (exponent < 0) {
    text.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
  } else {
    const auto n_before = static_cast<std::size_t>(exponent) + 1;
    text.append(digits, 0, n_before);
    if (n_before > digits.size()) text.append(n_before - digits.size(), '0');
    if (n_before < digits.size()) text.append(1, '.').append(digits, n_before);
  }
}

/// So many digits behind the point, as printf rounds.
void append_fixed(std::string& text, double value, std::size_t n_behind) {
  std::string digits = printed("%.*f", static_cast<int>(n_behind), value);
  std::erase_if(digits, [](char one) { return !is_digit(one); });
  text.append(digits, 0, digits.size() - n_behind);
  if (n_behind > 0) text.append(1, '.').append(digits, digits.size() - n_behind);
}

[[noreturn]] void unknown(std::string_view how) {
  throw format_error("a format that is not known for such a value: '" + std::string(how) + "'");
}

void append_real(std::string& text, double value, std::string_view how, bool is_single) {
  if (std::signbit(value)) text += '-';
  const double size = std::abs(value);
  if (!std::isfinite(value)) {
    text += std::isnan(value) ? "nan" : "inf";
  } else if (how.empty()) {
    append_decimal(text, shortest(size, is_single), usual_digits);
  } else if (how == "g") {
    append_decimal(text, decimal(printed("%.*e", digits_of_g - 1, size)), digits_of_g);
  } else if (how.size() == 3 && how[0] == '.' && is_digit(how[1]) && how[2] == 'f') {
    append_fixed(text, size, static_cast<std::size_t>(how[1] - '0'));
  } else {
    unknown(how);
  }
}

/// Formats are "x" and "o", or "016x" for so many digits at least.
void append_bits(std::string& text, unsigned long long value, std::string_view how) {
  if (how.back() != 'x' && how.back() != 'o') unknown(how);
  const std::string_view width = how.substr(0, how.size() - 1);
  if (!std::all_of(width.begin(), width.end(), is_digit) || width.size() > 3) unknown(how);
  if (!width.empty() && width[0] != '0') unknown(how);
  std::string digits;
  append_natural(digits, value, how.back() == 'x' ? 16 : 8);
  const auto least = static_cast<std::size_t>(std::atoi(std::string(width).c_str()));
  if (digits.size() < least) text.append(least - digits.size(), '0');
  text += digits;
}

/// The next field of a format, and what the fields before were called.
class Fields {
 public:
  Fields(const argument* arguments, std::size_t n) : arguments_(arguments), n_(n) {}

  const argument& of(std::string_view name) {
    if (name.empty()) return at(next_++);
    if (is_digit(name[0]))
      return at(static_cast<std::size_t>(std::atoi(std::string(name).c_str())));
    const argument* const end = arguments_ + n_;
    const argument* const found =
        std::find_if(arguments_, end, [name](const argument& one) { return one.name() == name; });
    if (found == end)
      throw format_error("a format names an unknown argument: '" + std::string(name) + "'");
    return *found;
  }

 private:
  const argument& at(std::size_t number) const {
    if (number < n_) return arguments_[number];
    throw format_error("a format has more fields than the " + std::to_string(n_) + " arguments");
  }

  const argument* arguments_;
  std::size_t n_;
  std::size_t next_ = 0;
};

}  // namespace

void argument::append_to(std::string& text, std::string_view how) const {
  switch (kind_) {
    case kind::real:
    case kind::single:
      return append_real(text, value_.real, how, kind_ == kind::single);
    case kind::integer:
      if (!how.empty()) unknown(how);  // a negative number in hexadecimal digits has two readings
      return append_integer(text, value_.integer);
    case kind::natural:
      return how.empty() ? append_natural(text, value_.natural)
                         : append_bits(text, value_.natural, how);
    default:
      break;
  }
  if (!how.empty()) unknown(how);
  if (kind_ == kind::boolean) text += value_.natural != 0 ? "true" : "false";
  if (kind_ == kind::character) text += static_cast<char>(value_.natural);
  if (kind_ == kind::text) text.append(value_.text.begin, value_.text.size);
  if (kind_ == kind::range) value_.range.append(text, value_.range.at);
}

void append(std::string& text, const argument& value) {
  value.append_to(text, {});
}

std::string vformat(std::string_view format, const argument* arguments, std::size_t n) {
  std::string made;
  made.reserve(format.size() + 16 * n);
  Fields fields(arguments, n);
  while (true) {
    const std::size_t brace = format.find_first_of("{}");
    made += format.substr(0, brace);
    if (brace == std::string_view::npos) return made;
    const char one = format[brace];
    format.remove_prefix(brace + 1);
    if (!format.empty() && format[0] == one) {
      made += one;
      format.remove_prefix(1);
      continue;
    }
    const std::size_t end = one == '{' ? format.find('}') : std::string_view::npos;
    if (end == std::string_view::npos) throw format_error("a brace of a format has no partner");
    const std::string_view field = format.substr(0, end);
    const std::size_t colon = field.find(':');
    const bool has_format = colon != std::string_view::npos;
    fields.of(field.substr(0, colon))
        .append_to(made, has_format ? field.substr(colon + 1) : std::string_view());
    format.remove_prefix(end + 1);
  }
}

}  // namespace fmt
