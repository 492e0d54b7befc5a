// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace op2 {

/// @brief Scalar types a Dat, Global or kernel parameter may hold. Those behind complex128 are of
/// memory only: kernels see wider ones.
enum class DType : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  complex64,
  complex128,
  float16,
  bfloat16,
};

inline constexpr std::size_t n_dtypes = 14;

/// @brief Bytes of a scalar.
[[nodiscard]] std::size_t size_of(DType dtype);

/// @brief NumPy's name, e.g. "float64".
[[nodiscard]] std::string_view name_of(DType dtype);

/// @brief Spelling in header-free C11, e.g. "double", "unsigned char", "double _Complex".
[[nodiscard]] std::string_view c_name_of(DType dtype);

/// @brief The type with NumPy's name @p name. @throws UsageError if there is none.
[[nodiscard]] DType dtype_from_name(std::string_view name);

[[nodiscard]] bool is_complex(DType dtype);
[[nodiscard]] bool is_floating(DType dtype);  ///< float32 or float64
[[nodiscard]] bool is_half(DType dtype);      ///< float16 or bfloat16, of memory only
[[nodiscard]] bool is_integer(DType dtype);
[[nodiscard]] bool is_signed_integer(DType dtype);

}  // namespace op2
