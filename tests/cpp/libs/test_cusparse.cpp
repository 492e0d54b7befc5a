// SPDX-License-Identifier: BSD-3-Clause
#include "libs/cusparse.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "../base/message_of.hpp"
#include "../runtime/gpu/fake_driver.hpp"
#include "base/error.hpp"
#include "runtime/gpu/device.hpp"

namespace op2::libs {
namespace {

using op2::testing::contains;
using op2::testing::message_of;
using runtime::gpu::testing::FakeGpu;

struct FakeMatrix {
  std::int64_t n_rows;
  const std::int32_t* offsets;
  const std::int32_t* columns;
  double* values;
  int type;
};

/// What the library of these tests was asked for; its memory is the host's.
struct FakeCusparse {
  int n_handles = 0;
  int n_made = 0;  // descriptors
  int n_alive = 0;
  int n_sizes = 0;
  int n_misaligned = 0;  // factors
  int refuses_vectors = 0;
  int refuses_products = 0;
  void* stream = nullptr;
  void* buffer = nullptr;
};
FakeCusparse cusparse_state;

int fake_product(void*, int, const void* alpha, void* matrix, void* x, const void* beta, void* y,
                 int, int, void* buffer) {
  const auto& rows = *static_cast<FakeMatrix*>(matrix);
  const double* given = *static_cast<double**>(x);
  double* found = *static_cast<double**>(y);
  cusparse_state.buffer = buffer;
  for (const void* factor : {alpha, beta}) {
    cusparse_state.n_misaligned += reinterpret_cast<std::uintptr_t>(factor) % 16 != 0 ? 1 : 0;
  }
  for (std::int64_t row = 0; row < rows.n_rows; ++row) {
    double sum = 0;
    for (std::int32_t at = rows.offsets[row]; at < rows.offsets[row + 1]; ++at) {
      sum += rows.values[at] * given[rows.columns[at]];
    }
    found[row] =
        *static_cast<const double*>(alpha) * sum + *static_cast<const double*>(beta) * found[row];
  }
  return cusparse_state.refuses_products;
}

CusparseApi fake_cusparse() {
  cusparse_state = {};
  CusparseApi api;
  api.create = [](void** handle) {
    ++cusparse_state.n_handles;
    *handle = &cusparse_state;
    return 0;
  };
  api.destroy = [](void*) { return --cusparse_state.n_handles, 0; };
  api.set_stream = [](void*, void* stream) { return cusparse_state.stream = stream, 0; };
  api.status_name = [](int status) { return status == 2 ? "ALLOC_FAILED" : "INTERNAL_ERROR"; };
  api.create_csr = [](void** made, std::int64_t n_rows, std::int64_t, std::int64_t, void* offsets,
                      void* columns, void* values, int, int, int, int type) {
    ++cusparse_state.n_made;
    ++cusparse_state.n_alive;
    *made = new FakeMatrix{n_rows, static_cast<std::int32_t*>(offsets),
                           static_cast<std::int32_t*>(columns), static_cast<double*>(values), type};
    return 0;
  };
  api.set_values = [](void* matrix, void* values) {
    static_cast<FakeMatrix*>(matrix)->values = static_cast<double*>(values);
    return 0;
  };
  api.destroy_matrix = [](void* matrix) {
    delete static_cast<FakeMatrix*>(matrix);
    return --cusparse_state.n_alive, 0;
  };
  api.create_vector = [](void** made, std::int64_t, void* values, int) {
    if (cusparse_state.refuses_vectors != 0) return cusparse_state.refuses_vectors;
    ++cusparse_state.n_made;
    ++cusparse_state.n_alive;
    *made = new void*(values);
    return 0;
  };
  api.set_vector_values = [](void* vector, void* values) {
    return *static_cast<void**>(vector) = values, 0;
  };
  api.destroy_vector = [](void* vector) {
    delete static_cast<void**>(vector);
    return --cusparse_state.n_alive, 0;
  };
  api.buffer_size = [](void*, int, const void*, void*, void*, const void*, void*, int, int,
                       std::size_t* n_bytes) {
    ++cusparse_state.n_sizes;
    return *n_bytes = 256, 0;
  };
  api.multiply = fake_product;
  return api;
}

class CusparseTest : public ::testing::Test {
 protected:
  std::unique_ptr<SparseProduct> product_of_three() {
    const SparseShape shape{DType::float64, 3, 3, 4, 1};
    return std::make_unique<SparseProduct>(library, shape, offset, columns);
  }

  FakeGpu fake;
  std::shared_ptr<runtime::gpu::Gpu> gpu = std::make_shared<runtime::gpu::Gpu>(fake.driver(), 0);
  std::shared_ptr<Cusparse> library = std::make_shared<Cusparse>(fake_cusparse(), gpu);
  // (0 2 1) (0 0 0) (3 0 4)
  const std::vector<std::int64_t> offset{0, 2, 2, 4};
  const std::vector<std::int32_t> columns{1, 2, 0, 2};
  std::vector<double> values{2, 1, 3, 4};
  std::vector<double> x{1, 10, 100};
  std::vector<double> y{7, 7, 7};
};

TEST_F(CusparseTest, DescriptorsAndMemoryAreKeptForTheNextProduct) {
  std::unique_ptr<SparseProduct> product = product_of_three();
  EXPECT_EQ(product->n_index_bytes(), 8 * 4);
  EXPECT_EQ(cusparse_state.n_handles, 0);  // none before the first product
  product->multiply(values.data(), x.data(), y.data(), false);
  EXPECT_EQ(y, (std::vector<double>{120, 0, 403}));
  const void* buffer = cusparse_state.buffer;
  EXPECT_NE(buffer, nullptr);
  // another vector, other values, added
  std::vector<double> ones{1, 1, 1};
  std::vector<double> doubled{4, 2, 6, 8};
  product->multiply(doubled.data(), ones.data(), y.data(), true);
  EXPECT_EQ(y, (std::vector<double>{126, 0, 417}));
  EXPECT_EQ(cusparse_state.n_made, 3);
  EXPECT_EQ(cusparse_state.n_sizes, 1);
  EXPECT_EQ(cusparse_state.buffer, buffer);
  EXPECT_EQ(cusparse_state.stream, gpu->stream());
  EXPECT_EQ(fake.n_waits, 0);
  EXPECT_TRUE(fake.current.empty());
  product.reset();
  EXPECT_EQ(cusparse_state.n_alive, 0);
  EXPECT_EQ(fake.n_used, 0U);
  library.reset();
  EXPECT_EQ(cusparse_state.n_handles, 0);
}

TEST_F(CusparseTest, FactorsAreAlignedAsTheLibraryReadsThem) {
  const SparseShape shape{DType::complex128, 3, 3, 4, 1};
  for (const bool is_added : {false, true}) {
    SparseProduct product(library, shape, offset, columns);
    product.multiply(values.data(), x.data(), y.data(), is_added);
  }
  EXPECT_EQ(cusparse_state.n_misaligned, 0);
}

TEST_F(CusparseTest, AFailureIsNamedAndLeavesNothingBehind) {
  std::unique_ptr<SparseProduct> product = product_of_three();
  const auto multiply = [&] { product->multiply(values.data(), x.data(), y.data(), false); };
  cusparse_state.refuses_vectors = 2;
  EXPECT_TRUE(contains(message_of<ExecutionError>(multiply),
                       "product of cuSPARSE failed on cuda device 0", "ALLOC_FAILED"));
  cusparse_state.refuses_vectors = 0;
  cusparse_state.refuses_products = 7;
  EXPECT_TRUE(contains(message_of<ExecutionError>(multiply), "INTERNAL_ERROR"));
  EXPECT_TRUE(fake.current.empty());
  cusparse_state.refuses_products = 0;
  multiply();
  EXPECT_EQ(y, (std::vector<double>{120, 0, 403}));
  EXPECT_EQ(cusparse_state.n_made, 3);
  product.reset();
  EXPECT_EQ(cusparse_state.n_alive, 0);
}

TEST(CusparseVeto, WhatItCannotDoIsSaid) {
  SparseShape shape{DType::float64, 10, 10, 40, 1};
  EXPECT_EQ(Cusparse::veto(shape, DType::float64, DType::float64), "");
  EXPECT_EQ(
      Cusparse::veto(shape, DType::float32, DType::float64),
      "dtype: float64, float32 and float64; it takes three of one dtype, which is no integer");
  shape.values_of_place = 4;
  EXPECT_EQ(Cusparse::veto(shape, DType::float64, DType::float64),
            "blocks: there are 4 values at each place");
  shape.values_of_place = 1;
  shape.n_places = 0;
  EXPECT_EQ(Cusparse::veto(shape, DType::float64, DType::float64), "length: there are no values");
  shape.n_places = std::int64_t{1} << 31;
  EXPECT_EQ(Cusparse::veto(shape, DType::float64, DType::float64),
            "length: its integers have 32 bits, and there are 2147483648 values");
  shape.dtype = DType::int64;
  EXPECT_NE(Cusparse::veto(shape, DType::int64, DType::int64).find("which is no integer"),
            std::string::npos);
}

TEST(CusparseOpening, WhatIsMissingIsSaid) {
  const std::string message = message_of<ToolchainError>(
      [] { static_cast<void>(load_cusparse({"/dev/null/nowhere/libcusparse.so.12"})); });
  EXPECT_TRUE(contains(message, "NVIDIA's cuSPARSE was not found", "pip install nvidia-cusparse",
                       "CUDA_HOME", "/dev/null/nowhere/libcusparse.so.12"));
}

}  // namespace
}  // namespace op2::libs
