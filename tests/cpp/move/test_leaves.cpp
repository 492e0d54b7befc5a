// SPDX-License-Identifier: BSD-3-Clause
#include "move/leaves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "move/trees.hpp"

namespace op2::move {
namespace {

using namespace testing;
using op2::testing::message_of;

Items between(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride) {
  Items items{.to = static_cast<char*>(to), .to_stride = to_stride, .from = {}, .from_stride = {}};
  items.from[0] = static_cast<const char*>(from);
  items.from_stride[0] = from_stride;
  return items;
}

TEST(MoveLeaves, CopiesOfAnySizeAtStridesAndPlaces) {
  for (const std::int64_t n_bytes : {1, 2, 3, 4, 8, 12, 16, 32, 40}) {
    std::vector<char> from(static_cast<std::size_t>(n_bytes) * 20);
    std::iota(from.begin(), from.end(), char{1});
    std::vector<char> to(from.size()), back(from.size());
    const Tree strided(Request::strided, copying(n_bytes));
    EXPECT_EQ(strided.run(between(to.data(), n_bytes, from.data(), 2 * n_bytes), 10), all_fit);
    EXPECT_EQ(to[static_cast<std::size_t>(n_bytes)], from[2 * static_cast<std::size_t>(n_bytes)]);
    EXPECT_EQ(strided.run(between(to.data(), n_bytes, from.data(), n_bytes), 20), all_fit);
    EXPECT_EQ(to, from);
    std::vector<std::int64_t> rows(20);
    std::iota(rows.rbegin(), rows.rend(), 0);
    const Tree indexed(Request::indexed, copying(n_bytes));
    const Items items = between(to.data(), n_bytes, from.data(), n_bytes);
    EXPECT_EQ(indexed.run(items, {nullptr, rows.data()}, 20), all_fit);
    const Items home = between(back.data(), n_bytes, to.data(), n_bytes);
    EXPECT_EQ(indexed.run(home, {rows.data(), nullptr}, 20), all_fit);
    EXPECT_EQ(back, from);
    const Tree single(Request::single, copying(n_bytes));
    EXPECT_EQ(single.run(between(to.data(), 0, from.data() + n_bytes, 0)), all_fit);
    EXPECT_EQ(to[0], from[static_cast<std::size_t>(n_bytes)]);
  }
}

TEST(MoveLeaves, FillReadsNothing) {
  const std::complex<double> value{1, 2};
  std::vector<std::complex<double>> to(3);
  const Tree tree(Request::strided, [&value](Builder& builder, std::size_t at, Request request) {
    return add_fill(builder, at, &value, 16, request);
  });
  EXPECT_EQ(tree.run(between(to.data(), 16, nullptr, 0), 3), all_fit);
  EXPECT_EQ(to, std::vector<std::complex<double>>(3, value));
  Builder builder;
  EXPECT_THROW(add_fill(builder, 0, &value, 17, Request::single), InternalError);
}

template <class T>
T combined(DType dtype, Update update, const std::vector<T>& values, T start) {
  const Tree tree(Request::strided, [=](Builder& builder, std::size_t at, Request request) {
    return add_update(builder, at, dtype, update, request);
  });
  EXPECT_EQ(tree.run(between(&start, 0, values.data(), sizeof(T)),
                     static_cast<std::int64_t>(values.size())),
            all_fit);
  return start;
}

TEST(MoveLeaves, UpdatesCombineWithTheTarget) {
  EXPECT_EQ(combined<std::int8_t>(DType::int8, Update::add, {100, 100}, 100), 44);
  EXPECT_EQ(combined<std::uint64_t>(DType::uint64, Update::max, {5, 9, 2}, 3), 9U);
  EXPECT_EQ(combined<float>(DType::float32, Update::min, {5, -9, 2}, 3), -9);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(combined<double>(DType::float64, Update::min, {nan, 2}, 3)));
  EXPECT_TRUE(std::isnan(combined<double>(DType::float64, Update::max, {1, 2}, nan)));
  EXPECT_EQ(combined<std::complex<float>>(DType::complex64, Update::add, {{1, 2}}, {1, 0}),
            std::complex<float>(2, 2));
  EXPECT_EQ(combined<double>(DType::float64, Update::add, {1, 1e100, 1, -1e100}, 0), 2.0);
  const double huge = std::numeric_limits<double>::infinity();
  EXPECT_EQ(combined<double>(DType::float64, Update::add, {huge, 1}, 0), huge);
  EXPECT_EQ(message_of<UsageError>([] {
              Builder builder;
              add_update(builder, 0, DType::complex64, Update::min, Request::single);
            }),
            "complex numbers have no order, so neither a least nor a largest");
}

TEST(MoveLeaves, UpdatesOfDifferentTargetsDoNotMeet) {
  std::vector<std::int32_t> to{1, 2, 3};
  const std::vector<std::int32_t> from{10, 20, 30};
  const Tree tree(Request::strided, [](Builder& builder, std::size_t at, Request request) {
    return add_update(builder, at, DType::int32, Update::add, request);
  });
  EXPECT_EQ(tree.run(between(to.data(), 4, from.data(), 4), 3), all_fit);
  EXPECT_EQ(to, (std::vector<std::int32_t>{11, 22, 33}));
}

TEST(MoveLeaves, AFailureOfACompiledFunctionNamesTheItem) {
  const auto failing = [](const op2_context_v1* context, long, long, void* const*, unsigned int) {
    context->error[0] = 1;
    context->error[2] = 7;
    return 1;
  };
  const Called called{
      .launch = failing, .handle = nullptr, .release = nullptr, .item_bytes = 8, .n_sources = 1};
  const Tree tree(Request::strided, [&called](Builder& builder, std::size_t at, Request request) {
    return add_call(builder, at, called, request);
  });
  double x = 0, y = 0;
  EXPECT_EQ(tree.run(between(&x, 8, &y, 8), 9), 7);
}

}  // namespace
}  // namespace op2::move
