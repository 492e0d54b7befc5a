// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "api/libraries.hpp"
#include "base/access.hpp"
#include "base/convert.hpp"
#include "base/error.hpp"

/// Conversions, gathers, sums and multiples of arrays, for programs in C++ and for graphs.
///
/// In a generated project they are compiled into the run-time for the types listed in api/eti.json,
/// and a program instantiates none of them; other types are instantiated in the program. With
/// OP2_ETI_ONLY other types are refused. The functions for callers are at the end of this file.
namespace op2::leaves {

/// Whether a leaf is compiled for some types, by eti/leaves_avail.hpp.
template <class To, class From>
struct ConvertAvail : std::false_type {};
template <class T, class Index>
struct GatherAvail : std::false_type {};
template <class T>
struct InnerAvail : std::false_type {};
template <class T>
struct AxpyAvail : std::false_type {};
template <class T>
struct ScanAvail : std::false_type {};

}  // namespace op2::leaves

// A project has the file, the core has not: the core's own units are few.
#if __has_include(<eti/leaves_avail.hpp>)
#include <eti/leaves_avail.hpp>
#endif

namespace op2::leaves {

/// The type of a sum of values: wider than the values, where a wider type exists.
template <class T>
struct Widened {
  using type = std::conditional_t<std::is_integral_v<T>, std::int64_t,
                                  std::conditional_t<std::is_same_v<T, float>, double, T>>;
};
template <class T>
struct Widened<std::complex<T>> {
  using type = std::complex<typename Widened<T>::type>;
};
template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

template <class T>
using Wide = typename Widened<T>::type;

/// Their definitions are in api/leaves_impl.hpp, unseen by programs: a compiler may expand visible
/// definitions, in spite of extern declarations.
template <class To, class From, bool Compiled = ConvertAvail<To, From>::value>
struct Convert {
  /// The number of the first value that does not fit, and then nothing was converted; or -1.
  static std::int64_t run(std::span<const From> from, To* to, Casting casting);
};
template <class T, class Index, bool Compiled = GatherAvail<T, Index>::value>
struct Gather {
  static void run(const T* values, std::span<const Index> rows, std::size_t dim, T* to);
};
/// The third parameter is the other switch: with `true` a library may be asked.
template <class T, bool Compiled = InnerAvail<T>::value, bool Library = LibraryAvail<T>::value>
struct Inner {
  static Wide<T> run(std::span<const T> left, const T* right);
};
template <class T, bool Compiled>
struct Inner<T, Compiled, true> {
  static Wide<T> run(std::span<const T> left, const T* right) {
    Wide<T> sum{};
    const auto own = [&] { sum = Inner<T, Compiled, false>::run(left, right); };
    if (!api::asks_libraries()) {
      own();
    } else {
      api::library_dot(LibraryAvail<T>::dtype, left.size(), left.data(), right, &sum, own);
    }
    return sum;
  }
};
template <class T, bool Compiled = AxpyAvail<T>::value, bool Library = LibraryAvail<T>::value>
struct Axpy {
  static void run(T alpha, std::span<const T> x, T* y);
};
template <class T, bool Compiled>
struct Axpy<T, Compiled, true> {
  static void run(T alpha, std::span<const T> x, T* y) {
    const auto own = [&] { Axpy<T, Compiled, false>::run(alpha, x, y); };
    if (!api::asks_libraries()) return own();
    api::library_axpy(LibraryAvail<T>::dtype, x.size(), &alpha, x.data(), y, own);
  }
};
template <class T, bool Compiled = ScanAvail<T>::value>
struct Scan {
  static void run(std::span<const T> from, std::size_t dim, T* to, Access operation,
                  bool inclusive);
};

}  // namespace op2::leaves

#if !defined(OP2_ETI_ONLY) || defined(OP2_COMPILES_LEAVES)
#include "api/leaves_impl.hpp"
#else
namespace op2::leaves {

template <class...>
inline constexpr bool is_listed = false;

// For types outside the list there is nothing to call.
template <class To, class From>
struct Convert<To, From, false> {
  static_assert(is_listed<To, From>,
                "OP2_ETI_ONLY: op2::convert is not compiled for these types; add them to eti.json");
};
template <class T, class Index>
struct Gather<T, Index, false> {
  static_assert(is_listed<T, Index>,
                "OP2_ETI_ONLY: op2::gather is not compiled for these types; add them to eti.json");
};
template <class T>
struct Inner<T, false, false> {
  static_assert(is_listed<T>,
                "OP2_ETI_ONLY: op2::inner is not compiled for this type; add it to eti.json");
};
template <class T>
struct Axpy<T, false, false> {
  static_assert(is_listed<T>,
                "OP2_ETI_ONLY: op2::axpy is not compiled for this type; add it to eti.json");
};
template <class T>
struct Scan<T, false> {
  static_assert(is_listed<T>,
                "OP2_ETI_ONLY: op2::scan is not compiled for this type; add it to eti.json");
};

}  // namespace op2::leaves
#endif

#if __has_include(<eti/leaves_decl.hpp>) && !defined(OP2_COMPILES_LEAVES)
#include <eti/leaves_decl.hpp>
#endif

namespace op2 {

namespace leaves {

/// The scalar of a range: const or not, vector, array or span lead to the same instantiation.
template <class Range>
using Scalar =
    std::remove_cv_t<typename decltype(std::span(std::declval<const Range&>()))::element_type>;

/// Sums, and minima and maxima of values with an order.
template <class T>
void check_scanned(const char* what, Access operation) {
  if (operation == Access::inc) return;
  const bool has_order = operation == Access::min || operation == Access::max;
  if (has_order && !IsComplex<T>::value) return;
  throw UsageError(std::string(what) +
                   (has_order ? ": complex numbers have no order; pass Access::inc"
                              : ": the operation is Access::inc for sums, min or max, got " +
                                    std::string(name_of(operation))));
}

inline void check_as_many(const char* what, std::size_t expected, std::size_t got) {
  if (expected == got) return;
  throw UsageError(std::string(what) + ": expected " + std::to_string(expected) + " values, got " +
                   std::to_string(got) + "; pass as many");
}

}  // namespace leaves

/// @brief Convert each value of a range to the type of another range, as static_cast does.
/// @param[in] casting The accepted values: by default those within the range of the type.
/// @throws UsageError for different lengths, and for a value that is not accepted; nothing is
/// converted then.
template <class From, class To>
void convert(const From& from, To&& to, Casting casting = Casting::fitting) {
  using Source = leaves::Scalar<From>;
  const std::span values(to);
  using Target = typename decltype(values)::element_type;
  leaves::check_as_many("convert", std::span(from).size(), values.size());
  const std::int64_t unfit =
      leaves::Convert<Target, Source>::run(std::span<const Source>(from), values.data(), casting);
  if (unfit >= 0) {
    throw UsageError("convert: the value at " + std::to_string(unfit) +
                     (casting == Casting::exact ? " loses digits, or" : "") +
                     " is beyond the range of the type; nothing was converted. Pass "
                     "Casting::unsafe to convert it all the same");
  }
}

/// @brief Take rows of `dim` values, in the order of a list of them.
/// @param[in] rows Entries in [0, number of rows): not checked.
/// @throws UsageError if the target has not as many.
template <class Values, class Rows, class To>
void gather(const Values& values, const Rows& rows, To&& to, std::size_t dim = 1) {
  using T = leaves::Scalar<Values>;
  using Index = leaves::Scalar<Rows>;
  const std::span<T> target(to);
  leaves::check_as_many("gather", std::span(rows).size() * dim, target.size());
  leaves::Gather<T, Index>::run(std::span<const T>(values).data(), std::span<const Index>(rows),
                                dim, target.data());
}

/// @brief The sum of `left[i] * conj(right[i])`: float is summed as double, real or complex, and
/// integers as std::int64_t. The bits depend on the values only, unless Options::blas leaves the
/// sum to a library.
/// @throws UsageError for different numbers of values.
template <class Left, class Right>
auto inner(const Left& left, const Right& right) {
  using T = leaves::Scalar<Left>;
  const std::span<const T> other(right);
  leaves::check_as_many("inner", std::span(left).size(), other.size());
  return leaves::Inner<T>::run(std::span<const T>(left), other.data());
}

/// @brief The square root of the sum of `abs(x[i])^2`, summed as by inner().
template <class Values>
auto norm(const Values& x) {
  return std::sqrt(std::real(inner(x, x)));
}

/// @brief Add a multiple: `y[i] += alpha * x[i]`. @p x and @p y may be the same values.
/// @throws UsageError for different numbers of values; nothing is changed then.
template <class Values, class To>
void axpy(leaves::Scalar<Values> alpha, const Values& x, To&& y) {
  using T = leaves::Scalar<Values>;
  const std::span<T> target(y);
  leaves::check_as_many("axpy", std::span(x).size(), target.size());
  leaves::Axpy<T>::run(alpha, std::span<const T>(x), target.data());
}

/// @brief Sums, minima or maxima over rows of `dim` values: each row gets the result of all rows
/// before. NaN stays, as in NumPy. @p from and @p to may be the same values.
/// @param[in] operation Access::inc for sums, Access::min or Access::max.
/// @param[in] inclusive Whether the row itself counts. Otherwise the first row gets 0, or of minima
/// and maxima the largest or smallest number of the type.
/// @throws UsageError for different numbers of values, another operation, or an order of complex
/// numbers; nothing is changed then.
template <class From, class To>
void scan(const From& from, To&& to, std::size_t dim = 1, Access operation = Access::inc,
          bool inclusive = false) {
  using T = leaves::Scalar<From>;
  const std::span<T> target(to);
  leaves::check_as_many("scan", std::span(from).size(), target.size());
  leaves::check_scanned<T>("scan", operation);
  leaves::Scan<T>::run(std::span<const T>(from), dim, target.data(), operation, inclusive);
}

}  // namespace op2
