// SPDX-License-Identifier: BSD-3-Clause
// The part of the library fmt that the core uses, under the library's names: replacement fields
// without a format or with one of "x", "o", "f" and "g", numbered and named fields, and join(). The
// core needs no library installed, and units compile faster than with the library's headers.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace fmt {

/// @brief A format that does not fit the arguments.
class format_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @brief Elements of a range and the text between them, made by join().
template <class Iterator, class End>
struct joined {
  Iterator begin;
  End end;
  std::string_view separator;
};

class argument;
/// @brief Append @p value as a field without a format shows it.
void append(std::string& text, const argument& value);

template <class T>
constexpr bool is_joined = false;
template <class Iterator, class End>
constexpr bool is_joined<joined<Iterator, End>> = true;

/// @brief A value of any type that has a text. It refers to texts and ranges, so it is not kept.
class argument {
 public:
  enum class kind { boolean, character, integer, natural, real, single, text, range };

  template <class T>
  requires(!std::same_as<T, argument>)
      argument(const T& value) {  // NOLINT: a conversion, so that calls list values
    if constexpr (std::same_as<T, bool>) {
      kind_ = kind::boolean, value_.natural = value ? 1 : 0;
    } else if constexpr (std::same_as<T, char>) {
      kind_ = kind::character, value_.natural = static_cast<unsigned char>(value);
    } else if constexpr (std::same_as<T, float>) {
      kind_ = kind::single, value_.real = static_cast<double>(value);
    } else if constexpr (std::same_as<T, double>) {
      kind_ = kind::real, value_.real = value;
    } else if constexpr (std::unsigned_integral<T>) {
      kind_ = kind::natural, value_.natural = value;
    } else if constexpr (std::signed_integral<T>) {
      kind_ = kind::integer, value_.integer = value;
    } else if constexpr (is_joined<T>) {
      kind_ = kind::range, value_.range = {&value, &append_all<T>};
    } else {
      static_assert(std::convertible_to<const T&, std::string_view>, "a type without a text");
      const std::string_view text = value;
      kind_ = kind::text, value_.text = {text.data(), text.size()};
    }
  }

  /// A value found by the name of a field. @p name lives as long as the value.
  template <class T>
  argument(std::string_view name, const T& value) : argument(value) {
    name_ = name;
  }

  /// Append the value as the format @p how says. @throw format_error for a format unknown here.
  void append_to(std::string& text, std::string_view how) const;
  std::string_view name() const { return name_; }

 private:
  template <class Joined>
  static void append_all(std::string& text, const void* at) {
    const auto& all = *static_cast<const Joined*>(at);
    bool is_first = true;
    for (auto one = all.begin; one != all.end; ++one) {
      if (!is_first) text += all.separator;
      is_first = false;
      append(text, *one);
    }
  }

  union {
    long long integer;
    unsigned long long natural;
    double real;
    struct {
      const char* begin;
      std::size_t size;
    } text;
    struct {
      const void* at;
      void (*append)(std::string& text, const void* at);
    } range;
  } value_;
  kind kind_;
  std::string_view name_;
};

/// @brief Replace the fields of @p format by @p n arguments.
///
/// A field is `{}`, `{2}` or `{name}`, each also with a format behind a colon; `{{` and `}}` are
/// braces.
/// @throw format_error for a field without argument, or a format unknown here.
[[nodiscard]] std::string vformat(std::string_view format, const argument* arguments,
                                  std::size_t n);

/// @brief A format that is known only when the program runs.
struct runtime {
  std::string_view text;
  explicit runtime(std::string_view text) : text(text) {}
};

/// @brief The number of fields without number or name; -1 for a brace without a partner, or for a
/// format that ends in no known letter.
constexpr int n_fields(std::string_view format) {
  int n = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char one = format[i];
    if (one != '{' && one != '}') continue;
    if (i + 1 < format.size() && format[i + 1] == one) {
      ++i;
      continue;
    }
    if (one == '}') return -1;
    const std::size_t start = i + 1;
    while (i < format.size() && format[i] != '}') ++i;
    if (i == format.size()) return -1;
    const std::string_view field = format.substr(start, i - start);
    const std::size_t colon = field.find(':');
    if (colon != std::string_view::npos) {
      if (std::string_view("xofg").find(field.back()) == std::string_view::npos) return -1;
    }
    n += field.empty() || colon == 0 ? 1 : 0;
  }
  return n;
}

/// @brief A format for @p N arguments. A literal with other fields does not compile.
template <std::size_t N>
struct format_for {
  std::string_view text;

  template <class T>
  requires std::convertible_to<const T&, std::string_view>
  consteval format_for(const T& given) : text(given) {  // NOLINT: a conversion
    const int n = n_fields(text);
    if (n < 0) throw "a brace without a partner, or a format that is not known";
    if (n != 0 && n != static_cast<int>(N)) throw "a format has other fields than arguments";
  }
  format_for(runtime given) : text(given.text) {}  // NOLINT: a conversion
};

/// @brief @p text with the values in its fields.
template <class... T>
[[nodiscard]] std::string format(format_for<sizeof...(T)> text, const T&... values) {
  if constexpr (sizeof...(T) == 0) {
    return vformat(text.text, nullptr, 0);
  } else {
    const argument arguments[] = {argument(values)...};
    return vformat(text.text, arguments, sizeof...(T));
  }
}

/// @brief A value for the fields `{name}`.
template <class T>
argument arg(std::string_view name, const T& value) {
  return {name, value};
}

/// @brief Elements with @p separator between them, as a value for a field.
template <class Range>
auto join(const Range& range, std::string_view separator) {
  return joined<decltype(std::begin(range)), decltype(std::end(range))>{std::begin(range),
                                                                        std::end(range), separator};
}

/// @overload
template <class Iterator, class End>
joined<Iterator, End> join(Iterator begin, End end, std::string_view separator) {
  return {begin, end, separator};
}

}  // namespace fmt
