// SPDX-License-Identifier: BSD-3-Clause
#include "exec/exchange.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.hpp"

namespace op2::exec {
namespace {

// A process that sends to itself: memory of messages, and how often they were started and tested.
std::array<double, 6> sent;
std::array<double, 6> arrived;
int n_starts;
int n_tests;

int start_all(int n, void* /*requests*/) {
  ++n_starts;
  std::memcpy(arrived.data(), sent.data(), sizeof sent);
  return n == 2 ? 0 : 7;
}

int test_all(int /*n*/, void* /*requests*/, int* are_done, void* /*statuses*/) {
  *are_done = ++n_tests >= 3 ? 1 : 0;
  return 0;
}

std::uintptr_t address(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

Exchange exchange(int n_requests) {
  // two rows of two doubles, and two of one
  std::vector<TravellingRows> out{{0, 16, address(sent.data()), {2, 0}, DType::float64},
                                  {1, 8, address(sent.data() + 4), {1, 1}, DType::float64}};
  std::vector<TravellingRows> in{{0, 16, address(arrived.data()), {3, 4}, DType::float64},
                                 {1, 8, address(arrived.data() + 4), {2, 3}, DType::float64}};
  n_starts = n_tests = 0;
  return {{start_all, test_all, n_requests, {0, 0}, {0, 0}}, out, in};
}

TEST(Exchange, MovesRowsOfSeveralArraysInOneStart) {
  std::vector<double> pairs{0, 1, 10, 11, 20, 21, -1, -1, -1, -1};
  std::vector<double> singles{5, 6, -1, -1};
  const std::array arrays{address(pairs.data()), address(singles.data())};
  Exchange made = exchange(2);
  made.begin(arrays);
  EXPECT_EQ(n_starts, 1);
  EXPECT_FALSE(made.poll(2));
  EXPECT_TRUE(made.poll(2));
  EXPECT_EQ(n_tests, 3);
  made.unpack(arrays);
  EXPECT_EQ(pairs, (std::vector<double>{0, 1, 10, 11, 20, 21, 20, 21, 0, 1}));
  EXPECT_EQ(singles, (std::vector<double>{5, 6, 6, 6}));
  made.combine(arrays, move::Update::add);
  EXPECT_EQ(pairs, (std::vector<double>{0, 1, 10, 11, 20, 21, 40, 42, 0, 2}));
  EXPECT_EQ(singles, (std::vector<double>{5, 6, 12, 12}));
  made.combine(arrays, move::Update::min);
  EXPECT_EQ(singles, (std::vector<double>{5, 6, 6, 6}));
}

TEST(Exchange, ReportsErrorsOfMpi) {
  std::vector<double> pairs(10);
  std::vector<double> singles(4);
  Exchange made = exchange(1);
  EXPECT_THROW(made.begin(std::array{address(pairs.data()), address(singles.data())}),
               ExecutionError);
}

TEST(Exchange, HasNothingToDoWithoutNeighbours) {
  Exchange made({start_all, test_all, 0, {}, {}}, {}, {});
  n_starts = n_tests = 0;
  made.begin({});
  EXPECT_TRUE(made.poll(1));
  EXPECT_EQ(n_starts + n_tests, 0);
}

}  // namespace
}  // namespace op2::exec
