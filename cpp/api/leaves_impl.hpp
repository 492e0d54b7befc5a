// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <limits>
#include <span>

#include "api/leaves.hpp"
#include "move/values.hpp"

/// The definitions of the leaves. A change here changes no list of types, and no declaration.
namespace op2::leaves {
namespace implementation {

constexpr std::size_t piece = 4096;  // of a sum

template <class To, class From>
std::int64_t convert(std::span<const From> from, To* to, Casting casting) {
  const auto* const source = reinterpret_cast<const char*>(from.data());
  constexpr auto to_bytes = static_cast<std::int64_t>(sizeof(To));
  constexpr auto from_bytes = static_cast<std::int64_t>(sizeof(From));
  const auto n = static_cast<std::int64_t>(from.size());
  std::int64_t unfit = -1;
  if (casting == Casting::fitting) {
    unfit = move::first_unfit_value<To, From, false>(source, from_bytes, n);
  } else if (casting == Casting::exact) {
    unfit = move::first_unfit_value<To, From, true>(source, from_bytes, n);
  }
  if (unfit < 0) {
    move::convert_values<To, From>(reinterpret_cast<char*>(to), to_bytes, source, from_bytes, n);
  }
  return unfit;
}

template <class T, class Index>
void gather(const T* values, std::span<const Index> rows, std::size_t dim, T* to) {
  for (const Index row : rows) {
    to = std::copy_n(values + static_cast<std::size_t>(row) * dim, dim, to);
  }
}

template <class T>
Wide<T> product(const T& left, const T& right) {
  return static_cast<Wide<T>>(left) * static_cast<Wide<T>>(right);
}
template <class T>
Wide<std::complex<T>> product(const std::complex<T>& left, const std::complex<T>& right) {
  return Wide<std::complex<T>>(left) * std::conj(Wide<std::complex<T>>(right));
}

/// Sums of pieces first: the error grows with their number and their length, not the product.
template <class T>
Wide<T> inner(std::span<const T> left, const T* right) {
  Wide<T> sum{};
  for (std::size_t begin = 0; begin < left.size(); begin += piece) {
    const std::size_t end = std::min(begin + piece, left.size());
    Wide<T> part{};
    for (std::size_t i = begin; i < end; ++i) part += product(left[i], right[i]);
    sum += part;
  }
  return sum;
}

template <class T>
void axpy(T alpha, std::span<const T> x, T* y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = static_cast<T>(y[i] + alpha * x[i]);
}

/// The result of a row is the first row's value as long as there is no other, so its sign stays.
template <class T, class Join>
void scan_by(std::span<const T> from, std::size_t dim, T* to, T start, bool inclusive,
             const Join& join) {
  for (std::size_t k = 0; k < dim; ++k) {
    T before = start;
    for (std::size_t i = k; i < from.size(); i += dim) {
      const T own = from[i];
      const T all = i == k ? own : join(before, own);
      to[i] = inclusive ? all : before;
      before = all;
    }
  }
}

/// @pre Minima and maxima are of numbers with an order.
template <class T>
void scan(std::span<const T> from, std::size_t dim, T* to, Access operation, bool inclusive) {
  if (operation == Access::inc) {
    return scan_by(from, dim, to, T{}, inclusive,
                   [](const T& sum, const T& own) { return static_cast<T>(sum + own); });
  }
  if constexpr (!IsComplex<T>::value) {
    using Limits = std::numeric_limits<T>;
    constexpr T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
    constexpr T least = Limits::has_infinity ? static_cast<T>(-most) : Limits::lowest();
    if (operation == Access::min) {
      scan_by(from, dim, to, most, inclusive,
              [](T left, T right) { return left < right || left != left ? left : right; });
    } else {
      scan_by(from, dim, to, least, inclusive,
              [](T left, T right) { return left > right || left != left ? left : right; });
    }
  }
}

}  // namespace implementation

template <class To, class From>
struct Convert<To, From, false> {
  static std::int64_t run(std::span<const From> from, To* to, Casting casting) {
    return implementation::convert(from, to, casting);
  }
};
template <class T, class Index>
struct Gather<T, Index, false> {
  static void run(const T* values, std::span<const Index> rows, std::size_t dim, T* to) {
    implementation::gather(values, rows, dim, to);
  }
};
template <class T>
struct Inner<T, false, false> {
  static Wide<T> run(std::span<const T> left, const T* right) {
    return implementation::inner(left, right);
  }
};
template <class T>
struct Axpy<T, false, false> {
  static void run(T alpha, std::span<const T> x, T* y) { implementation::axpy(alpha, x, y); }
};
template <class T>
struct Scan<T, false> {
  static void run(std::span<const T> from, std::size_t dim, T* to, Access operation,
                  bool inclusive) {
    implementation::scan(from, dim, to, operation, inclusive);
  }
};

#ifdef OP2_COMPILES_LEAVES

template <class To, class From, bool Compiled>
std::int64_t Convert<To, From, Compiled>::run(std::span<const From> from, To* to, Casting casting) {
  return implementation::convert(from, to, casting);
}
template <class T, class Index, bool Compiled>
void Gather<T, Index, Compiled>::run(const T* values, std::span<const Index> rows, std::size_t dim,
                                     T* to) {
  implementation::gather(values, rows, dim, to);
}
template <class T, bool Compiled, bool Library>
Wide<T> Inner<T, Compiled, Library>::run(std::span<const T> left, const T* right) {
  return implementation::inner(left, right);
}
template <class T, bool Compiled, bool Library>
void Axpy<T, Compiled, Library>::run(T alpha, std::span<const T> x, T* y) {
  implementation::axpy(alpha, x, y);
}
template <class T, bool Compiled>
void Scan<T, Compiled>::run(std::span<const T> from, std::size_t dim, T* to, Access operation,
                            bool inclusive) {
  implementation::scan(from, dim, to, operation, inclusive);
}

#endif

}  // namespace op2::leaves
