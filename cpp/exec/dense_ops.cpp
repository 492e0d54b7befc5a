// SPDX-License-Identifier: BSD-3-Clause
#include "exec/dense_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "base/convert.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "move/conversions.hpp"
#include "move/types.hpp"

namespace op2::exec {
namespace {

// Values converted at a time: they stay in the first-level cache.
constexpr std::int64_t block = 512;

// Below this many values a thread costs more to start than it saves.
constexpr std::int64_t grain = 1 << 16;

// Values of one partial sum.
constexpr std::int64_t piece = 1 << 13;

constexpr std::int64_t n_accumulators = 16;

template <class T>
using Accumulators = std::array<T, n_accumulators>;

/// Call @p f with a value of the type in which values are combined.
template <class F>
void with_common(DType dtype, const F& f) {
  switch (dtype) {
    case DType::uint64:
      return f(std::uint64_t{});
    case DType::float32:
      return f(float{});
    case DType::float64:
      return f(double{});
    case DType::complex64:
      return f(std::complex<float>{});
    case DType::complex128:
      return f(std::complex<double>{});
    default:
      return f(std::int64_t{});
  }
}

template <class T>
constexpr move::Type type_of() {
  if constexpr (std::is_same_v<T, std::int64_t>) return {DType::int64, false};
  if constexpr (std::is_same_v<T, std::uint64_t>) return {DType::uint64, false};
  if constexpr (std::is_same_v<T, float>) return {DType::float32, false};
  if constexpr (std::is_same_v<T, double>) return {DType::float64, false};
  if constexpr (std::is_same_v<T, std::complex<float>>) return {DType::complex64, false};
  if constexpr (std::is_same_v<T, std::complex<double>>) return {DType::complex128, false};
}

/// Values of a column from one on, read or written by a leaf of the engine that moves values.
std::int64_t bytes_between(const Column& column) {
  return column.stride * static_cast<std::int64_t>(size_of(column.dtype));
}

char* place_in(const Column& column, std::int64_t i) {
  return static_cast<char*>(column.data) + i * bytes_between(column);
}

template <class T>
bool is_block_of(const Column& column) {
  return column.stride == 1 && column.dtype == type_of<T>().dtype;
}

/// Reads a column a block at a time in type T: in place where it can be, else converted.
template <class T>
class ColumnReader {
 public:
  explicit ColumnReader(const Column& column)
      : column_(column),
        in_place_(is_block_of<T>(column)),
        conversion_(move::conversion(type_of<T>(), {column.dtype, false})) {
    if (column.stride == 0) convert(0, block);
  }

  const T* at(std::int64_t begin, std::int64_t n) {
    if (in_place_) return static_cast<const T*>(column_.data) + begin;
    if (column_.stride != 0) convert(begin, n);
    return values_.data();
  }

 private:
  void convert(std::int64_t begin, std::int64_t n) {
    (void)conversion_.run({.to = reinterpret_cast<char*>(values_.data()),
                           .to_stride = sizeof(T),
                           .from = {place_in(column_, begin)},
                           .from_stride = {bytes_between(column_)}},
                          n);
  }

  const Column& column_;
  bool in_place_;
  move::Leaf conversion_;
  std::array<T, block> values_;
};

/// Writes a column a block at a time in type T.
template <class T>
class ColumnWriter {
 public:
  explicit ColumnWriter(const Column& column)
      : column_(column),
        in_place_(is_block_of<T>(column)),
        conversion_(move::conversion({column.dtype, false}, type_of<T>())) {}

  T* at(std::int64_t begin) {
    return in_place_ ? static_cast<T*>(column_.data) + begin : values_.data();
  }

  void commit(std::int64_t begin, std::int64_t n) {
    if (in_place_) return;
    (void)conversion_.run({.to = place_in(column_, begin),
                           .to_stride = bytes_between(column_),
                           .from = {reinterpret_cast<const char*>(values_.data())},
                           .from_stride = {sizeof(T)}},
                          n);
  }

 private:
  const Column& column_;
  bool in_place_;
  move::Leaf conversion_;
  std::array<T, block> values_;
};

template <class T>
T product(const T& left, const T& right) {
  if constexpr (is_complex_v<T>) {  // without the library's detour for infinities
    return {left.real() * right.real() - left.imag() * right.imag(),
            left.real() * right.imag() + left.imag() * right.real()};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(left) * static_cast<std::uint64_t>(right));
  } else {
    return left * right;
  }
}

template <class T>
T sum(const T& left, const T& right) {
  if constexpr (std::is_integral_v<T>) {  // wraps around
    return static_cast<T>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
  } else {
    return left + right;
  }
}

template <class T>
T negated(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(value));
  } else {
    return -value;
  }
}

template <class T>
T quotient(const T& left, const T& right) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    if (right == -1) return negated(left);  // the lowest integer has no counterpart
  }
  return left / right;
}

template <Elementwise op, class T>
T apply(const T& left, const T& right) {
  if constexpr (op == Elementwise::add) return sum(left, right);
  if constexpr (op == Elementwise::subtract) return sum(left, negated(right));
  if constexpr (op == Elementwise::multiply) return product(left, right);
  if constexpr (op == Elementwise::divide) return quotient(left, right);
}

/// `out = f(left, right)` for all values.
template <class T, class F>
void over_blocks(const Column& out, const Column& left, const Column& right, int n_threads,
                 const F& f) {
  parallel_for(
      n_threads, out.n,
      [&out, &left, &right, &f](std::int64_t begin, std::int64_t end, int) {
        ColumnReader<T> from_left(left);
        ColumnReader<T> from_right(right);
        ColumnWriter<T> writer(out);
        for (std::int64_t at = begin; at < end; at += block) {
          const std::int64_t n = std::min(block, end - at);
          const T* a = from_left.at(at, n);
          const T* b = from_right.at(at, n);
          T* c = writer.at(at);
          for (std::int64_t i = 0; i < n; ++i) c[i] = f(a[i], b[i]);
          writer.commit(at, n);
        }
      },
      grain);
}

template <class T>
void combine_as(Elementwise op, const Column& out, const Column& left, const Column& right,
                int n_threads) {
  switch (op) {
    case Elementwise::add:
      return over_blocks<T>(out, left, right, n_threads, apply<Elementwise::add, T>);
    case Elementwise::subtract:
      return over_blocks<T>(out, left, right, n_threads, apply<Elementwise::subtract, T>);
    case Elementwise::multiply:
      return over_blocks<T>(out, left, right, n_threads, apply<Elementwise::multiply, T>);
    case Elementwise::divide:
      return over_blocks<T>(out, left, right, n_threads, apply<Elementwise::divide, T>);
  }
}

bool has_zero(const Column& column, int n_threads) {
  std::atomic<bool> found = false;
  move::with_type(column.dtype, [&](auto sample) {
    const auto* values = static_cast<const decltype(sample)*>(column.data);
    parallel_for(
        n_threads, column.stride == 0 ? 1 : column.n,
        [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t i = begin; i < end; ++i) {
            if (values[i * column.stride] == decltype(sample){}) found = true;
          }
        },
        grain);
  });
  return found;
}

void check_length(const Column& column, std::int64_t n) {
  if (column.stride != 0 && column.n != n) {
    throw UsageError(fmt::format("columns of {} and {} values", column.n, n));
  }
}

/// Add each `a[i] * b[i]` to the accumulator `i % n_accumulators`: none waits for another.
template <bool conjugate, class T>
[[gnu::always_inline]] inline void add_products(Accumulators<T>& totals, const T* a, const T* b,
                                                std::int64_t n) {
  Accumulators<T> sums = totals;  // its address stays here, so that it is kept in registers
  const auto add = [&sums, a, b](std::int64_t i, std::int64_t k) {
    T& total = sums[static_cast<std::size_t>(k)];
    if constexpr (is_complex_v<T>) {
      total += product(a[i], conjugate ? std::conj(b[i]) : b[i]);
    } else {
      total = sum(total, product(a[i], b[i]));
    }
  };
  std::int64_t i = 0;
  for (; i + n_accumulators <= n; i += n_accumulators) {
    for (std::int64_t k = 0; k < n_accumulators; ++k) add(i + k, k);
  }
  for (; i < n; ++i) add(i, i % n_accumulators);
  totals = sums;
}

template <bool conjugate, class T>
void add_products_anywhere(Accumulators<T>& sums, const T* a, const T* b, std::int64_t n) {
  add_products<conjugate>(sums, a, b, n);
}

#if defined(__x86_64__)
// The same additions in the same order, of more values at a time; AVX2 without FMA rounds alike.
template <bool conjugate, class T>
[[gnu::target("avx2")]] void add_products_avx2(Accumulators<T>& sums, const T* a, const T* b,
                                               std::int64_t n) {
  add_products<conjugate>(sums, a, b, n);
}
#endif

template <class T>
using AddProducts = void (*)(Accumulators<T>&, const T*, const T*, std::int64_t);

/// The fastest that this processor runs.
template <bool conjugate, class T>
AddProducts<T> products_adder() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &add_products_avx2<conjugate, T>;
#endif
  return &add_products_anywhere<conjugate, T>;
}

template <class T>
T piece_sum(ColumnReader<T>& x, ColumnReader<T>& y, AddProducts<T> add, std::int64_t begin,
            std::int64_t end) {
  Accumulators<T> sums{};
  for (std::int64_t at = begin; at < end; at += block) {
    const std::int64_t n = std::min(block, end - at);
    add(sums, x.at(at, n), y.at(at, n), n);
  }
  T total{};
  for (const T& one : sums) total = sum(total, one);
  return total;
}

template <class T>
T dot_as(const Column& x, const Column& y, bool conjugate, int n_threads) {
  const std::int64_t n_pieces = (x.n + piece - 1) / piece;
  std::vector<T> sums(static_cast<std::size_t>(n_pieces));
  const AddProducts<T> add = conjugate ? products_adder<true, T>() : products_adder<false, T>();
  parallel_for(
      n_threads, n_pieces,
      [&x, &y, add, &sums](std::int64_t first, std::int64_t last, int) {
        ColumnReader<T> from_x(x);
        ColumnReader<T> from_y(y);
        for (std::int64_t p = first; p < last; ++p) {
          sums[static_cast<std::size_t>(p)] =
              piece_sum(from_x, from_y, add, p * piece, std::min((p + 1) * piece, x.n));
        }
      },
      grain / piece);
  T total{};
  for (const T& one : sums) total = sum(total, one);
  return total;
}

}  // namespace

DType common(DType left, DType right) {
  const auto either = [left, right](DType dtype) { return left == dtype || right == dtype; };
  const bool is_wide = either(DType::float64) || either(DType::complex128);
  const auto is_real = [](DType dtype) { return is_floating(dtype) || is_half(dtype); };
  if (is_complex(left) || is_complex(right)) {
    return is_wide ? DType::complex128 : DType::complex64;
  }
  if (is_real(left) || is_real(right)) return is_wide ? DType::float64 : DType::float32;
  return either(DType::uint64) ? DType::uint64 : DType::int64;
}

Elementwise elementwise_from(std::string_view symbol) {
  constexpr std::array<std::string_view, 4> symbols{"+", "-", "*", "/"};
  const auto found = std::find(symbols.begin(), symbols.end(), symbol);
  if (found == symbols.end()) throw UsageError(fmt::format("no operation '{}'", symbol));
  return static_cast<Elementwise>(found - symbols.begin());
}

void combine(Elementwise op, const Column& out, const Column& left, const Column& right,
             int n_threads) {
  check_length(left, out.n);
  check_length(right, out.n);
  const DType dtype = common(left.dtype, right.dtype);
  if (op == Elementwise::divide && is_integer(dtype) && out.n > 0 && has_zero(right, n_threads)) {
    throw UsageError("an integer would be divided by zero");
  }
  with_common(dtype,
              [&](auto sample) { combine_as<decltype(sample)>(op, out, left, right, n_threads); });
}

void axpy(const Column& alpha, const Column& x, const Column& y, int n_threads) {
  check_length(x, y.n);
  const DType dtype = common(common(alpha.dtype, x.dtype), y.dtype);
  with_common(dtype, [&](auto sample) {
    using T = decltype(sample);
    ColumnReader<T> reader(alpha);
    const T factor = *reader.at(0, 1);
    over_blocks<T>(y, x, y, n_threads,
                   [factor](const T& a, const T& b) { return sum(b, product(factor, a)); });
  });
}

Scalar dot(const Column& x, const Column& y, bool conjugate, int n_threads) {
  check_length(y, x.n);
  Scalar total;
  with_common(common(x.dtype, y.dtype), [&](auto sample) {
    using T = decltype(sample);
    if constexpr (is_complex_v<T>) {
      total = dot_as<std::complex<double>>(x, y, conjugate, n_threads);
    } else if constexpr (std::is_floating_point_v<T>) {
      total = dot_as<double>(x, y, conjugate, n_threads);
    } else {
      total = dot_as<T>(x, y, conjugate, n_threads);
    }
  });
  return total;
}

}  // namespace op2::exec
