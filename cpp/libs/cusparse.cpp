// SPDX-License-Identifier: BSD-3-Clause
#include "libs/cusparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/vendor_library.hpp"

namespace op2::libs {
namespace {

constexpr const char* install_cusparse =
    "install NVIDIA's cuSPARSE (pip install nvidia-cusparse, or the CUDA toolkit, and set "
    "CUDA_HOME if it is in an unusual place)";

// named in errors of faults, which come later
const std::string product_of_cusparse = "product of cuSPARSE";

// the vendor's values
constexpr int not_transposed = 0;
constexpr int from_zero = 0;
constexpr int index_32 = 2;
constexpr int default_algorithm = 0;

/// cudaDataType of a dtype that veto() lets pass.
int type_of_values(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return 0;
    case DType::float64:
      return 1;
    case DType::complex64:
      return 4;
    default:
      return 5;  // complex128
  }
}

/// Call @p f with the addresses of 1 and of 0 or 1 in the matrix's dtype. The library reads complex
/// numbers as wholes of two, aligned to their size, which std::complex is not.
template <class F>
void with_factors(DType dtype, bool is_added, const F& f) {
  const auto as = [&]<class T>(T value) {
    alignas(16) const T one = value;
    alignas(16) const T beta = is_added ? value : T{};
    f(&one, &beta);
  };
  switch (dtype) {
    case DType::float32:
      return as(1.0F);
    case DType::float64:
      return as(1.0);
    case DType::complex64:
      return as(std::complex<float>(1.0F));
    default:
      return as(std::complex<double>(1.0));
  }
}

}  // namespace

std::vector<std::string> cusparse_names() {
  return {"libcusparse.so.13", "libcusparse.so.12", "libcusparse.so.11", "libcusparse.so"};
}

CusparseApi load_cusparse(const std::vector<std::string>& candidates) {
  const VendorLibrary library("NVIDIA's cuSPARSE", candidates, install_cusparse);
  CusparseApi api;
  api.path = library.path();
  library.require(api.create, "cusparseCreate");
  library.require(api.destroy, "cusparseDestroy");
  library.require(api.set_stream, "cusparseSetStream");
  library.require(api.status_name, "cusparseGetErrorName");
  library.require(api.create_csr, "cusparseCreateCsr");
  library.require(api.set_values, "cusparseSpMatSetValues");
  library.require(api.destroy_matrix, "cusparseDestroySpMat");
  library.require(api.create_vector, "cusparseCreateDnVec");
  library.require(api.set_vector_values, "cusparseDnVecSetValues");
  library.require(api.destroy_vector, "cusparseDestroyDnVec");
  library.require(api.buffer_size, "cusparseSpMV_bufferSize");
  library.require(api.multiply, "cusparseSpMV");
  return api;
}

Cusparse::Cusparse(CusparseApi api, std::shared_ptr<runtime::Device> device)
    : api_(std::move(api)), device_(std::move(device)) {}

Cusparse::~Cusparse() {
  if (handle_ == nullptr) return;
  try {
    device_->lend_queue(product_of_cusparse, [this](std::uintptr_t /*queue*/) {
      static_cast<void>(api_.destroy(handle_));
    });
  } catch (const Error&) {  // in a child process, or after a fault: the handle went with its GPU
  }
}

std::string Cusparse::veto(const SparseShape& matrix, DType x, DType y) {
  const bool is_known = is_floating(matrix.dtype) || is_complex(matrix.dtype);
  if (!is_known || x != matrix.dtype || y != matrix.dtype) {
    return fmt::format("dtype: {}, {} and {}; it takes three of one dtype, which is no integer",
                       name_of(matrix.dtype), name_of(x), name_of(y));
  }
  if (matrix.values_of_place != 1) {
    return fmt::format("blocks: there are {} values at each place", matrix.values_of_place);
  }
  if (matrix.n_places == 0) return "length: there are no values";
  if (matrix.n_places > std::numeric_limits<std::int32_t>::max()) {
    return fmt::format("length: its integers have 32 bits, and there are {} values",
                       matrix.n_places);
  }
  return "";
}

void Cusparse::check(CusparseApi::Status status) const {
  if (status == 0) return;
  throw ExecutionError(fmt::format("{} failed on {}: {}", product_of_cusparse, device_->name(),
                                   api_.status_name(status)));
}

CusparseApi::Handle Cusparse::handle_of(std::uintptr_t queue) {
  if (handle_ == nullptr) {
    CusparseApi::Handle made = nullptr;
    check(api_.create(&made));
    handle_ = made;
  }
  if (queue_ != queue) {  // first, or while the thread records
    queue_ = 0;
    check(api_.set_stream(handle_, reinterpret_cast<void*>(queue)));
    queue_ = queue;
  }
  return handle_;
}

void Cusparse::lend(const runtime::QueueUser& use) {
  const auto locked = [&](std::uintptr_t queue) {
    const std::lock_guard lock(mutex_);
    use(queue);
  };
  if (!device_->lend_queue(product_of_cusparse, locked)) {
    throw UnsupportedError(fmt::format("{} has no queue for cuSPARSE", device_->name()));
  }
}

SparseProduct::SparseProduct(std::shared_ptr<Cusparse> library, const SparseShape& shape,
                             std::span<const std::int64_t> row_offset,
                             std::span<const std::int32_t> columns)
    : library_(std::move(library)), shape_(shape) {
  const std::vector<std::int32_t> narrow(row_offset.begin(), row_offset.end());
  const auto sent = [this](std::span<const std::int32_t> numbers, const char* what) {
    const auto n_bytes = static_cast<std::int64_t>(numbers.size_bytes());
    std::shared_ptr<void> memory = library_->device()->allocate(n_bytes, what);
    library_->device()->upload(memory.get(), 0, numbers.data(), n_bytes);
    n_index_bytes_ += n_bytes;
    return memory;
  };
  offsets_ = sent(narrow, "where rows of a matrix begin");
  columns_ = sent(columns, "columns of a matrix");
}

SparseProduct::~SparseProduct() {
  const CusparseApi& api = library_->api();
  if (matrix_ != nullptr) static_cast<void>(api.destroy_matrix(matrix_));
  if (x_ != nullptr) static_cast<void>(api.destroy_vector(x_));
  if (y_ != nullptr) static_cast<void>(api.destroy_vector(y_));
}

void SparseProduct::describe(void* values, void* x, void* y) {
  const CusparseApi& api = library_->api();
  const int type = type_of_values(shape_.dtype);
  if (matrix_ == nullptr) {
    library_->check(api.create_csr(&matrix_, shape_.n_rows, shape_.n_columns, shape_.n_places,
                                   offsets_.get(), columns_.get(), values, index_32, index_32,
                                   from_zero, type));
  }
  if (x_ == nullptr) library_->check(api.create_vector(&x_, shape_.n_columns, x, type));
  if (y_ == nullptr) library_->check(api.create_vector(&y_, shape_.n_rows, y, type));
  library_->check(api.set_values(matrix_, values));
  library_->check(api.set_vector_values(x_, x));
  library_->check(api.set_vector_values(y_, y));
}

void SparseProduct::multiply(void* values, void* x, void* y, bool is_added) {
  const CusparseApi& api = library_->api();
  const int type = type_of_values(shape_.dtype);
  const std::lock_guard lock(mutex_);
  library_->with_handle([&](CusparseApi::Handle handle) {
    describe(values, x, y);
    with_factors(shape_.dtype, is_added, [&](const void* one, const void* beta) {
      if (buffer_ == nullptr) {
        std::size_t n_bytes = 0;
        library_->check(api.buffer_size(handle, not_transposed, one, matrix_, x_, beta, y_, type,
                                        default_algorithm, &n_bytes));
        const auto n_allocated = static_cast<std::int64_t>(std::max<std::size_t>(n_bytes, 1));
        buffer_ = library_->device()->allocate(n_allocated, "what cuSPARSE wants for a product");
      }
      library_->check(api.multiply(handle, not_transposed, one, matrix_, x_, beta, y_, type,
                                   default_algorithm, buffer_.get()));
    });
  });
}

}  // namespace op2::libs
