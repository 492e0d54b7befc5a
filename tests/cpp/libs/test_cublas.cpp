// SPDX-License-Identifier: BSD-3-Clause
#include "libs/cublas.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <thread>
#include <vector>

#include "../base/message_of.hpp"
#include "../runtime/gpu/fake_driver.hpp"
#include "base/error.hpp"
#include "runtime/gpu/device.hpp"

namespace op2::libs {
namespace {

using exec::Column;
using op2::testing::contains;
using op2::testing::message_of;
using Number = std::complex<double>;
using runtime::gpu::testing::FakeGpu;

/// What the library of these tests was asked for; its memory is the host's.
struct FakeCublas {
  int n_handles = 0;
  int n_made = 0;
  void* stream = nullptr;
  int pointer_mode = -1;
  int refuses_streams = 0;
  int refuses_sums = 0;
  std::int64_t longest = 0;
};
FakeCublas cublas_state;

template <class N>
int fake_ddot(void*, N n, const void* x, N, const void* y, N, void* sum) {
  cublas_state.longest = n;
  double found = 0;
  for (N i = 0; i < n; ++i) {
    found += static_cast<const double*>(x)[i] * static_cast<const double*>(y)[i];
  }
  *static_cast<double*>(sum) = found;
  return cublas_state.refuses_sums;
}

template <bool conjugate>
int fake_zdot(void*, std::int32_t n, const void* x, std::int32_t, const void* y, std::int32_t,
              void* sum) {
  Number found = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    const Number left = static_cast<const Number*>(x)[i];
    found += (conjugate ? std::conj(left) : left) * static_cast<const Number*>(y)[i];
  }
  *static_cast<Number*>(sum) = found;
  return 0;
}

template <class T>
int fake_axpy(void*, std::int32_t n, const void* alpha, const void* x, std::int32_t, void* y,
              std::int32_t) {
  for (std::int32_t i = 0; i < n; ++i) {
    static_cast<T*>(y)[i] += *static_cast<const T*>(alpha) * static_cast<const T*>(x)[i];
  }
  return 0;
}

/// Columns lie one after the other, as in the vendor's library.
template <class T>
int fake_gemm(void*, int turn_a, int turn_b, std::int32_t m, std::int32_t n, std::int32_t k,
              const void* alpha, const void* a, std::int32_t da, long long next_a, const void* b,
              std::int32_t db, long long next_b, const void* beta, void* c, std::int32_t dc,
              long long next_c, std::int32_t count) {
  for (std::int32_t one = 0; one < count; ++one) {
    const T* left = static_cast<const T*>(a) + one * next_a;
    const T* right = static_cast<const T*>(b) + one * next_b;
    T* found = static_cast<T*>(c) + one * next_c;
    for (std::int32_t i = 0; i < m; ++i) {
      for (std::int32_t j = 0; j < n; ++j) {
        T sum{};
        for (std::int32_t l = 0; l < k; ++l) {
          sum += left[turn_a != 0 ? l + i * da : i + l * da] *
                 right[turn_b != 0 ? j + l * db : l + j * db];
        }
        T& target = found[i + j * dc];
        target = *static_cast<const T*>(alpha) * sum + *static_cast<const T*>(beta) * target;
      }
    }
  }
  return 0;
}

CublasApi fake_cublas() {
  cublas_state = {};
  CublasApi api;
  api.create = [](void** handle) {
    ++cublas_state.n_handles;
    *handle = reinterpret_cast<void*>(static_cast<std::uintptr_t>(++cublas_state.n_made));
    return 0;
  };
  api.destroy = [](void*) { return --cublas_state.n_handles, 0; };
  api.set_stream = [](void*, void* stream) {
    cublas_state.stream = stream;
    return cublas_state.refuses_streams;
  };
  api.set_pointer_mode = [](void*, int mode) { return cublas_state.pointer_mode = mode, 0; };
  api.narrow = {
      fake_ddot<std::int32_t>, fake_zdot<false>, fake_zdot<true>,   fake_axpy<double>,
      fake_axpy<Number>,       fake_gemm<float>, fake_gemm<double>, fake_gemm<std::complex<float>>,
      fake_gemm<Number>};
  return api;
}

class CublasTest : public ::testing::Test {
 protected:
  template <class T>
  T summed(DType dtype, const std::vector<T>& x, const std::vector<T>& y, bool conjugate) {
    T sum{};
    cublas->dot(dtype, static_cast<std::int64_t>(x.size()), x.data(), y.data(), conjugate, &sum);
    return sum;
  }

  FakeGpu fake;
  std::shared_ptr<runtime::gpu::Gpu> gpu = std::make_shared<runtime::gpu::Gpu>(fake.driver(), 0);
  std::unique_ptr<Cublas> cublas = std::make_unique<Cublas>(fake_cublas(), gpu);
};

TEST_F(CublasTest, OneHandleServesTheQueueOfLoops) {
  EXPECT_EQ(cublas_state.n_made, 0);  // none before the first call
  EXPECT_EQ(summed<double>(DType::float64, {1, 2, 3}, {4, 5, 6}, false), 32.0);
  EXPECT_EQ(summed<double>(DType::float64, {1, 2}, {4, 5}, true), 14.0);
  EXPECT_EQ(cublas_state.n_made, 1);
  EXPECT_EQ(cublas_state.stream, gpu->stream());
  EXPECT_EQ(cublas_state.pointer_mode, 1);  // numbers are on the device
  EXPECT_EQ(fake.n_waits, 0);
  EXPECT_TRUE(fake.current.empty());  // the thread is left as it was
  cublas.reset();
  EXPECT_EQ(cublas_state.n_handles, 0);
}

TEST_F(CublasTest, TheSecondOneIsConjugated) {
  const std::vector<Number> x{{1, 2}};
  const std::vector<Number> y{{3, 4}};
  EXPECT_EQ(summed<Number>(DType::complex128, x, y, true), x[0] * std::conj(y[0]));
  EXPECT_EQ(summed<Number>(DType::complex128, x, y, false), x[0] * y[0]);
}

TEST_F(CublasTest, MultiplesAreAdded) {
  const double half = 0.5;
  const std::vector<double> x{2, 4};
  std::vector<double> y{1, 1};
  cublas->axpy(DType::float64, 2, &half, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{2, 3}));
  const Number turn{0, 1};
  const std::vector<Number> u{{1, 0}};
  std::vector<Number> v{{1, 0}};
  cublas->axpy(DType::complex128, 1, &turn, u.data(), v.data());
  EXPECT_EQ(v[0], Number(1, 1));
}

template <class T>
class SmallProducts : public CublasTest {
 protected:
  void expect_products(DType dtype) {
    constexpr int m = 2;
    constexpr int n = 4;
    constexpr int k = 3;
    for (const bool turn_a : {false, true}) {
      for (const bool turn_b : {false, true}) {
        std::vector<T> a;
        std::vector<T> b;
        for (int i = 0; i < 2 * m * k; ++i) a.push_back(T(static_cast<float>(i % 5 - 2)));
        for (int i = 0; i < 2 * k * n; ++i) b.push_back(T(static_cast<float>(i % 7 - 3)));
        std::vector<T> c(static_cast<std::size_t>(2 * m * n), T(1));
        const std::vector<T> factors{T(2), T(-1)};
        cublas->multiply({dtype, 2, m, n, k, turn_a, turn_b}, factors.data(), a.data(), b.data(),
                         c.data());
        for (int at = 0; at < 2 * m * n; ++at) {
          const int one = at / (m * n);
          const int i = at / n % m;
          const int j = at % n;
          T expected = T(-1);
          for (int l = 0; l < k; ++l) {
            const int left = turn_a ? m * l + i : k * i + l;
            const int right = turn_b ? k * j + l : n * l + j;
            expected += T(2) * a[static_cast<std::size_t>(m * k * one + left)] *
                        b[static_cast<std::size_t>(k * n * one + right)];
          }
          EXPECT_EQ(c[static_cast<std::size_t>(at)], expected);
        }
      }
    }
  }
};

using SmallReal = SmallProducts<double>;
TEST_F(SmallReal, AreOfMatricesRowByRow) {
  expect_products(DType::float64);
}
using SmallSingle = SmallProducts<float>;
TEST_F(SmallSingle, AreOfTheirOwnType) {
  expect_products(DType::float32);
}
using SmallComplex = SmallProducts<Number>;
TEST_F(SmallComplex, AreNotConjugated) {
  expect_products(DType::complex128);
}
using SmallComplexSingle = SmallProducts<std::complex<float>>;
TEST_F(SmallComplexSingle, AreOfTheirOwnType) {
  expect_products(DType::complex64);
}

TEST_F(CublasTest, WhatItCannotDoIsSaid) {
  std::vector<double> values(4);
  std::vector<double> others(4);
  Column x{DType::float64, values.data(), 4, 1};
  const Column y{DType::float64, others.data(), 4, 1};
  EXPECT_EQ(cublas->veto_dot(x, y), "");
  EXPECT_EQ(cublas->veto_dot(x, x), "");
  EXPECT_EQ(cublas->veto_axpy(DType::float64, x, y), "");
  EXPECT_EQ(cublas->veto_axpy(DType::float64, x, x), "overlap: both are the same memory");
  EXPECT_EQ(cublas->veto_axpy(DType::complex128, x, y), "dtype: the factor is complex128");
  const Column narrow{DType::float32, values.data(), 4, 1};
  EXPECT_EQ(cublas->veto_dot(narrow, narrow),
            "dtype: float32 and float32; it takes two of float64 or complex128");
  EXPECT_EQ(cublas->veto_axpy(DType::float64, narrow, y),
            "dtype: float32 and float64; it takes two of float64 or complex128");
  x.data = reinterpret_cast<char*>(values.data()) + 4;
  EXPECT_EQ(cublas->veto_dot(x, y), "alignment: values begin within others");
  x = {DType::float64, values.data(), 0, 1};
  EXPECT_EQ(cublas->veto_dot(x, x), "length: there are no values");
  x = {DType::float64, values.data(), 4, 3};
  EXPECT_EQ(cublas->veto_dot(x, y), "stride: values do not follow each other");
  x = {DType::float64, values.data(), std::int64_t{1} << 31, 1};
  EXPECT_EQ(cublas->veto_dot(x, x),
            "length: its integers have 32 bits, and there are 2147483648 values");
}

TEST_F(CublasTest, LongVectorsAreForThoseWithWideIntegers) {
  CublasApi api = fake_cublas();
  api.wide.ddot = [](void*, std::int64_t n, const void*, std::int64_t, const void*, std::int64_t,
                     void*) { return cublas_state.longest = n, 0; };
  Cublas newer(api, gpu);
  double sum = 0;
  const std::int64_t n = std::int64_t{1} << 31;
  const Column x{DType::float64, &sum, n, 1};
  EXPECT_EQ(newer.veto_dot(x, x), "");
  newer.dot(DType::float64, n, &sum, &sum, false, &sum);
  EXPECT_EQ(cublas_state.longest, n);
}

TEST_F(CublasTest, AFailureNamesWhatItWasAndLeavesTheHandleUsable) {
  cublas_state.refuses_streams = 1;
  const std::vector<double> x{1};
  const auto sum_up = [&] { static_cast<void>(summed<double>(DType::float64, x, x, false)); };
  EXPECT_TRUE(contains(message_of<ExecutionError>(sum_up),
                       "to give cuBLAS a queue failed on cuda device 0", "status 1"));
  cublas_state.stream = nullptr;
  cublas_state.refuses_streams = 0;
  cublas_state.refuses_sums = 13;
  EXPECT_TRUE(contains(message_of<ExecutionError>(sum_up), "dot of cuBLAS failed", "status 13"));
  EXPECT_EQ(cublas_state.stream, gpu->stream());
  EXPECT_TRUE(fake.current.empty());
  cublas_state.refuses_sums = 0;
  EXPECT_NO_THROW(sum_up());
  EXPECT_EQ(cublas_state.n_handles, 1);
}

TEST_F(CublasTest, WhatAThreadRecordsGoesToTheStreamOfTheRecording) {
  (void)summed<double>(DType::float64, {1}, {1}, false);
  ASSERT_TRUE(gpu->start_recording());
  (void)summed<double>(DType::float64, {1}, {1}, false);
  EXPECT_NE(cublas_state.stream, gpu->stream());
  (void)gpu->stop_recording();
  (void)summed<double>(DType::float64, {1}, {1}, false);
  EXPECT_EQ(cublas_state.stream, gpu->stream());
  EXPECT_EQ(cublas_state.n_made, 1);
}

TEST_F(CublasTest, AFaultOfTheQueueNamesIt) {
  (void)summed<double>(DType::float64, {1}, {1}, false);
  fake.pending_fault = runtime::gpu::illegal_address;
  EXPECT_TRUE(contains(message_of<ExecutionError>([&] { gpu->finish(); }), "dot of cuBLAS"));
}

TEST(CublasOpening, WhatIsMissingIsSaid) {
  const std::string message = message_of<ToolchainError>(
      [] { static_cast<void>(load_cublas({"/dev/null/nowhere/libcublas.so.13"})); });
  EXPECT_TRUE(contains(message, "NVIDIA's cuBLAS was not found", "pip install nvidia-cublas",
                       "CUDA_HOME", "/dev/null/nowhere/libcublas.so.13"));
  const std::string other =
      message_of<ToolchainError>([] { static_cast<void>(load_cublas({"libm.so.6"})); });
  EXPECT_TRUE(contains(other, "is too old, it has no cublasCreate_v2"));
}

}  // namespace
}  // namespace op2::libs
