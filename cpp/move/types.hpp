// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>

#include "base/error.hpp"
#include "base/half.hpp"
#include "move/leaves.hpp"

namespace op2::move {

/// @brief Call @p f with a value of the C++ type of a dtype.
template <class F>
void with_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::int8:
      return f(std::int8_t{});
    case DType::int16:
      return f(std::int16_t{});
    case DType::int32:
      return f(std::int32_t{});
    case DType::int64:
      return f(std::int64_t{});
    case DType::uint8:
      return f(std::uint8_t{});
    case DType::uint16:
      return f(std::uint16_t{});
    case DType::uint32:
      return f(std::uint32_t{});
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
    case DType::float16:
      return f(Float16{});
    case DType::bfloat16:
      return f(Bfloat16{});
  }
  throw InternalError("unknown dtype");
}

}  // namespace op2::move
