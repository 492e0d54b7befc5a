// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace op2::exec {

/// @brief The exact sum of any number of doubles, equal for all orders and all parts.
///
/// Bins hold 32 bits of the sum each. Sums of several processes are sums of their bins, as
/// integers.
class ExactSum {
 public:
  static constexpr std::size_t n_bins = 68;
  /// Bins, then how many infinities of each sign and NaNs were added.
  using Parts = std::array<std::int64_t, n_bins + 3>;

  /// @brief Add a value.
  void add(double value);
  /// @brief Add every @p stride th value.
  void add(std::span<const double> values, std::size_t stride = 1);
  /// @brief Add another sum.
  void add(const ExactSum& other);
  /// @brief The bins with carries moved on: the parts of 2^30 sums may be added as integers.
  [[nodiscard]] const Parts& parts() const { return parts_; }
  /// @brief The sum of parts added up, rounded to the nearest double, ties to even.
  [[nodiscard]] static double rounded(Parts parts);

 private:
  Parts parts_ = {};
};

/// @brief The sums of the columns of a table, row by row of @p width values.
[[nodiscard]] std::vector<ExactSum> column_sums(std::span<const double> values, std::size_t width,
                                                int n_threads);

}  // namespace op2::exec
