// SPDX-License-Identifier: BSD-3-Clause
#include "move/combinators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "move/trees.hpp"

namespace op2::move {
namespace {

using namespace testing;
using Rows = std::vector<std::int64_t>;

Items from_to(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride) {
  Items items{.to = static_cast<char*>(to), .to_stride = to_stride, .from = {}, .from_stride = {}};
  items.from[0] = static_cast<const char*>(from);
  items.from_stride[0] = from_stride;
  return items;
}

std::vector<double> counted(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST(Combinators, ChainsAgreeWithTheirPartsAtTheEdgesOfPieces) {
  const Tree chain(Request::strided, chained(float64, int32, float64));
  const Tree listed(Request::indexed, chained(float64, int32, float64));
  for (const std::size_t n : {0U, 1U, 255U, 256U, 257U, 775U}) {
    std::vector<double> from = counted(n), to(n), placed(n), expected = from;
    for (double& value : from) value += 0.5;
    const auto count = static_cast<std::int64_t>(n);
    EXPECT_EQ(chain.run(from_to(from.data(), 8, to.data(), 8), count), all_fit);
    EXPECT_EQ(to, expected);
    Rows rows(n);
    std::iota(rows.rbegin(), rows.rend(), 0);
    EXPECT_EQ(
        listed.run(from_to(from.data(), 8, placed.data(), 8), {rows.data(), rows.data()}, count),
        all_fit);
    EXPECT_EQ(placed, expected);
    if (n == 0) continue;
    from[n - 1] = 1e300;
    EXPECT_EQ(chain.run(from_to(from.data(), 8, to.data(), 8), count), count - 1);
    EXPECT_EQ(listed.run(from_to(from.data(), 8, to.data(), 8), {nullptr, rows.data()}, count), 0);
  }
}

TEST(Combinators, ColumnsGoBothWaysAndNameTheFirstRow) {
  constexpr std::int64_t n = 131, dim = 5;
  const std::vector<double> rows = counted(n * dim);
  std::vector<float> columns(n * dim);
  std::vector<double> back(n * dim);
  const auto tree_of = [](const Within& within, const Type& to, const Type& from, Request request) {
    return Tree(request, [&](Builder& builder, std::size_t at, Request requested) {
      return add_columns(builder, at, within, requested, checked(to, from));
    });
  };
  const Tree there = tree_of({dim, n * 4, {8}}, float32, float64, Request::strided);
  EXPECT_EQ(there.run(from_to(rows.data(), dim * 8, columns.data(), 4), n), all_fit);
  EXPECT_EQ(columns[2 * n + 130], 130.0F * dim + 2);
  const Tree home = tree_of({dim, 8, {n * 4}}, float64, float32, Request::indexed);
  EXPECT_EQ(home.run(from_to(columns.data(), 4, back.data(), dim * 8), {}, n), all_fit);
  EXPECT_EQ(back, rows);
  Rows places(n);
  std::iota(places.begin(), places.end(), 0);
  std::ranges::fill(back, 0.0);
  EXPECT_EQ(
      home.run(from_to(columns.data(), 4, back.data(), dim * 8), {places.data(), places.data()}, n),
      all_fit);
  EXPECT_EQ(back, rows);
  const Tree one = tree_of({dim, 8, {n * 4}}, float64, float32, Request::single);
  EXPECT_EQ(one.run(from_to(columns.data() + 7, 0, back.data(), 0)), all_fit);
  EXPECT_EQ(back[4], 7.0 * dim + 4);
  std::vector<double> large = rows;
  large[100 * dim] = large[90 * dim + 4] = 1e300;
  EXPECT_EQ(there.run(from_to(large.data(), dim * 8, columns.data(), 4), n), 90);
}

TEST(Combinators, RaggedRowsAndSingleValuesForWholeRows) {
  const Rows offsets{0, 2, 2, 5}, ones{0, 1, 1, 2};
  const std::vector<double> values{1, 2, 3, 4, 5}, few{7, 9};
  std::vector<float> to(5);
  const auto run = [&](const char* from, const void* items, std::int64_t stride) {
    const Ragged ragged{reinterpret_cast<char*>(to.data()), from, 4, 8};
    const Tree tree(Request::strided, [&](Builder& builder, std::size_t at, Request request) {
      return add_var_dim(builder, at, ragged, request, converting(float32, float64));
    });
    return tree.run(from_to(items, stride, const_cast<std::int64_t*>(offsets.data()), 8), 3);
  };
  const auto* const bytes = reinterpret_cast<const char*>(values.data());
  EXPECT_EQ(run(bytes, offsets.data(), 8), all_fit);
  EXPECT_EQ(to, (std::vector<float>{1, 2, 3, 4, 5}));
  const std::vector<double> each{10, 20, 30};
  EXPECT_EQ(run(nullptr, each.data(), 8), all_fit);
  EXPECT_EQ(to, (std::vector<float>{10, 10, 30, 30, 30}));
  EXPECT_EQ(run(reinterpret_cast<const char*>(few.data()), ones.data(), 8), all_fit);
  EXPECT_EQ(to, (std::vector<float>{7, 7, 9, 9, 9}));
  const Rows unequal{0, 2, 2, 4};
  EXPECT_EQ(run(bytes, unequal.data(), 8), 2);
}

TEST(Combinators, ScattersCombineAndTheLaterStays) {
  const std::vector<double> from{1, 2, 3, 4};
  const Rows rows{2, 0, 2, 1};
  const auto run = [&](auto... update) {
    std::vector<float> to{10, 10, 2.5F};
    const Tree tree(Request::single, [&](Builder& builder, std::size_t at, Request request) {
      const Within within{.n = 4, .to_stride = 4, .from_stride = {8}};
      return add_scatter(builder, at, within, rows.data(), update..., request,
                         converting(float32, float64));
    });
    EXPECT_EQ(tree.run(from_to(from.data(), 0, to.data(), 0)), all_fit);
    return to;
  };
  EXPECT_EQ(run(), (std::vector<float>{2, 4, 3}));
  EXPECT_EQ(run(DType::float32, Update::add), (std::vector<float>{12, 14, 6.5F}));
  EXPECT_EQ(run(DType::float32, Update::min), (std::vector<float>{2, 4, 1}));
  EXPECT_EQ(run(DType::float32, Update::max), (std::vector<float>{10, 10, 3}));
}

TEST(Combinators, GathersOfManyItemsAreGathersOfEach) {
  const std::vector<double> from = counted(12);
  const Rows rows{3, 1};
  std::vector<double> to(6);
  const Tree tree(Request::strided, [&](Builder& builder, std::size_t at, Request request) {
    const Within within{.n = 2, .to_stride = 8, .from_stride = {8}};
    return add_gather(builder, at, within, rows.data(), request, copying(8));
  });
  EXPECT_EQ(tree.run(from_to(from.data(), 32, to.data(), 16), 3), all_fit);
  EXPECT_EQ(to, (std::vector<double>{3, 1, 7, 5, 11, 9}));
}

TEST(Combinators, SumsDoNotDependOnTheNumberOfPieces) {
  std::mt19937_64 random(3);
  constexpr std::int64_t n = 64 * 640;
  std::vector<std::int32_t> whole(n);
  std::vector<double> real(n);
  double exact = 0;
  for (std::size_t i = 0; i < real.size(); ++i) {
    whole[i] = static_cast<std::int32_t>(random() % 2000) - 1000;
    real[i] = std::ldexp(static_cast<double>(random() % (1 << 20)), -20);
    exact += real[i];  // exact: few digits
    real[i] /= 3;
  }
  const auto total = [](DType dtype, const Type& from, const void* values, std::int64_t n_pieces,
                        auto zero) {
    const std::int64_t each = n / n_pieces;
    const auto n_bytes = static_cast<std::int64_t>(size_of(from.dtype));
    const Tree tree(Request::strided, [&](Builder& builder, std::size_t at, Request request) {
      const Within within{.n = each, .to_stride = 0, .from_stride = {n_bytes}};
      return add_reduce(builder, at, within, dtype, Update::add, request,
                        converting({dtype, false}, from));
    });
    EXPECT_EQ(tree.run(from_to(values, each * n_bytes, &zero, 0), n_pieces), all_fit);
    return zero;
  };
  const std::int64_t expected = std::accumulate(whole.begin(), whole.end(), std::int64_t{0});
  for (const std::int64_t n_pieces : {1, 2, 5, 8, 64}) {
    EXPECT_EQ(total(DType::int64, int32, whole.data(), n_pieces, std::int64_t{0}), expected);
    EXPECT_NEAR(total(DType::float64, float64, real.data(), n_pieces, 0.0) / (exact / 3), 1, 1e-14);
  }
}

/// A tree of conversions, gathers, chains and dims around them, that ends with 24 doubles an item.
class RandomTree {
 public:
  explicit RandomTree(unsigned int seed) : random_(seed), rows_(24) {
    std::iota(rows_.begin(), rows_.end(), 0);
    std::shuffle(rows_.begin(), rows_.end(), random_);
    for (unsigned int& choice : choices_) choice = random_() % 5;
  }
  std::size_t operator()(Builder& builder, std::size_t at, Request request) const {
    const Within within{.n = 24, .to_stride = 8, .from_stride = {8}};
    const auto leaf = [this](Builder& inside, std::size_t begin, Request requested) {
      return add(inside, begin, requested, 0);
    };
    if (choices_[3] == 0) return add_dim(builder, at, within, request, leaf);
    if (choices_[3] == 1) return add_columns(builder, at, within, request, leaf);
    return choices_[3] < 4 ? add_gather(builder, at, within, rows_.data(), request, leaf)
                           : add_scatter(builder, at, within, rows_.data(), request, leaf);
  }

 private:
  std::size_t add(Builder& builder, std::size_t at, Request request, std::size_t level) const {
    if (level == 3) return add_copy(builder, at, 8, request);
    const auto next = [this, level](Builder& inside, std::size_t begin, Request requested) {
      return add(inside, begin, requested, level + 1);
    };
    switch (choices_[level]) {
      case 0:
        return add_chain(builder, at, 8, request, next, next);
      case 1:
        return add_chain(builder, at, 4, request, checked(int32, float64),
                         converting(float64, int32));
      case 2:
        return add_sequence(builder, at, request, checking(int8, float64), next);
      case 3: {
        const Within one{.n = 1, .to_stride = 8, .from_stride = {8}};
        return add_dim(builder, at, one, request, next);
      }
      default:
        return add_chain(builder, at, 8, request, converting(int64, float64),
                         converting(float64, int64));
    }
  }

  std::mt19937 random_;
  Rows rows_;
  std::array<unsigned int, 4> choices_{};
};

TEST(Combinators, RequestsAgreeOnRandomTrees) {
  constexpr std::int64_t n = 70, row = 24 * 8;
  for (unsigned int seed = 0; seed < 60; ++seed) {
    const RandomTree random(seed);
    std::vector<double> from(24 * n);
    std::mt19937 number(seed);
    for (double& value : from) value = static_cast<double>(number() % 200) - 100;
    if (seed % 3 == 0) from[number() % from.size()] = 1e10;
    std::vector<double> strided(from.size()), indexed(from.size()), single(from.size());
    const Tree by_stride(Request::strided, random);
    const Tree by_list(Request::indexed, random);
    const Tree by_one(Request::single, random);
    const std::int64_t found = by_stride.run(from_to(from.data(), row, strided.data(), row), n);
    Rows rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    EXPECT_EQ(
        by_list.run(from_to(from.data(), row, indexed.data(), row), {rows.data(), rows.data()}, n),
        found);
    std::int64_t first = all_fit;
    const Items items = from_to(from.data(), row, single.data(), row);
    for (std::int64_t i = 0; i < n && first == all_fit; ++i) {
      if (by_one.run(items.behind(i)) != all_fit) first = i;
    }
    EXPECT_EQ(first, found) << "seed " << seed;
    if (found != all_fit) continue;
    EXPECT_EQ(strided, single) << "seed " << seed;
    EXPECT_EQ(indexed, single) << "seed " << seed;
  }
}

}  // namespace
}  // namespace op2::move
