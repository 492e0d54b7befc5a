// SPDX-License-Identifier: BSD-3-Clause
#include "api/libraries.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "api/shared.hpp"
#include "base/error.hpp"
#include "exec/column.hpp"
#include "libs/known.hpp"

namespace op2 {
namespace {

using exec::Column;
using exec::Scalar;

/// Functions of the program in the form of a library.
class ProgramLibrary : public libs::VectorLibrary {
 public:
  ProgramLibrary(std::string name, const LibraryFunctions& functions)
      : name_(std::move(name)), functions_(functions) {}

  [[nodiscard]] const std::string& path() const override { return name_; }

  [[nodiscard]] std::string veto_dot(const Column& x, const Column& y) const override {
    const bool has = (x.dtype == DType::float64 && functions_.dot_float64 != nullptr) ||
                     (x.dtype == DType::float32 && functions_.dot_float32 != nullptr) ||
                     (x.dtype == DType::complex128 && functions_.dot_complex128 != nullptr);
    return veto(has, x, y);
  }

  [[nodiscard]] Scalar dot(const Column& x, const Column& y, bool conjugate) const override {
    const auto n = static_cast<std::size_t>(x.n);
    if (x.dtype == DType::float64) return of(functions_.dot_float64, n, x, y);
    if (x.dtype == DType::float32) return of(functions_.dot_float32, n, x, y);
    if (conjugate) return of(functions_.dot_complex128, n, x, y);
    std::vector<std::complex<double>> turned;  // the function conjugates, and nobody asked for it
    const auto* values = static_cast<const std::complex<double>*>(y.data);
    for (std::size_t i = 0; i < n; ++i) turned.push_back(std::conj(values[i]));
    return of(functions_.dot_complex128, n, x, {y.dtype, turned.data(), y.n, 1});
  }

  [[nodiscard]] std::string veto_axpy(const Column& alpha, const Column& x,
                                      const Column& y) const override {
    if (alpha.dtype != y.dtype) return fmt::format("dtype: the factor is {}", name_of(alpha.dtype));
    if (alpha.stride != 0 && alpha.n != 1) return "stride: there are many factors";
    const bool has = (y.dtype == DType::float64 && functions_.axpy_float64 != nullptr) ||
                     (y.dtype == DType::float32 && functions_.axpy_float32 != nullptr) ||
                     (y.dtype == DType::complex128 && functions_.axpy_complex128 != nullptr);
    const auto* x_begin = static_cast<const std::byte*>(x.data);
    const auto* y_begin = static_cast<const std::byte*>(y.data);
    const std::size_t n_bytes = static_cast<std::size_t>(x.n) * size_of(x.dtype);
    if (x_begin < y_begin + n_bytes && y_begin < x_begin + n_bytes) {
      return "overlap: both are the same memory";
    }
    return veto(has, x, y);
  }

  void axpy(const Column& alpha, const Column& x, const Column& y) const override {
    const auto n = static_cast<std::size_t>(x.n);
    if (y.dtype == DType::float64) return add(functions_.axpy_float64, n, alpha, x, y);
    if (y.dtype == DType::float32) return add(functions_.axpy_float32, n, alpha, x, y);
    add(functions_.axpy_complex128, n, alpha, x, y);
  }

 private:
  [[nodiscard]] std::string veto(bool has, const Column& x, const Column& y) const {
    if (!has || x.dtype != y.dtype) {
      return fmt::format("dtype: there is no function of {} and {}", name_of(x.dtype),
                         name_of(y.dtype));
    }
    if (x.stride != 1 || y.stride != 1) return "stride: the values do not follow each other";
    const auto n = static_cast<std::size_t>(x.n);
    if (n >= functions_.least) return "";
    return fmt::format("length: there are {} values, and {} are the least", n, functions_.least);
  }

  template <class T, class Sum>
  static Scalar of(Sum (*function)(std::size_t, const T*, const T*), std::size_t n, const Column& x,
                   const Column& y) {
    return function(n, static_cast<const T*>(x.data), static_cast<const T*>(y.data));
  }

  template <class T>
  static void add(void (*function)(std::size_t, T, const T*, T*), std::size_t n,
                  const Column& alpha, const Column& x, const Column& y) {
    function(n, *static_cast<const T*>(alpha.data), static_cast<const T*>(x.data),
             static_cast<T*>(y.data));
  }

  const std::string name_;
  const LibraryFunctions functions_;
};

void check_functions(const std::string& name, const LibraryFunctions& functions) {
  if (name.empty()) throw UsageError("Library: the name must not be empty");
  if (functions.dot_float64 != nullptr || functions.dot_float32 != nullptr ||
      functions.dot_complex128 != nullptr || functions.axpy_float64 != nullptr ||
      functions.axpy_float32 != nullptr || functions.axpy_complex128 != nullptr) {
    return;
  }
  throw UsageError(fmt::format("Library '{}': there is no function; pass at least one", name));
}

/// Null: no libraries, since another thread has just chosen again.
std::shared_ptr<libs::Vectors> vectors_now() {
  api::Shared& all = api::shared();
  const std::lock_guard lock(all.mutex);
  return all.vectors;
}

/// The run-time asks for values that it does not change by the same type as for others.
Column column_of(DType dtype, std::size_t n, const void* values, std::int64_t stride = 1) {
  return {dtype, const_cast<void*>(values), static_cast<std::int64_t>(n), stride};
}

}  // namespace

Library::Library(std::string name, const LibraryFunctions& functions) {
  check_functions(name, functions);
  auto library = std::make_shared<const ProgramLibrary>(name, functions);
  known_ = std::make_shared<const libs::KnownLibrary>(libs::LibraryTable{
      std::move(name), {}, [library](const std::vector<std::string>&) { return library; }});
}

namespace api {

bool asks_libraries() {
  return shared().asks_libraries.load(std::memory_order_relaxed);
}

void library_dot(DType dtype, std::size_t n, const void* x, const void* y, void* sum,
                 const std::function<void()>& own) {
  const std::shared_ptr<libs::Vectors> vectors = vectors_now();
  if (vectors == nullptr) return own();
  const bool is_complex_sum = is_complex(dtype);
  const auto core = [&]() -> Scalar {
    own();
    if (is_complex_sum) return *static_cast<std::complex<double>*>(sum);
    return *static_cast<double*>(sum);
  };
  const Scalar found =
      vectors->dot(column_of(dtype, n, x), column_of(dtype, n, y), /*conjugate=*/true, core);
  if (is_complex_sum) {
    *static_cast<std::complex<double>*>(sum) = std::get<std::complex<double>>(found);
  } else {
    *static_cast<double*>(sum) = std::get<double>(found);
  }
}

void library_axpy(DType dtype, std::size_t n, const void* alpha, const void* x, void* y,
                  const std::function<void()>& own) {
  const std::shared_ptr<libs::Vectors> vectors = vectors_now();
  if (vectors == nullptr) return own();
  vectors->axpy(column_of(dtype, 1, alpha, 0), column_of(dtype, n, x), column_of(dtype, n, y), own);
}

}  // namespace api
}  // namespace op2
