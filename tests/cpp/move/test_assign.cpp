// SPDX-License-Identifier: BSD-3-Clause
#include "move/assign.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <numeric>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "move/trees.hpp"

namespace {

std::atomic<std::int64_t> n_allocated = 0;

}  // namespace

// All allocations of the program are counted, but where sanitizers have their own functions.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__has_feature)
#define OP2_COUNTS_ALLOCATIONS
#elif defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define OP2_COUNTS_ALLOCATIONS
#endif
#endif
#ifdef OP2_COUNTS_ALLOCATIONS
void* operator new(std::size_t n_bytes) {
  n_allocated.fetch_add(1, std::memory_order_relaxed);
  void* const found = std::malloc(n_bytes == 0 ? 1 : n_bytes);
  if (found == nullptr) throw std::bad_alloc();
  return found;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace op2::move {
namespace {

using namespace testing;
using op2::testing::contains;
using op2::testing::message_of;

template <class To, class From>
Rows rows_of(std::vector<To>& to, const std::vector<From>& from, std::int64_t dim) {
  const auto n = static_cast<std::int64_t>(from.size()) / dim;
  return dense_rows(to.data(), from.data(), n, dim, sizeof(To), sizeof(From));
}

TEST(Assign, NothingIsChangedByValuesThatDoNotFit) {
  std::vector<double> from(300'000, 1.5);
  std::vector<std::int8_t> to(from.size(), 3);
  from[200'000] = from[299'999] = 300;
  for (const int n_threads : {1, 3}) {
    EXPECT_EQ(assign(rows_of(to, from, 2), int8, float64, Casting::fitting, n_threads), 100'000);
    EXPECT_EQ(to, std::vector<std::int8_t>(from.size(), 3));
    EXPECT_EQ(assign(rows_of(to, from, 3), int8, float64, Casting::exact, n_threads), 0);
  }
  EXPECT_EQ(assign(rows_of(to, from, 2), int8, float64, Casting::unsafe, 2), all_fit);
  EXPECT_EQ(to[0], 1);
  EXPECT_EQ(to[200'000], 127);
}

TEST(Assign, RowsOfListsOnBothSides) {
  const std::vector<double> from{0, 1, 2, 3, 4, 5, 6, 1e300};
  std::vector<float> to(8, -1);
  const std::vector<std::int64_t> some{2, 0}, all{3, 0}, places{0, 3};
  for (const std::int64_t dim : {1, 2}) {
    Rows rows = rows_of(to, from, dim);
    rows.n = 2;
    rows.lists = {some.data(), some.data()};
    std::ranges::fill(to, -1.0F);
    EXPECT_EQ(assign(rows, float32, float64, Casting::fitting, 1), all_fit);
    const std::vector<float> expected = dim == 1 ? std::vector<float>{0, -1, 2, -1, -1, -1, -1, -1}
                                                 : std::vector<float>{0, 1, -1, -1, 4, 5, -1, -1};
    EXPECT_EQ(to, expected);
  }
  Rows rows = rows_of(to, from, 2);
  rows.n = 2;
  rows.lists = {places.data(), all.data()};
  EXPECT_EQ(assign(rows, float32, float64, Casting::fitting, 1), 0);
  EXPECT_EQ(first_unfit(rows, float32, float64, Casting::fitting, 1), 0);
  EXPECT_EQ(first_unfit(rows, float64, float64, Casting::exact, 1), all_fit);
}

TEST(Assign, ThreadsTakePartsOfLists) {
  constexpr std::int64_t n = 200'000;
  std::vector<std::int64_t> order(n);
  std::iota(order.rbegin(), order.rend(), 0);
  std::vector<double> from(2 * n), to(2 * n), back(2 * n);
  std::iota(from.begin(), from.end(), 0.0);
  Rows rows = dense_rows(to.data(), from.data(), n, 1, 16, 16);
  rows.lists.from = order.data();
  copy_items(rows, 16, 4);
  EXPECT_EQ(to[0], 2.0 * (n - 1));
  Rows home = dense_rows(back.data(), to.data(), n, 1, 16, 16);
  home.lists.to = order.data();
  copy_items(home, 16, 3);
  EXPECT_EQ(back, from);
}

TEST(Assign, ValuesAreCombinedWithThoseOfTheTarget) {
  const std::vector<std::int32_t> from{1, 20, 3, 40};
  const std::vector<std::int64_t> places{2, 0};
  std::vector<std::int32_t> to{10, 10, 10, 10, 10, 10};
  Rows rows = rows_of(to, from, 2);
  rows.lists.to = places.data();
  update_items(rows, DType::int32, Update::add, 1);
  EXPECT_EQ(to, (std::vector<std::int32_t>{13, 50, 10, 10, 11, 30}));
  update_items(rows, DType::int32, Update::max, 2);
  EXPECT_EQ(to, (std::vector<std::int32_t>{13, 50, 10, 10, 11, 30}));
  rows.lists.to = nullptr;
  update_items(rows, DType::int32, Update::min, 1);
  EXPECT_EQ(to, (std::vector<std::int32_t>{1, 20, 3, 10, 11, 30}));
}

TEST(Assign, RowsAndColumns) {
  constexpr std::int64_t n = 150, dim = 3;
  std::vector<double> from(n * dim);
  std::iota(from.begin(), from.end(), 0.0);
  std::vector<float> to(n * dim);
  Rows rows = rows_of(to, from, dim);
  rows.to_row = 4;
  rows.to_item = 4 * n;
  EXPECT_EQ(assign(rows, float32, float64, Casting::fitting, 2), all_fit);
  EXPECT_EQ(to[2 * n + 149], 149.0F * dim + 2);
  EXPECT_TRUE(contains(explain(rows, float32, float64, Casting::fitting),
                       "for 3 components of 64 rows at a time\n  convert float64 to float32\n"));
  from[20 * dim + 1] = 1e300;
  EXPECT_EQ(assign(rows, float32, float64, Casting::fitting, 2), 20);
}

TEST(Assign, OverlapIsRefusedBeforeAnythingChanges) {
  std::vector<double> values(10);
  std::iota(values.begin(), values.end(), 0.0);
  const std::vector<double> before = values;
  const Rows shifted = dense_rows(values.data() + 1, values.data(), 5, 1, 8, 8);
  const std::string said =
      message_of<UsageError>([&] { (void)assign(shifted, float64, float64, Casting::fitting, 1); });
  EXPECT_TRUE(contains(said, "overlap in memory"));
  EXPECT_EQ(values, before);
  const Rows same = dense_rows(values.data(), values.data(), 10, 1, 8, 8);
  EXPECT_EQ(assign(same, float64, float64, Casting::fitting, 1), all_fit);
  EXPECT_THROW((void)assign(dense_rows(values.data(), values.data(), 10, 1, 4, 8), float32, float64,
                            Casting::unsafe, 1),
               UsageError);
  Rows components = dense_rows(values.data() + 1, values.data(), 5, 1, 8, 8);
  components.to_row = components.from_row = 16;
  EXPECT_EQ(assign(components, float64, float64, Casting::fitting, 1), all_fit);
  EXPECT_EQ(values[9], 8.0);
  const std::vector<std::int64_t> first{0, 1}, last{4, 3};
  Rows rows = dense_rows(values.data(), values.data(), 2, 1, 16, 16);
  rows.lists = {first.data(), last.data()};
  EXPECT_EQ(assign(rows, float64, float64, Casting::fitting, 1), all_fit);
}

TEST(Assign, WarmAssignmentsTakeNoMemory) {
  std::vector<double> from(5000, 1.0);
  std::vector<float> to(5000);
  std::vector<std::int64_t> order(1000);
  std::iota(order.rbegin(), order.rend(), 0);
  Rows listed = rows_of(to, from, 5);
  listed.lists.from = order.data();
  Rows columns = rows_of(to, from, 5);
  columns.to_row = 4;
  columns.to_item = 4000;
  const std::int64_t before = n_allocated;
  for (const Rows& rows : {rows_of(to, from, 1), rows_of(to, from, 5), listed, columns}) {
    for (const Casting casting : {Casting::unsafe, Casting::fitting, Casting::exact}) {
      EXPECT_EQ(assign(rows, float32, float64, casting, 1), all_fit);
    }
  }
  copy_items(dense_rows(to.data(), from.data(), 2000, 1, 8, 8), 8, 1);
  EXPECT_EQ(n_allocated, before);
}

TEST(Assign, ExplainsWhatIsDone) {
  std::vector<double> from(6);
  std::vector<float> to(6);
  EXPECT_EQ(explain(rows_of(to, from, 2), float32, float64, Casting::fitting),
            "3 rows of 2: float64 to float32, fitting\n"
            "first, without memory of its own:\n"
            "find the first float64 that float32 does not hold\n"
            "move, without memory of its own:\n"
            "convert float64 to float32\n"
            "bytes of scratch: 0\n");
}

TEST(Assign, NoRowsAndNoItems) {
  std::vector<double> none;
  EXPECT_EQ(assign(rows_of(none, none, 1), float64, float64, Casting::fitting, 2), all_fit);
  double x = 1, y = 2;
  EXPECT_EQ(assign(dense_rows(&x, &y, 4, 0, 8, 8), float64, float64, Casting::fitting, 1), all_fit);
  EXPECT_EQ(x, 1);
}

}  // namespace
}  // namespace op2::move
