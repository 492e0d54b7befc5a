// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/vendor_library.hpp"
#include "exec/column.hpp"
#include "libs/known.hpp"

namespace op2::libs {

/// @brief Sums of products and multiples of vectors by a library with C's interface to BLAS:
/// OpenBLAS, MKL, the reference BLAS.
///
/// Integers are the library's: 32 bits, or 64 if the functions end with `64_`.
class Cblas : public VectorLibrary {
 public:
  /// @brief Load the first of @p candidates with the functions.
  /// @throws ToolchainError with the searched names, if there is none.
  explicit Cblas(const std::vector<std::string>& candidates);

  [[nodiscard]] const std::string& path() const override { return library_.path(); }

  [[nodiscard]] std::string veto_dot(const exec::Column& x, const exec::Column& y) const override;
  [[nodiscard]] exec::Scalar dot(const exec::Column& x, const exec::Column& y,
                                 bool conjugate) const override;
  [[nodiscard]] std::string veto_axpy(const exec::Column& alpha, const exec::Column& x,
                                      const exec::Column& y) const override;
  void axpy(const exec::Column& alpha, const exec::Column& x, const exec::Column& y) const override;

 private:
  [[nodiscard]] std::string veto(const exec::Column& one) const;
  [[nodiscard]] void* address(const char* name) const;

  VendorLibrary library_;
  bool is_wide_ = false;   // integers of the library have 64 bits
  void* ddot_ = nullptr;   // double(n, x, stride, y, stride)
  void* dsdot_ = nullptr;  // the same of floats
  void* zdotu_ = nullptr;  // void(n, x, stride, y, stride, sum)
  void* zdotc_ = nullptr;  // the same, of conj(x)
  void* daxpy_ = nullptr;  // void(n, alpha, x, stride, y, stride)
  void* zaxpy_ = nullptr;  // the same, with the address of alpha
};

/// @brief Names of such libraries on common systems, the faster first.
[[nodiscard]] std::vector<std::string> cblas_names();

}  // namespace op2::libs
