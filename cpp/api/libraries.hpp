// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "base/dtype.hpp"

namespace op2 {

/// @brief Functions of a library for the algebra of vectors; null: the library has no such
/// function, and the run-time's own is called. Vectors are contiguous and do not overlap.
struct LibraryFunctions {
  /// The sum of `x[i] * y[i]`.
  double (*dot_float64)(std::size_t n, const double* x, const double* y) = nullptr;
  /// The same of single precision, summed in double.
  double (*dot_float32)(std::size_t n, const float* x, const float* y) = nullptr;
  /// The sum of `x[i] * conj(y[i])`.
  std::complex<double> (*dot_complex128)(std::size_t n, const std::complex<double>* x,
                                         const std::complex<double>* y) = nullptr;
  /// `y[i] += alpha * x[i]`.
  void (*axpy_float64)(std::size_t n, double alpha, const double* x, double* y) = nullptr;
  void (*axpy_float32)(std::size_t n, float alpha, const float* x,
                       float* y) = nullptr;  ///< as well
  void (*axpy_complex128)(std::size_t n, std::complex<double> alpha, const std::complex<double>* x,
                          std::complex<double>* y) = nullptr;  ///< as well
  std::size_t least = 0;  ///< vectors with fewer values are not given to the library
};

/// @brief A library of the program, known by name while the object lives.
///
/// A static object in any file of the program is enough:
///
///     static const op2::Library mine("mine", {.dot_float64 = my_dot});
///
/// After `op2::init({.blas = "auto"})`, or `.blas = "mine"`, inner(), norm() and axpy() take turns
/// with the library, and the faster way is kept for each operation, type and power of two of the
/// length. report() has a row for each way.
class Library {
 public:
  /// @throws UsageError if the name is empty or taken, or there is no function.
  Library(std::string name, const LibraryFunctions& functions);

 private:
  std::shared_ptr<const void> known_;
};

namespace api {

/// @brief Whether libraries may be asked, by Options::blas.
[[nodiscard]] bool asks_libraries();

/// @brief The sum of products of @p n values, by a library or by @p own, which writes to @p sum.
/// @param[out] sum Of the type of inner().
void library_dot(DType dtype, std::size_t n, const void* x, const void* y, void* sum,
                 const std::function<void()>& own);

/// @brief Multiples of @p n values added, by a library or by @p own.
void library_axpy(DType dtype, std::size_t n, const void* alpha, const void* x, void* y,
                  const std::function<void()>& own);

}  // namespace api

namespace leaves {

/// Whether code that may ask a library is compiled in for a type: the first of two switches, at
/// compile time. Options::blas is the second, at run time. With OP2_NO_LIBRARIES no type has any.
template <class T>
struct LibraryAvail : std::false_type {};
#ifndef OP2_NO_LIBRARIES
template <>
struct LibraryAvail<float> : std::true_type {
  static constexpr DType dtype = DType::float32;
};
template <>
struct LibraryAvail<double> : std::true_type {
  static constexpr DType dtype = DType::float64;
};
template <>
struct LibraryAvail<std::complex<double>> : std::true_type {
  static constexpr DType dtype = DType::complex128;
};
#endif

}  // namespace leaves
}  // namespace op2
