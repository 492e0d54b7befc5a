// SPDX-License-Identifier: BSD-3-Clause
#include "exec/products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace op2::exec {
namespace {

// Below this many places a thread costs more to start than it saves.
constexpr std::int64_t places_of_grain = 1 << 15;

/// A product as it is written down: the standard's of complex numbers looks for infinities.
template <class T>
T times(T a, T b) {
  return a * b;
}

template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Rows [begin, end) of blocks of one value.
template <class T, class Index>
void add_singles(const BlockTable& matrix, std::span<const Index> columns, const T* x, T* y,
                 std::int64_t begin, std::int64_t end) {
  const auto* values = static_cast<const T*>(matrix.values);
  for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
    T sum = y[row];
    const auto last = static_cast<std::size_t>(matrix.row_offset[row + 1]);
    for (auto place = static_cast<std::size_t>(matrix.row_offset[row]); place < last; ++place) {
      sum += times(values[place], x[static_cast<std::size_t>(columns[place])]);
    }
    y[row] = sum;
  }
}

/// Rows [begin, end) of square blocks whose size the compiler knows, in the order of add_blocks().
template <std::size_t dim, class T, class Index>
void add_squares(const BlockTable& matrix, std::span<const Index> columns, const T* x, T* y,
                 std::int64_t begin, std::int64_t end) {
  const auto* values = static_cast<const T*>(matrix.values);
  for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
    std::array<T, dim> sums;
    std::copy_n(y + row * dim, dim, sums.begin());
    const auto last = static_cast<std::size_t>(matrix.row_offset[row + 1]);
    for (auto place = static_cast<std::size_t>(matrix.row_offset[row]); place < last; ++place) {
      const T* block = values + place * dim * dim;
      const T* part = x + static_cast<std::size_t>(columns[place]) * dim;
      for (std::size_t i = 0; i < dim; ++i) {
        for (std::size_t j = 0; j < dim; ++j) sums[i] += times(block[i * dim + j], part[j]);
      }
    }
    std::copy_n(sums.begin(), dim, y + row * dim);
  }
}

/// Rows [begin, end) of blocks of any size.
template <class T, class Index>
void add_blocks(const BlockTable& matrix, std::span<const Index> columns, const T* x, T* y,
                std::int64_t begin, std::int64_t end) {
  const auto n_rows = static_cast<std::size_t>(matrix.row_dim);
  const auto n_columns = static_cast<std::size_t>(matrix.column_dim);
  const auto* values = static_cast<const T*>(matrix.values);
  for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
    const auto last = static_cast<std::size_t>(matrix.row_offset[row + 1]);
    for (auto place = static_cast<std::size_t>(matrix.row_offset[row]); place < last; ++place) {
      const T* block = values + place * n_rows * n_columns;
      const T* part = x + static_cast<std::size_t>(columns[place]) * n_columns;
      for (std::size_t i = 0; i < n_rows; ++i) {
        T sum = y[row * n_rows + i];
        for (std::size_t j = 0; j < n_columns; ++j) sum += times(block[i * n_columns + j], part[j]);
        y[row * n_rows + i] = sum;
      }
    }
  }
}

template <class T, class Index>
void add_rows(const BlockTable& matrix, std::span<const Index> columns, const T* x, T* y,
              std::int64_t begin, std::int64_t end) {
  const int dim = matrix.row_dim == matrix.column_dim ? matrix.row_dim : 0;
  if (dim == 1) return add_singles(matrix, columns, x, y, begin, end);
  if (dim == 2) return add_squares<2>(matrix, columns, x, y, begin, end);
  if (dim == 3) return add_squares<3>(matrix, columns, x, y, begin, end);
  add_blocks(matrix, columns, x, y, begin, end);
}

template <class T>
void multiply_as(const BlockTable& matrix, const T* x, T* y, bool is_added, int n_threads) {
  const auto n_rows = static_cast<std::int64_t>(matrix.row_offset.size()) - 1;
  if (n_rows < 1) return;
  const std::int64_t n_places = std::max<std::int64_t>(matrix.row_offset.back(), 1);
  const std::int64_t grain = std::max<std::int64_t>(places_of_grain * n_rows / n_places, 1);
  const auto body = [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
    if (!is_added) std::fill(y + begin * matrix.row_dim, y + end * matrix.row_dim, T{});
    std::visit([&](const auto& columns) { add_rows(matrix, columns, x, y, begin, end); },
               matrix.columns);
  };
  parallel_for(n_threads, n_rows, body, grain);
}

}  // namespace

bool is_multiplied(DType dtype) {
  return is_floating(dtype) || is_complex(dtype) || dtype == DType::int64;
}

void multiply(const BlockTable& matrix, const void* x, void* y, bool is_added, int n_threads) {
  const auto as = [&]<class T>(T /*kind*/) {
    multiply_as(matrix, static_cast<const T*>(x), static_cast<T*>(y), is_added, n_threads);
  };
  switch (matrix.dtype) {
    case DType::float32:
      return as(float{});
    case DType::float64:
      return as(double{});
    case DType::complex64:
      return as(std::complex<float>{});
    case DType::complex128:
      return as(std::complex<double>{});
    case DType::int64:  // unsigned ones wrap around, with the same bits
      return as(std::uint64_t{});
    default:
      throw UnsupportedError(
          fmt::format("there is no product of matrices of {}", name_of(matrix.dtype)));
  }
}

}  // namespace op2::exec
