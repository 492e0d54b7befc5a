// SPDX-License-Identifier: BSD-3-Clause
#include "libs/vectors.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "exec/dense_ops.hpp"
#include "libs/some_cblas.hpp"

namespace op2::libs {
namespace {

using exec::Column;

class VectorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto blas = testing::some_cblas();
    if (blas == nullptr) GTEST_SKIP() << "no BLAS with an interface for C is installed";
    std::vector<NamedLibrary> libraries;
    libraries.push_back({"cblas", std::move(blas)});
    vectors = std::make_unique<Vectors>(std::move(libraries), operations);
  }
  [[nodiscard]] std::int64_t calls(const std::string& provider, const std::string& rejected) const {
    for (const dispatch::Event& one : operations->events()) {
      if (one.provider == provider && one.rejected == rejected) return one.n_resolved;
    }
    return 0;
  }

  [[nodiscard]] exec::Scalar dot(const Column& left, const Column& right) const {
    return vectors->dot(left, right, true, [&] { return exec::dot(left, right, true, 1); });
  }

  std::shared_ptr<dispatch::Operations> operations = std::make_shared<dispatch::Operations>();
  std::unique_ptr<Vectors> vectors;
  std::vector<double> x = std::vector<double>(100, 0.5);
  std::vector<double> y = std::vector<double>(100, 2.0);
  Column a{DType::float64, x.data(), 100, 1};
  Column b{DType::float64, y.data(), 100, 1};
};

TEST_F(VectorsTest, BothWaysAreMeasuredAndOneIsTaken) {
  constexpr int n_turns = dispatch::Measured::n_trials + 1;
  for (int i = 0; i < 2 * n_turns; ++i) {
    EXPECT_EQ(std::get<double>(dot(a, b)), 100.0);
  }
  EXPECT_EQ(calls("library", ""), n_turns);
  EXPECT_EQ(calls("builtin", "cblas: measured in turns"), n_turns);
  for (int i = 0; i < 5; ++i) (void)dot(a, b);
  EXPECT_EQ(calls("library", "") + calls("builtin", "cblas: cost"), n_turns + 5);
}

TEST_F(VectorsTest, WhatIsVetoedIsTheCoresOwn) {
  std::vector<std::int64_t> whole(100, 3);
  const Column c{DType::int64, whole.data(), 100, 1};
  EXPECT_EQ(std::get<std::int64_t>(dot(c, c)), 900);
  double factor = 1.0;
  const Column alpha{DType::float64, &factor, 1, 0};
  vectors->axpy(alpha, a, a, [&] { exec::axpy(alpha, a, a, 1); });
  EXPECT_EQ(x[99], 1.0);
  const auto events = operations->events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].loop, "axpy of float64");
  EXPECT_EQ(events[0].rejected, "cblas: overlap: both are the same memory");
  EXPECT_EQ(events[1].loop, "dot of int64");
  EXPECT_EQ(events[1].provider, "builtin");
}

TEST_F(VectorsTest, ThreadsMayAskAtTheSameTime) {
  const auto sums = [this] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(std::get<double>(dot(a, b)), 100.0);
    }
  };
  std::thread other(sums);
  sums();
  other.join();
  std::int64_t n_calls = 0;
  for (const dispatch::Event& one : operations->events()) n_calls += one.n_resolved;
  EXPECT_EQ(n_calls, 200);
}

TEST_F(VectorsTest, LengthsHaveToBeEqual) {
  b.n = 99;
  EXPECT_THROW((void)dot(a, b), UsageError);
}

}  // namespace
}  // namespace op2::libs
