// SPDX-License-Identifier: BSD-3-Clause
#include "exec/sparse_inverse.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace op2::exec {

SparseInverse::SparseInverse(std::vector<std::int64_t> row_offset,
                             std::vector<std::int32_t> columns, std::int64_t width, Values values,
                             std::int64_t n_ghosts)
    : row_offset_(std::move(row_offset)),
      columns_(std::move(columns)),
      width_(static_cast<std::size_t>(std::max(width, std::int64_t{0}))),
      values_(std::move(values)) {
  const std::size_t n_values = std::visit([](const auto& one) { return one.size(); }, values_);
  const bool fits = !row_offset_.empty() && row_offset_.front() == 0 &&
                    std::is_sorted(row_offset_.begin(), row_offset_.end()) &&
                    row_offset_.back() == static_cast<std::int64_t>(columns_.size()) &&
                    width_ > 0 && n_values == columns_.size() * width_;
  if (!fits) throw UsageError("the arrays of an inverse do not fit each other");
  const auto most = static_cast<std::int64_t>(n_rows()) + n_ghosts - width;
  const bool is_inside = std::all_of(columns_.begin(), columns_.end(),
                                     [most](std::int32_t one) { return one >= 0 && one <= most; });
  if (!is_inside) throw UsageError("a column of an inverse is out of range");
}

void SparseInverse::multiply(std::size_t begin, std::size_t end, std::span<const double> in,
                             std::span<double> out) const {
  const auto rows = [&](const auto& values) {
    for (std::size_t row = begin; row < end; ++row) {
      double sum = 0;
      const auto last = static_cast<std::size_t>(row_offset_[row + 1]);
      for (auto run = static_cast<std::size_t>(row_offset_[row]); run < last; ++run) {
        const auto* factors = &values[run * width_];
        const double* part = &in[static_cast<std::size_t>(columns_[run])];
        for (std::size_t k = 0; k < width_; ++k) sum += static_cast<double>(factors[k]) * part[k];
      }
      out[row] = sum;
    }
  };
  std::visit(rows, values_);
}

}  // namespace op2::exec
