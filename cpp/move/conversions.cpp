// SPDX-License-Identifier: BSD-3-Clause
#include "move/conversions.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <type_traits>

#include "base/error.hpp"
#include "move/kernel_type.hpp"
#include "move/leaves.hpp"
#include "move/types.hpp"
#include "move/values.hpp"

namespace op2::move {
namespace {

template <class To, class From, bool are_held>
struct ConvertKernel {
  Prefix prefix;

  static std::int64_t one(const Prefix* /*self*/, const Items& items, char* /*scratch*/) {
    convert_values<To, From, are_held>(items.to, 0, items.from[0], 0, 1);
    return all_fit;
  }
  static std::int64_t at_strides(const Prefix* /*self*/, const Items& items, std::int64_t n,
                                 char* /*scratch*/) {
    convert_values<To, From, are_held>(items.to, items.to_stride, items.from[0],
                                       items.from_stride[0], n);
    return all_fit;
  }
  static std::int64_t at_places(const Prefix* /*self*/, const Items& items, const Lists& lists,
                                std::int64_t n, char* /*scratch*/) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t to = lists.to == nullptr ? i : lists.to[i];
      const std::int64_t from = lists.from == nullptr ? i : lists.from[i];
      convert_values<To, From, are_held>(items.to + to * items.to_stride, 0,
                                         items.from[0] + from * items.from_stride[0], 0, 1);
    }
    return all_fit;
  }
};

template <class To, class From, bool all_digits>
struct CheckKernel {
  Prefix prefix;

  static std::int64_t one(const Prefix* /*self*/, const Items& items, char* /*scratch*/) {
    return first_unfit_value<To, From, all_digits>(items.from[0], 0, 1);
  }
  static std::int64_t at_strides(const Prefix* /*self*/, const Items& items, std::int64_t n,
                                 char* /*scratch*/) {
    return first_unfit_value<To, From, all_digits>(items.from[0], items.from_stride[0], n);
  }
};

/// Call @p f with values of both types.
template <class F>
void with_pair(const Type& to, const Type& from, const F& f) {
  if (!are_convertible(to, from)) {
    throw UsageError(
        fmt::format("values of {} cannot become {}: their imaginary parts would be "
                    "lost; take their real parts",
                    name_of(from), name_of(to)));
  }
  with_type(from.dtype, [&to, &f](auto source) {
    using From = decltype(source);
    if (to.is_truth) {
      if constexpr (!is_complex_v<From>) f(bool{}, source);
      return;
    }
    with_type(to.dtype, [&f, source](auto target) {
      if constexpr (is_complex_v<decltype(target)> || !is_complex_v<From>) f(target, source);
    });
  });
}

/// The type of a real or imaginary part.
Type part_of(const Type& type) {
  if (!is_complex(type.dtype)) return type;
  return {type.dtype == DType::complex64 ? DType::float32 : DType::float64, false};
}

}  // namespace

std::string_view name_of(const Type& type) {
  return type.is_truth ? "bool" : op2::name_of(type.dtype);
}

bool are_convertible(const Type& to, const Type& from) {
  return is_complex(to.dtype) || !is_complex(from.dtype);
}

bool always_fits(const Type& to, const Type& from, Casting casting) {
  if (casting == Casting::unsafe || to == from || from.is_truth) return true;
  if (is_half(from.dtype)) return is_floating(to.dtype) || is_complex(to.dtype);
  if (is_half(to.dtype)) return false;
  bool found = false;
  with_pair(part_of(to), part_of(from), [&found, casting](auto target, auto source) {
    using To = decltype(target);
    using From = decltype(source);
    using Ends = std::numeric_limits<From>;
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
      found = fits<To>(Ends::min()) && fits<To>(Ends::max());
    } else if constexpr (std::is_floating_point_v<To>) {
      const bool has_digits = std::numeric_limits<To>::digits >= Ends::digits;
      found = has_digits || (std::is_integral_v<From> && casting == Casting::fitting);
    }
  });
  return found;
}

Leaf conversion(const Type& to, const Type& from) {
  Leaf leaf{};
  with_pair(to, from, [&leaf](auto target, auto source) {
    leaf.prefix.function =
        function_for<ConvertKernel<decltype(target), decltype(source), false>>(Request::strided);
  });
  return leaf;
}

std::size_t add_convert(Builder& builder, std::size_t at, const Type& to, const Type& from,
                        Request request, bool are_held) {
  builder.note("convert {} to {}", name_of(from), name_of(to));
  with_pair(to, from, [&builder, at, request, are_held](auto target, auto source) {
    using To = decltype(target);
    using From = decltype(source);
    constexpr bool may_differ = std::is_integral_v<To> && std::is_floating_point_v<From>;
    builder.at<Prefix>(at)->function =
        are_held ? function_for<ConvertKernel<To, From, may_differ>>(request)
                 : function_for<ConvertKernel<To, From, false>>(request);
  });
  return at + sizeof(Prefix);
}

std::size_t add_check(Builder& builder, std::size_t at, const Type& to, const Type& from,
                      Casting casting, Request request) {
  builder.note("find the first {} that {} does not hold{}", name_of(from), name_of(to),
               casting == Casting::exact ? " with all digits" : "");
  with_pair(to, from, [&builder, at, casting, request](auto target, auto source) {
    using To = decltype(target);
    using From = decltype(source);
    builder.at<Prefix>(at)->function = casting == Casting::exact
                                           ? function_for<CheckKernel<To, From, true>>(request)
                                           : function_for<CheckKernel<To, From, false>>(request);
  });
  return at + sizeof(Prefix);
}

Casting casting_from(std::string_view name) {
  constexpr std::array<std::string_view, 3> names{"unsafe", "fitting", "exact"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Casting>(i);
  }
  throw UsageError(
      fmt::format("casting must be one of 'fitting', 'exact', 'unsafe', got '{}'", name));
}

}  // namespace op2::move
