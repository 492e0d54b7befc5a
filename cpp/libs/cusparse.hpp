// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "runtime/device.hpp"

namespace op2::libs {

/// @brief The used part of cuSPARSE's ABI, as CublasApi.
struct CusparseApi {
  using Handle = void*;
  using Matrix = void*;  // cusparseSpMatDescr_t
  using Vector = void*;  // cusparseDnVecDescr_t
  using Status = int;

  std::string path;  // of the library; empty in a test
  Status (*create)(Handle* handle) = nullptr;
  Status (*destroy)(Handle handle) = nullptr;
  Status (*set_stream)(Handle handle, void* stream) = nullptr;
  const char* (*status_name)(Status status) = nullptr;
  Status (*create_csr)(Matrix* made, std::int64_t n_rows, std::int64_t n_columns, std::int64_t nnz,
                       void* offsets, void* columns, void* values, int offset_type, int column_type,
                       int index_base, int value_type) = nullptr;
  Status (*set_values)(Matrix matrix, void* values) = nullptr;
  Status (*destroy_matrix)(Matrix matrix) = nullptr;
  Status (*create_vector)(Vector* made, std::int64_t n, void* values, int value_type) = nullptr;
  Status (*set_vector_values)(Vector vector, void* values) = nullptr;
  Status (*destroy_vector)(Vector vector) = nullptr;
  Status (*buffer_size)(Handle handle, int operation, const void* alpha, Matrix matrix, Vector x,
                        const void* beta, Vector y, int compute_type, int algorithm,
                        std::size_t* n_bytes) = nullptr;
  Status (*multiply)(Handle handle, int operation, const void* alpha, Matrix matrix, Vector x,
                     const void* beta, Vector y, int compute_type, int algorithm,
                     void* buffer) = nullptr;
};

/// @brief Find cuSPARSE. @throws ToolchainError if there is none, or the version is too old.
[[nodiscard]] CusparseApi load_cusparse(const std::vector<std::string>& candidates);

/// @brief File names of installed libraries, the newest first.
[[nodiscard]] std::vector<std::string> cusparse_names();

/// @brief A matrix in the form of the questions about the library.
struct SparseShape {
  DType dtype = DType::float64;
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  std::int64_t n_places = 0;
  int values_of_place = 1;
};

/// @brief cuSPARSE on a GPU. Safe to use from several threads.
class Cusparse {
 public:
  Cusparse(CusparseApi api, std::shared_ptr<runtime::Device> device);
  Cusparse(const Cusparse&) = delete;
  Cusparse& operator=(const Cusparse&) = delete;
  /// Never throws: the driver may have shut down before.
  ~Cusparse();

  [[nodiscard]] const std::string& path() const { return api_.path; }
  [[nodiscard]] const CusparseApi& api() const { return api_; }
  [[nodiscard]] const std::shared_ptr<runtime::Device>& device() const { return device_; }

  /// @brief Why the library cannot compute a product with vectors of these dtypes; empty: possible.
  [[nodiscard]] static std::string veto(const SparseShape& matrix, DType x, DType y);

  /// @brief Call @p use(handle) with the queue for commands of the thread, so enqueued work comes
  /// in the order of loops.
  template <class Use>
  void with_handle(const Use& use) {
    lend([&](std::uintptr_t queue) { use(handle_of(queue)); });
  }

  /// @throws ExecutionError naming cuSPARSE's status.
  void check(CusparseApi::Status status) const;

 private:
  void lend(const runtime::QueueUser& use);
  CusparseApi::Handle handle_of(std::uintptr_t queue);

  const CusparseApi api_;
  const std::shared_ptr<runtime::Device> device_;
  std::mutex mutex_;                      // guards the members below, and the handle in use
  CusparseApi::Handle handle_ = nullptr;  // null before the first call
  std::uintptr_t queue_ = 0;              // the queue of the handle; 0: none yet
};

/// @brief The products of a matrix: the descriptor, the index on the device and the memory for the
/// library, kept until the matrix goes.
class SparseProduct {
 public:
  /// @param[in] row_offset [n_rows + 1], @param[in] columns [n_places]; both are copied.
  /// @pre Cusparse::veto() says nothing. @throws ExecutionError if the device is full.
  SparseProduct(std::shared_ptr<Cusparse> library, const SparseShape& shape,
                std::span<const std::int64_t> row_offset, std::span<const std::int32_t> columns);
  SparseProduct(const SparseProduct&) = delete;
  SparseProduct& operator=(const SparseProduct&) = delete;
  ~SparseProduct();

  /// @brief Enqueue `y = A x`, or `y += A x`. Addresses are the device's; they may differ from call
  /// to call.
  void multiply(void* values, void* x, void* y, bool is_added);

  /// @brief Bytes of the index on the device.
  [[nodiscard]] std::int64_t n_index_bytes() const { return n_index_bytes_; }

 private:
  void describe(void* values, void* x, void* y);

  std::shared_ptr<Cusparse> library_;
  SparseShape shape_;
  std::int64_t n_index_bytes_ = 0;
  std::shared_ptr<void> offsets_;
  std::shared_ptr<void> columns_;
  std::mutex mutex_;  // guards the descriptors, changed by calls
  CusparseApi::Matrix matrix_ = nullptr;
  CusparseApi::Vector x_ = nullptr;
  CusparseApi::Vector y_ = nullptr;
  std::shared_ptr<void> buffer_;  // memory for the library's product; null before the first
};

}  // namespace op2::libs
