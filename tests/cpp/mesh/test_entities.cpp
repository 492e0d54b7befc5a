// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/entities.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "base/error.hpp"

namespace op2::mesh {
namespace {

using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

const Ints edges_of_triangle{1, 2, 0, 2, 0, 1};
const Ints faces_of_tet{1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};

MapTable table_of(const Ints& cells, int arity, std::int64_t n_vertices) {
  return {cells.data(), 4, static_cast<std::int64_t>(cells.size()) / arity, arity, n_vertices};
}

TEST(Entities, OfTwoTrianglesShareOneEdge) {
  const Ints cells{0, 1, 2, 3, 2, 1};
  const Entities edges = number_entities(table_of(cells, 3, 4), edges_of_triangle, 2, 1);
  EXPECT_EQ(edges.vertices, (Ints{0, 1, 0, 2, 1, 2, 3, 1, 3, 2}));
  EXPECT_EQ(edges.of_cells, (Ints{2, 1, 0, 2, 3, 4}));
  EXPECT_EQ(edges.first_use, (Longs{2, 1, 0, 4, 5}));
  EXPECT_EQ(edges.second_use, (Longs{-1, -1, 3, -1, -1}));
  EXPECT_EQ(edges.crowded, -1);
}

TEST(Entities, AgreeWithAMapOfSortedVerticesOnAnyNumberOfThreads) {
  std::mt19937 random(7);
  const std::int64_t n_vertices = 20000;
  Ints cells;
  while (cells.size() < 4 * 30000) {
    Ints cell;
    const auto start = static_cast<std::int32_t>(random() % (n_vertices - 8));
    while (cell.size() < 4) {
      const auto vertex = static_cast<std::int32_t>(start + random() % 8);
      if (std::ranges::find(cell, vertex) == cell.end()) cell.push_back(vertex);
    }
    cells.insert(cells.end(), cell.begin(), cell.end());
  }
  std::map<Ints, Longs> uses;
  for (std::size_t use = 0; use < cells.size(); ++use) {
    Ints face;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto slot = static_cast<std::size_t>(faces_of_tet[use % 4 * 3 + i]);
      face.push_back(cells[use / 4 * 4 + slot]);
    }
    std::ranges::sort(face);
    uses[face].push_back(static_cast<std::int64_t>(use));
  }
  for (const int n_threads : {1, 3}) {
    const Entities faces =
        number_entities(table_of(cells, 4, n_vertices), faces_of_tet, 3, n_threads);
    ASSERT_EQ(faces.first_use.size(), uses.size());
    std::size_t face = 0;
    std::int64_t crowded = -1;
    for (const auto& [vertices, expected] : uses) {
      ASSERT_EQ(faces.first_use[face], expected[0]);
      ASSERT_EQ(faces.second_use[face], expected.size() > 1 ? expected[1] : -1);
      if (expected.size() > 2 && crowded < 0) crowded = static_cast<std::int64_t>(face);
      for (const std::int64_t use : expected) {
        ASSERT_EQ(faces.of_cells[static_cast<std::size_t>(use)], static_cast<std::int32_t>(face));
      }
      ++face;
    }
    EXPECT_EQ(faces.crowded, crowded);
    Ints asked(faces.vertices.rbegin(), faces.vertices.rend());
    const Longs numbers = find_entities(faces.vertices, asked, 3, n_threads);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(numbers[i], static_cast<std::int64_t>(numbers.size() - 1 - i));
    }
  }
}

TEST(Entities, ThatAreNotThereAreNotFound) {
  const Ints cells{0, 1, 2};
  const Entities edges = number_entities(table_of(cells, 3, 5), edges_of_triangle, 2, 1);
  EXPECT_EQ(find_entities(edges.vertices, Ints{2, 0, 0, 3, 4, 4}, 2, 1), (Longs{1, -1, -1}));
  EXPECT_EQ(find_entities(Ints{}, Ints{2, 0}, 2, 1), (Longs{-1}));
}

TEST(Entities, OfWrongCellsAreRefused) {
  const Ints twice{0, 1, 1};
  EXPECT_THROW((void)number_entities(table_of(twice, 3, 4), edges_of_triangle, 2, 1), UsageError);
  const Ints beyond{0, 1, 4};
  EXPECT_THROW((void)number_entities(table_of(beyond, 3, 4), edges_of_triangle, 2, 1), UsageError);
  const Ints cells{0, 1, 2};
  EXPECT_THROW((void)number_entities(table_of(cells, 3, 3), Ints{0, 3}, 2, 1), UsageError);
  EXPECT_THROW((void)number_entities(table_of(cells, 3, 3), edges_of_triangle, 5, 1), UsageError);
}

TEST(Entities, OfNoCellsAreNone) {
  const Entities none = number_entities(table_of({}, 3, 0), edges_of_triangle, 2, 2);
  EXPECT_TRUE(none.vertices.empty());
  EXPECT_EQ(none.crowded, -1);
}

}  // namespace
}  // namespace op2::mesh
