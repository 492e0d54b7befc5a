// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <variant>

#include "base/dtype.hpp"

namespace op2::exec {

/// @brief Values in memory: contiguous, a component of rows, or a single value for all.
struct Column {
  DType dtype = DType::float64;
  void* data = nullptr;
  std::int64_t n = 0;
  std::int64_t stride = 1;  ///< scalars from a value to the next; 0: a single value for all
};

/// @brief A sum, in the type of the core's own sums.
using Scalar = std::variant<std::int64_t, std::uint64_t, double, std::complex<double>>;

}  // namespace op2::exec
