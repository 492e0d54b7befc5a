// SPDX-License-Identifier: BSD-3-Clause
#include "exec/incomplete_lu.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace op2::exec {

template <class Index>
IncompleteLu::IncompleteLu(const BlockRows<Index>& matrix) {
  check_rows(matrix);
  copy_pattern(matrix);
  factorise();
}

template <class Index>
void IncompleteLu::copy_pattern(const BlockRows<Index>& matrix) {
  const auto n_rows = static_cast<std::size_t>(matrix.n_rows);
  const auto dim = static_cast<std::size_t>(matrix.dim);
  if (n_rows * dim > std::numeric_limits<std::uint32_t>::max()) {
    throw UsageError(fmt::format("ILU(0) takes up to 4294967295 rows, not {}", n_rows * dim));
  }
  row_offset_.reserve(n_rows * dim + 1);
  row_offset_.push_back(0);
  columns_.reserve(matrix.values.size());
  values_.reserve(matrix.values.size());
  for (std::size_t i = 0; i < n_rows * dim; ++i) {
    const std::size_t row = i / dim;
    std::size_t pivot = std::numeric_limits<std::size_t>::max();
    for (std::size_t place = matrix.begin(row); place < matrix.end(row); ++place) {
      for (std::size_t k = 0; k < dim; ++k) {
        const std::size_t column = static_cast<std::size_t>(matrix.columns[place]) * dim + k;
        if (column == i) pivot = columns_.size();
        columns_.push_back(static_cast<std::uint32_t>(column));
        values_.push_back(matrix.values[(place * dim + i % dim) * dim + k]);
      }
    }
    if (pivot == std::numeric_limits<std::size_t>::max()) {
      throw ExecutionError(fmt::format("row {} has no place for its diagonal entry", i));
    }
    diagonal_.push_back(pivot);
    row_offset_.push_back(columns_.size());
  }
}

void IncompleteLu::factorise() {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> place_of(n_rows(), none);  // of the columns of the present row
  for (std::size_t row = 0; row < n_rows(); ++row) {
    for (std::size_t at = row_offset_[row]; at < row_offset_[row + 1]; ++at) {
      place_of[columns_[at]] = at;
    }
    for (std::size_t at = row_offset_[row]; at < diagonal_[row]; ++at) {
      const std::size_t above = columns_[at];
      const double factor = values_[at] *= values_[diagonal_[above]];
      for (std::size_t k = diagonal_[above] + 1; k < row_offset_[above + 1]; ++k) {
        const std::size_t target = place_of[columns_[k]];
        if (target != none) values_[target] -= factor * values_[k];
      }
    }
    double& pivot = values_[diagonal_[row]];
    if (pivot == 0 || !std::isfinite(1 / pivot)) {
      throw ExecutionError(fmt::format("the pivot of row {} is {}", row, pivot));
    }
    pivot = 1 / pivot;
    for (std::size_t at = row_offset_[row]; at < row_offset_[row + 1]; ++at) {
      place_of[columns_[at]] = none;
    }
  }
}

void IncompleteLu::solve(std::span<const double> in, std::span<double> out) const {
  for (std::size_t row = 0; row < n_rows(); ++row) {
    double sum = in[row];
    for (std::size_t at = row_offset_[row]; at < diagonal_[row]; ++at) {
      sum -= values_[at] * out[columns_[at]];
    }
    out[row] = sum;
  }
  for (std::size_t row = n_rows(); row-- > 0;) {
    double sum = out[row];
    for (std::size_t at = diagonal_[row] + 1; at < row_offset_[row + 1]; ++at) {
      sum -= values_[at] * out[columns_[at]];
    }
    out[row] = sum * values_[diagonal_[row]];
  }
}

template IncompleteLu::IncompleteLu(const BlockRows<std::int32_t>&);
template IncompleteLu::IncompleteLu(const BlockRows<std::int64_t>&);

}  // namespace op2::exec
