// SPDX-License-Identifier: BSD-3-Clause
#include "move/ckernel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "move/trees.hpp"

namespace op2::move {
namespace {

using namespace testing;

struct WithPointer {
  Prefix prefix;
  const char* own;
};
struct WithOutside {
  Prefix prefix;
  Outside<const char> elsewhere;
  std::array<std::int64_t, 3> numbers;
  void (*code)(void*);
};
struct WithString {
  Prefix prefix;
  std::string text;
};
struct Long {
  Prefix prefix;
  std::int64_t a, b, c, d, e, f, g, h;
};
static_assert(Relocatable<Prefix> && Relocatable<WithOutside>);
static_assert(!Relocatable<WithPointer>, "a pointer may lead to a field of its own kernel");
static_assert(!Relocatable<WithString> && !Relocatable<Long>);

int n_held = 0;
int n_until_failure = -1;

int launched(const op2_context_v1* /*context*/, long begin, long end, void* const* argv,
             unsigned int argc) {
  auto* const to = static_cast<double*>(argv[0]);
  const auto* const x = static_cast<const double*>(argv[1]);
  const auto* const y = argc > 2 ? static_cast<const double*>(argv[2]) : x;
  for (long i = begin; i < end; ++i) to[i] = x[i] + 2 * y[i];
  return 0;
}

Called held_call(int n_sources) {
  ++n_held;
  return {.launch = &launched,
          .handle = &n_held,
          .release = [](void* handle) { --*static_cast<int*>(handle); },
          .item_bytes = 8,
          .n_sources = n_sources};
}

/// Six levels, with two compiled functions in it.
std::size_t add_six(Builder& builder, std::size_t at, Request request,
                    const std::vector<std::int64_t>& rows) {
  const auto calling = [](Builder& inside, std::size_t begin, Request requested) {
    return add_call(inside, begin, held_call(1), requested);
  };
  const auto both = [&](Builder& inside, std::size_t begin, Request requested) {
    return add_sequence(inside, begin, requested, checking(float32, float64), calling);
  };
  const auto chain = [&](Builder& inside, std::size_t begin, Request requested) {
    return add_chain(inside, begin, 8, requested, both, calling);
  };
  const auto gather = [&](Builder& inside, std::size_t begin, Request requested) {
    const Within within{.n = 3, .to_stride = 8, .from_stride = {8}};
    return add_gather(inside, begin, within, rows.data(), requested, chain);
  };
  const auto columns = [&](Builder& inside, std::size_t begin, Request requested) {
    const Within within{.n = 2, .to_stride = 24, .from_stride = {24}};
    return add_columns(inside, begin, within, requested, gather);
  };
  const Within within{.n = 2, .to_stride = 48, .from_stride = {48}};
  return add_dim(builder, at, within, request, columns);
}

TEST(Ckernel, MemoryIsZeroAndKeepsItsContentsWhenItMoves) {
  Builder builder;
  EXPECT_TRUE(builder.is_inside());
  EXPECT_EQ(builder.root()->destroy, nullptr);
  builder.at<Prefix>(0)->destroy = [](Prefix*) { ++n_held; };
  n_held = 0;
  builder.ensure_capacity_leaf(5000);
  EXPECT_FALSE(builder.is_inside());
  builder.ensure_capacity(50000);
  for (std::size_t at = 512; at < 50000; at += sizeof(Prefix)) {
    EXPECT_EQ(builder.at<Prefix>(at)->function, nullptr);
  }
  builder.root()->destroy(builder.at<Prefix>(0));
  EXPECT_EQ(n_held, 1);
}

TEST(Ckernel, EachStepOfConstructionMayFail) {
  const std::vector<std::int64_t> rows{2, 0, 1};
  n_held = 0;
  int n_steps = 0;
  for (bool is_done = false; !is_done; ++n_steps) {
    n_until_failure = n_steps;
    try {
      Builder builder([](void* old, std::size_t n_old, std::size_t n_new) {
        return n_until_failure-- == 0 ? nullptr : grow_elsewhere(old, n_old, n_new);
      });
      builder.ensure_capacity_leaf(sizeof(Prefix));
      add_six(builder, 0, Request::single, rows);
      is_done = true;
      EXPECT_EQ(n_held, 2);
    } catch (const std::bad_alloc&) {
    }
    EXPECT_EQ(n_held, 0) << "step " << n_steps;
  }
  EXPECT_GE(n_steps, 8);
}

TEST(Ckernel, ATreeThatMovedAtEachRequestDoesTheSame) {
  const std::vector<std::int64_t> rows{2, 0, 1};
  std::array<double, 12> from{};
  std::iota(from.begin(), from.end(), 1.0);
  std::array<double, 12> moved{}, still{};
  std::array<char, 4096> scratch{};
  n_held = 0;
  {
    Builder builder(&grow_elsewhere);
    builder.ensure_capacity_leaf(sizeof(Prefix));
    add_six(builder, 0, Request::single, rows);
    Items items{
        .to = reinterpret_cast<char*>(moved.data()), .to_stride = 0, .from = {}, .from_stride = {}};
    items.from[0] = reinterpret_cast<const char*>(from.data());
    EXPECT_EQ(call(builder.root(), items, scratch.data()), all_fit);
    const Tree tree(Request::single, [&rows](Builder& inside, std::size_t at, Request request) {
      return add_six(inside, at, request, rows);
    });
    EXPECT_TRUE(tree.is_inside());
    items.to = reinterpret_cast<char*>(still.data());
    EXPECT_EQ(tree.run(items), all_fit);
    from[4] = 1e300;
    EXPECT_EQ(tree.run(items), 0);
  }
  EXPECT_EQ(n_held, 0);
  EXPECT_EQ(moved, still);
  EXPECT_EQ(moved[0], 9 * 3.0);
  EXPECT_EQ(moved[11], 9 * 11.0);
}

TEST(Ckernel, ACompiledFunctionHasSeveralSources) {
  const Tree tree(Request::strided, [](Builder& builder, std::size_t at, Request request) {
    return add_call(builder, at, held_call(2), request);
  });
  const std::vector<double> x{1, 2, 3}, y{10, 0, 20, 0, 30, 0};
  std::vector<double> to(3);
  Items items{
      .to = reinterpret_cast<char*>(to.data()), .to_stride = 8, .from = {}, .from_stride = {8, 16}};
  items.from = {reinterpret_cast<const char*>(x.data()), reinterpret_cast<const char*>(y.data())};
  EXPECT_EQ(tree.run(items, 3), all_fit);
  EXPECT_EQ(to, (std::vector<double>{21, 42, 63}));
}

TEST(Ckernel, ThreadsShareATreeWithABuffer) {
  const Tree tree(Request::strided, chained(float64, int32, float64));
  EXPECT_TRUE(tree.is_inside());
  EXPECT_EQ(tree.n_scratch(), 4U * 256U);
  constexpr std::int64_t n = 1'000'000;
  std::vector<double> from(n), to(n);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<double>(i) + 0.25;
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 16; ++t) {
    threads.emplace_back([&tree, &from, &to, t] {
      Items items{
          .to = reinterpret_cast<char*>(to.data()), .to_stride = 8, .from = {}, .from_stride = {8}};
      items.from[0] = reinterpret_cast<const char*>(from.data());
      EXPECT_EQ(tree.run(items.behind(n * t / 16), n * (t + 1) / 16 - n * t / 16), all_fit);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], static_cast<double>(i));
}

TEST(Ckernel, LargeScratchIsOfTheThreadAndCallsMayBeNested) {
  static const Tree inner(Request::strided, [](Builder& builder, std::size_t at, Request request) {
    return add_chain(builder, at, 24, request, copying(24), copying(24));
  });
  const auto nested = [](const op2_context_v1*, long begin, long end, void* const* argv,
                         unsigned int) {
    Items items{
        .to = static_cast<char*>(argv[0]), .to_stride = 24, .from = {}, .from_stride = {24}};
    items.from[0] = static_cast<const char*>(argv[1]);
    return static_cast<int>(inner.run(items.behind(begin), end - begin) + 1);
  };
  const Called called{
      .launch = nested, .handle = nullptr, .release = nullptr, .item_bytes = 24, .n_sources = 1};
  const Tree outer(Request::strided, [&called](Builder& builder, std::size_t at, Request request) {
    return add_chain(builder, at, 24, request, copying(24),
                     [&called](Builder& inside, std::size_t begin, Request requested) {
                       return add_call(inside, begin, called, requested);
                     });
  });
  EXPECT_GT(outer.n_scratch(), 4096U);
  std::vector<double> from(3000), to(3000);
  std::iota(from.begin(), from.end(), 0.0);
  Items items{
      .to = reinterpret_cast<char*>(to.data()), .to_stride = 24, .from = {}, .from_stride = {24}};
  items.from[0] = reinterpret_cast<const char*>(from.data());
  EXPECT_EQ(outer.run(items, 1000), all_fit);
  EXPECT_EQ(to, from);
}

TEST(Ckernel, NotesAreKeptOnlyIfAskedFor) {
  const Tree silent(Request::strided, chained(float64, int32, float64));
  EXPECT_EQ(silent.notes(), "");
  const Tree tree(Request::strided, chained(float64, int32, float64), true);
  EXPECT_EQ(tree.notes(),
            "by a buffer of 256 items of 4 bytes\n"
            "  one after the other\n"
            "    find the first float64 that int32 does not hold\n"
            "    convert float64 to int32\n"
            "  convert int32 to float64\n");
}

}  // namespace
}  // namespace op2::move
