// SPDX-License-Identifier: BSD-3-Clause
#include "libs/cublas.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <utility>

#include "base/dtype.hpp"
#include "base/error.hpp"
#include "base/vendor_library.hpp"

namespace op2::libs {
namespace {

using exec::Column;

constexpr const char* install_cublas =
    "install NVIDIA's cuBLAS (pip install nvidia-cublas, or the CUDA toolkit, and set CUDA_HOME if "
    "it is in an unusual place)";
constexpr int pointer_mode_device = 1;

// named in errors of faults, which come later
const std::string dot_of_cublas = "dot of cuBLAS";
const std::string axpy_of_cublas = "axpy of cuBLAS";
const std::string multiply_of_cublas = "dense.multiply of cuBLAS";

bool have_common_bytes(const Column& x, const Column& y) {
  const auto end = [](const Column& one) {
    return static_cast<const std::byte*>(one.data) +
           static_cast<std::size_t>(one.n * one.stride) * size_of(one.dtype);
  };
  return x.data < end(y) && y.data < end(x);
}

bool fits(std::int64_t n) {
  return n <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

std::vector<std::string> cublas_names() {
  return {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"};
}

CublasApi load_cublas(const std::vector<std::string>& candidates) {
  const VendorLibrary library("NVIDIA's cuBLAS", candidates, install_cublas);
  CublasApi api;
  api.path = library.path();
  library.require(api.create, "cublasCreate_v2");
  library.require(api.destroy, "cublasDestroy_v2");
  library.require(api.set_stream, "cublasSetStream_v2");
  library.require(api.set_pointer_mode, "cublasSetPointerMode_v2");
  library.look_up(api.status_name, "cublasGetStatusName");
  library.require(api.narrow.ddot, "cublasDdot_v2");
  library.require(api.narrow.zdotu, "cublasZdotu_v2");
  library.require(api.narrow.zdotc, "cublasZdotc_v2");
  library.require(api.narrow.daxpy, "cublasDaxpy_v2");
  library.require(api.narrow.zaxpy, "cublasZaxpy_v2");
  library.require(api.narrow.sgemm, "cublasSgemmStridedBatched");
  library.require(api.narrow.dgemm, "cublasDgemmStridedBatched");
  library.require(api.narrow.cgemm, "cublasCgemmStridedBatched");
  library.require(api.narrow.zgemm, "cublasZgemmStridedBatched");
  library.look_up(api.wide.ddot, "cublasDdot_v2_64");
  library.look_up(api.wide.zdotu, "cublasZdotu_v2_64");
  library.look_up(api.wide.zdotc, "cublasZdotc_v2_64");
  library.look_up(api.wide.daxpy, "cublasDaxpy_v2_64");
  library.look_up(api.wide.zaxpy, "cublasZaxpy_v2_64");
  return api;
}

Cublas::Cublas(CublasApi api, std::shared_ptr<runtime::Device> device)
    : api_(std::move(api)), device_(std::move(device)) {}

Cublas::~Cublas() {
  if (handle_ == nullptr) return;
  try {
    device_->lend_queue(dot_of_cublas, [this](std::uintptr_t /*queue*/) {
      static_cast<void>(api_.destroy(handle_));
    });
  } catch (const Error&) {  // in a child process, or after a fault: the handle went with its GPU
  }
}

std::string Cublas::veto(const Column& x, const Column& y) const {
  if (x.stride != 1 || y.stride != 1) return "stride: values do not follow each other";
  for (const Column* one : {&x, &y}) {
    if (reinterpret_cast<std::uintptr_t>(one->data) % size_of(one->dtype) != 0) {
      return "alignment: values begin within others";
    }
  }
  if (x.n == 0) return "length: there are no values";
  if (!fits(x.n) && api_.wide.ddot == nullptr) {
    return fmt::format("length: its integers have 32 bits, and there are {} values", x.n);
  }
  return "";
}

std::string Cublas::veto_dot(const Column& x, const Column& y) const {
  const bool is_known = x.dtype == DType::float64 || x.dtype == DType::complex128;
  if (x.dtype != y.dtype || !is_known) {
    // it would sum up float32 in float32, which loses what loops keep
    return fmt::format("dtype: {} and {}; it takes two of float64 or complex128", name_of(x.dtype),
                       name_of(y.dtype));
  }
  return veto(x, y);
}

std::string Cublas::veto_axpy(DType factor, const Column& x, const Column& y) const {
  const bool is_known = x.dtype == DType::float64 || x.dtype == DType::complex128;
  if (x.dtype != y.dtype || !is_known) {
    return fmt::format("dtype: {} and {}; it takes two of float64 or complex128", name_of(x.dtype),
                       name_of(y.dtype));
  }
  if (factor != x.dtype) return fmt::format("dtype: the factor is {}", name_of(factor));
  if (have_common_bytes(x, y)) return "overlap: both are the same memory";
  return veto(x, y);
}

void Cublas::check(CublasApi::Status status, const std::string& what) const {
  if (status == 0) return;
  const std::string name =
      api_.status_name == nullptr ? fmt::format("status {}", status) : api_.status_name(status);
  throw ExecutionError(fmt::format("{} failed on {}: {}", what, device_->name(), name));
}

CublasApi::Handle Cublas::handle_of(std::uintptr_t queue) {
  if (handle_ == nullptr) {
    CublasApi::Handle made = nullptr;
    check(api_.create(&made), "to start cuBLAS");
    handle_ = made;
    check(api_.set_pointer_mode(handle_, pointer_mode_device), "to start cuBLAS");
  }
  if (queue_ != queue) {  // first, or while the thread records
    queue_ = 0;
    check(api_.set_stream(handle_, reinterpret_cast<void*>(queue)), "to give cuBLAS a queue");
    queue_ = queue;
  }
  return handle_;
}

template <class Use>
void Cublas::with_handle(const std::string& what, const Use& use) {
  const auto enqueue = [&](std::uintptr_t queue) {
    const std::lock_guard lock(mutex_);
    check(use(handle_of(queue)), what);
  };
  if (!device_->lend_queue(what, enqueue)) {
    throw UnsupportedError(fmt::format("{} has no queue for cuBLAS", device_->name()));
  }
}

void Cublas::dot(DType dtype, std::int64_t n, const void* x, const void* y, bool conjugate,
                 void* sum) {
  const auto call = [&]<class N>(const CublasApi::Operations<N>& of, CublasApi::Handle handle) {
    const auto length = static_cast<N>(n);
    if (dtype == DType::float64) return of.ddot(handle, length, x, 1, y, 1, sum);
    // the library conjugates its first
    if (conjugate) return of.zdotc(handle, length, y, 1, x, 1, sum);
    return of.zdotu(handle, length, x, 1, y, 1, sum);
  };
  with_handle(dot_of_cublas, [&](CublasApi::Handle handle) {
    return fits(n) ? call(api_.narrow, handle) : call(api_.wide, handle);
  });
}

void Cublas::axpy(DType dtype, std::int64_t n, const void* alpha, const void* x, void* y) {
  const auto call = [&]<class N>(const CublasApi::Operations<N>& of, CublasApi::Handle handle) {
    auto* add = dtype == DType::float64 ? of.daxpy : of.zaxpy;
    return add(handle, static_cast<N>(n), alpha, x, 1, y, 1);
  };
  with_handle(axpy_of_cublas, [&](CublasApi::Handle handle) {
    return fits(n) ? call(api_.narrow, handle) : call(api_.wide, handle);
  });
}

void Cublas::multiply(const SmallProduct& product, const void* factors, const void* a,
                      const void* b, void* c) {
  const auto& of = api_.narrow;
  const int m = product.m;
  const int n = product.n;
  const int k = product.k;
  auto* gemm = product.dtype == DType::float32     ? of.sgemm
               : product.dtype == DType::float64   ? of.dgemm
               : product.dtype == DType::complex64 ? of.cgemm
                                                   : of.zgemm;
  const void* beta = static_cast<const std::byte*>(factors) + size_of(product.dtype);
  const long long next = static_cast<long long>(k);
  // columns lie one after the other there, so C^T = B^T A^T is computed
  with_handle(multiply_of_cublas, [&](CublasApi::Handle handle) {
    return gemm(handle, static_cast<int>(product.turn_b), static_cast<int>(product.turn_a), n, m, k,
                factors, b, product.turn_b ? k : n, next * n, a, product.turn_a ? m : k, next * m,
                beta, c, n, static_cast<long long>(m) * n,
                static_cast<std::int32_t>(product.count));
  });
}

}  // namespace op2::libs
