// SPDX-License-Identifier: BSD-3-Clause
#include "base/dtype.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "base/error.hpp"

namespace op2 {
namespace {

enum class Family : std::uint8_t { signed_integer, unsigned_integer, floating, complex, half };

struct Traits {
  DType dtype;
  std::string_view name;
  std::string_view c_name;
  std::size_t size;
  Family family;
};

// In the order of the enum; `long` is 64 bits on every platform the host backends support.
constexpr std::array<Traits, n_dtypes> table{{
    {DType::int8, "int8", "signed char", 1, Family::signed_integer},
    {DType::int16, "int16", "short", 2, Family::signed_integer},
    {DType::int32, "int32", "int", 4, Family::signed_integer},
    {DType::int64, "int64", "long", 8, Family::signed_integer},
    {DType::uint8, "uint8", "unsigned char", 1, Family::unsigned_integer},
    {DType::uint16, "uint16", "unsigned short", 2, Family::unsigned_integer},
    {DType::uint32, "uint32", "unsigned int", 4, Family::unsigned_integer},
    {DType::uint64, "uint64", "unsigned long", 8, Family::unsigned_integer},
    {DType::float32, "float32", "float", 4, Family::floating},
    {DType::float64, "float64", "double", 8, Family::floating},
    {DType::complex64, "complex64", "float _Complex", 8, Family::complex},
    {DType::complex128, "complex128", "double _Complex", 16, Family::complex},
    {DType::float16, "float16", "unsigned short", 2, Family::half},
    {DType::bfloat16, "bfloat16", "unsigned short", 2, Family::half},
}};

const Traits& traits(DType dtype) {
  return table[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::size_t size_of(DType dtype) {
  return traits(dtype).size;
}
std::string_view name_of(DType dtype) {
  return traits(dtype).name;
}
std::string_view c_name_of(DType dtype) {
  return traits(dtype).c_name;
}

DType dtype_from_name(std::string_view name) {
  if (name == "bool") return DType::uint8;  // NumPy's takes a byte, as C's unsigned char does
  std::string known;
  for (const Traits& entry : table) {
    if (entry.name == name) return entry.dtype;
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  throw UsageError(fmt::format("dtype '{}' is not supported; choose one of {}", name, known));
}

bool is_complex(DType dtype) {
  return traits(dtype).family == Family::complex;
}
bool is_floating(DType dtype) {
  return traits(dtype).family == Family::floating;
}
bool is_half(DType dtype) {
  return traits(dtype).family == Family::half;
}
bool is_integer(DType dtype) {
  return is_signed_integer(dtype) || traits(dtype).family == Family::unsigned_integer;
}
bool is_signed_integer(DType dtype) {
  return traits(dtype).family == Family::signed_integer;
}

}  // namespace op2
