// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/dense_ops.hpp"
#include "runtime/device.hpp"

namespace op2::libs {

/// @brief The used part of cuBLAS's ABI, with cuBLAS's names without the prefix. Names and values
/// are the vendor's; the vendor's header is not needed to build.
///
/// Each operation by the dtype: double, complex. The wide functions take lengths of 64 bits and are
/// null before CUDA 12.
struct CublasApi {
  using Handle = void*;
  using Status = int;

  template <class N>
  struct Operations {
    using Dot = Status(Handle, N n, const void* x, N dx, const void* y, N dy, void* sum);
    using Axpy = Status(Handle, N n, const void* alpha, const void* x, N dx, void* y, N dy);
    Dot* ddot = nullptr;
    Dot* zdotu = nullptr;
    Dot* zdotc = nullptr;  // of conj(x)
    using Gemm = Status(Handle, int turn_a, int turn_b, N m, N n, N k, const void* alpha,
                        const void* a, N da, long long next_a, const void* b, N db,
                        long long next_b, const void* beta, void* c, N dc, long long next_c,
                        N count);
    Axpy* daxpy = nullptr;
    Axpy* zaxpy = nullptr;
    Gemm* sgemm = nullptr;  // of many small matrices, like the next
    Gemm* dgemm = nullptr;
    Gemm* cgemm = nullptr;
    Gemm* zgemm = nullptr;
  };

  std::string path;  // of the library; empty in a test
  Status (*create)(Handle* handle) = nullptr;
  Status (*destroy)(Handle handle) = nullptr;
  Status (*set_stream)(Handle handle, void* stream) = nullptr;
  Status (*set_pointer_mode)(Handle handle, int mode) = nullptr;
  const char* (*status_name)(Status status) = nullptr;  // null before CUDA 11.4
  Operations<std::int32_t> narrow;
  Operations<std::int64_t> wide;
};

/// @brief Sizes of the products of many small matrices, row by row in memory: m x k by k x n.
struct SmallProduct {
  DType dtype = DType::float64;
  std::int64_t count = 0;
  int m = 1;
  int n = 1;
  int k = 1;
  bool turn_a = false;  ///< A is stored as k x m
  bool turn_b = false;  ///< B is stored as n x k
};

/// @brief Find cuBLAS. @throws ToolchainError if there is none, or the version is too old.
[[nodiscard]] CublasApi load_cublas(const std::vector<std::string>& candidates);

/// @brief File names of installed libraries, the newest first.
[[nodiscard]] std::vector<std::string> cublas_names();

/// @brief Sums of products and multiples of vectors on a GPU, by cuBLAS. Safe to use from several
/// threads.
///
/// Everything is enqueued in the order of loops; numbers are on the device, so nothing waits.
class Cublas {
 public:
  Cublas(CublasApi api, std::shared_ptr<runtime::Device> device);
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  /// Never throws: the driver may have shut down before.
  ~Cublas();

  [[nodiscard]] const std::string& path() const { return api_.path; }

  /// @brief Why the library cannot compute the sum of products of these columns; empty: possible.
  /// Columns have the addresses on the host.
  [[nodiscard]] std::string veto_dot(const exec::Column& x, const exec::Column& y) const;
  /// @brief Enqueue `*sum = x . y`, of `x . conj(y)`. Addresses are the device's.
  /// @pre Nothing vetoes the call. @throws ExecutionError with cuBLAS's status.
  void dot(DType dtype, std::int64_t n, const void* x, const void* y, bool conjugate, void* sum);

  /// @brief As veto_dot(), of `y += alpha * x`, with a factor of some dtype.
  [[nodiscard]] std::string veto_axpy(DType factor, const exec::Column& x,
                                      const exec::Column& y) const;
  /// @brief Enqueue `y += alpha x`; as dot().
  void axpy(DType dtype, std::int64_t n, const void* alpha, const void* x, void* y);

  /// @brief Enqueue `C = alpha A B + beta C` for each matrix.
  /// @param[in] factors Alpha and beta, on the device as all values.
  /// @pre The count has 32 bits. @throws ExecutionError with cuBLAS's status.
  void multiply(const SmallProduct& product, const void* factors, const void* a, const void* b,
                void* c);

 private:
  template <class Use>
  void with_handle(const std::string& what, const Use& use);
  CublasApi::Handle handle_of(std::uintptr_t queue);
  void check(CublasApi::Status status, const std::string& what) const;
  [[nodiscard]] std::string veto(const exec::Column& x, const exec::Column& y) const;

  const CublasApi api_;
  const std::shared_ptr<runtime::Device> device_;
  std::mutex mutex_;                    // guards the members below, and the handle in use
  CublasApi::Handle handle_ = nullptr;  // null before the first call
  std::uintptr_t queue_ = 0;            // the queue of the handle; 0: none yet
};

}  // namespace op2::libs
