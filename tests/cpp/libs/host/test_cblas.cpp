// SPDX-License-Identifier: BSD-3-Clause
#include "libs/host/cblas.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../base/message_of.hpp"
#include "base/error.hpp"
#include "exec/dense_ops.hpp"
#include "libs/some_cblas.hpp"

namespace op2::libs {
namespace {

using exec::Column;
using Complex = std::complex<double>;

template <class T>
Column column(std::vector<T>& values, DType dtype, std::int64_t stride = 1) {
  return {dtype, values.data(), static_cast<std::int64_t>(values.size()) / stride, stride};
}

class CblasTest : public ::testing::Test {
 protected:
  void SetUp() override {
    blas = testing::some_cblas();
    if (blas == nullptr) GTEST_SKIP() << "no BLAS with an interface for C is installed";
  }
  std::unique_ptr<Cblas> blas;
  std::vector<double> x{1.0, 2.0, 3.0, 4.0};
  std::vector<double> y{5.0, 6.0, 7.0, 8.0};
};

TEST_F(CblasTest, SumsOfProductsAreThoseOfTheCore) {
  const Column a = column(x, DType::float64);
  const Column b = column(y, DType::float64);
  EXPECT_EQ(blas->veto_dot(a, b), "");
  EXPECT_EQ(std::get<double>(blas->dot(a, b, true)), 70.0);
  const Column every_other = column(y, DType::float64, 2);
  const Column first{DType::float64, x.data(), 2, 1};
  EXPECT_EQ(std::get<double>(blas->dot(first, every_other, true)), 1.0 * 5.0 + 2.0 * 7.0);
  std::vector<float> narrow{1e8F, 1.0F, -1e8F};
  std::vector<float> ones(3, 1.0F);
  const exec::Scalar wide =
      blas->dot(column(narrow, DType::float32), column(ones, DType::float32), false);
  EXPECT_EQ(std::get<double>(wide), 1.0);  // float32 would lose the 1
}

TEST_F(CblasTest, TheSecondIsConjugated) {
  std::vector<Complex> u{{1.0, 2.0}, {0.0, 1.0}};
  std::vector<Complex> v{{3.0, 1.0}, {2.0, 0.0}};
  for (const bool conjugate : {true, false}) {
    const Column a = column(u, DType::complex128);
    const Column b = column(v, DType::complex128);
    EXPECT_EQ(std::get<Complex>(blas->dot(a, b, conjugate)),
              std::get<Complex>(exec::dot(a, b, conjugate, 1)));
  }
}

TEST_F(CblasTest, MultiplesAreAdded) {
  double factor = 2.0;
  const Column alpha{DType::float64, &factor, 1, 0};
  const Column a = column(x, DType::float64);
  const Column b = column(y, DType::float64);
  EXPECT_EQ(blas->veto_axpy(alpha, a, b), "");
  blas->axpy(alpha, a, b);
  EXPECT_EQ(y, (std::vector<double>{7.0, 10.0, 13.0, 16.0}));
  std::int64_t whole = -1;
  blas->axpy({DType::int64, &whole, 1, 0}, a, b);
  EXPECT_EQ(y, (std::vector<double>{6.0, 8.0, 10.0, 12.0}));
  std::vector<Complex> u{{1.0, 2.0}};
  std::vector<Complex> v{{3.0, 1.0}};
  Complex turn{0.0, 1.0};
  blas->axpy({DType::complex128, &turn, 1, 0}, column(u, DType::complex128),
             column(v, DType::complex128));
  EXPECT_EQ(v[0], (Complex{1.0, 2.0}));
}

TEST_F(CblasTest, WhatItCannotDoIsSaid) {
  const Column a = column(x, DType::float64);
  Column b = column(y, DType::float64);
  std::vector<float> narrow(4);
  EXPECT_EQ(blas->veto_dot(a, column(narrow, DType::float32)),
            "dtype: float64 and float32; it takes two of float32, float64 or complex128");
  Column one = a;
  one.stride = 0;
  EXPECT_EQ(blas->veto_dot(one, b), "stride: one value stands for all");
  b.data = reinterpret_cast<char*>(y.data()) + 4;
  EXPECT_EQ(blas->veto_dot(a, b), "alignment: values begin within others");
  EXPECT_EQ(blas->veto_dot({DType::float64, x.data(), 0, 1}, {DType::float64, y.data(), 0, 1}),
            "length: there are no values");
  double factor = 2.0;
  const Column alpha{DType::float64, &factor, 1, 0};
  EXPECT_EQ(blas->veto_axpy(alpha, a, a), "overlap: both are the same memory");
  const Column single = column(narrow, DType::float32);
  EXPECT_EQ(blas->veto_axpy(alpha, single, single),
            "dtype: float32 and float32; it takes two of float64 or complex128");
}

TEST(CblasOpening, WhatWasLookedForIsSaid) {
  const std::string message = op2::testing::message_of<ToolchainError>([] {
    (void)Cblas({"libno_such_blas.so.9", "/dev/null/nowhere/blas.so"});
  });
  EXPECT_NE(message.find("libno_such_blas.so.9"), std::string::npos) << message;
  EXPECT_NE(message.find("apt-get install libopenblas0"), std::string::npos) << message;
  // a library without such functions
  EXPECT_NE(op2::testing::message_of<ToolchainError>([] {
              (void)Cblas({"libm.so.6"});
            }).find("has no interface for C"),
            std::string::npos);
}

}  // namespace
}  // namespace op2::libs
