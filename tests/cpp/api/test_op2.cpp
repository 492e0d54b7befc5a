// SPDX-License-Identifier: BSD-3-Clause
#include "api/op2.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "api/object_states.hpp"
#include "base/error.hpp"

namespace op2 {
namespace {

using testing::message_of;

TEST(Objects, ValuesStayWhereTheyAre) {
  const Set cells(3, "cells");
  const Set edges(2, "edges");
  std::vector<double> values(6, 1.0);
  std::vector<std::int32_t> ends{0, 1, 1, 2};
  const Dat<double, 2> q(cells, std::span<double>(values), "q");
  const Map<2> map(edges, cells, std::span<const std::int32_t>(ends), "ends");
  EXPECT_EQ(q.values().data(), values.data());
  EXPECT_EQ(q.state()->buffer->data(), values.data());
  EXPECT_EQ(q.state()->buffer->n_bytes(), 48);
  EXPECT_EQ(map.state()->table->values(), ends.data());
  EXPECT_EQ(cells.size(), 3);
  EXPECT_EQ(cells.name(), "cells");
}

TEST(Objects, WhatIsWrongIsSaidAsInPython) {
  EXPECT_EQ(message_of<UsageError>([] { (void)Set(-1, "cells"); }),
            "Set 'cells': the size must be an integer, not negative, got -1");
  const Set cells(3, "cells");
  const Set edges(2, "edges");
  std::vector<double> values(5);
  EXPECT_EQ(
      message_of<UsageError>([&] { (void)Dat<double, 2>(cells, std::span<double>(values), "q"); }),
      "Dat 'q' on Set 'cells': expected 6 values (shape (3, 2)), got 5");
  EXPECT_EQ(
      message_of<UsageError>([&] { (void)Global<double, 4>(std::span<double>(values), "far"); }),
      "Global 'far': expected 4 values, got 5");
  const std::vector<std::int32_t> ends{0, 1, 1, 3};
  const auto map = [&](std::size_t n) {
    return message_of<UsageError>(
        [&] { (void)Map<2>(edges, cells, std::span<const std::int32_t>(ends.data(), n), "ends"); });
  };
  EXPECT_EQ(map(3), "Map 'ends' from Set 'edges': expected values of shape (2, 2), got 3 values");
  EXPECT_EQ(map(4),
            "Map 'ends': row 1, slot 1 is 3, but Set 'cells' has entities 0 to 2; is the numbering "
            "from 1, or the Map's target another Set?");
}

TEST(Objects, ChangedMapsAreCheckedAgain) {
  const Set cells(3, "cells");
  std::vector<std::int64_t> next{1, 2, 0};
  Map<1, std::int64_t> map(cells, cells, std::span<const std::int64_t>(next), "next");
  EXPECT_EQ(map.state()->table->index_bytes(), 8);
  const std::int64_t before = map.state()->table->version();
  next[0] = 2;
  map.changed();
  EXPECT_GT(map.state()->table->version(), before);
  next[0] = -1;
  EXPECT_THROW(map.changed(), UsageError);
}

TEST(Objects, SubsetsAreAscendingPartsOfTheirSet) {
  const Set cells(4, "cells");
  const auto message = [&cells](std::vector<std::int64_t> indices) {
    return message_of<UsageError>(
        [&] { (void)Subset(cells, std::span<const std::int64_t>(indices), "some"); });
  };
  const std::vector<std::int32_t> two{1, 3};
  EXPECT_EQ(Subset(cells, std::span<const std::int32_t>(two)).size(), 2);
  std::vector<std::int32_t> changed{1, 2};
  const Subset part(cells, changed);
  changed = {0, 99};
  EXPECT_EQ(part.state()->table->at(1, 0), 2);
  EXPECT_EQ(message({1, 4}), "Subset 'some': index 1 is 4, but Set 'cells' has entities 0 to 3");
  EXPECT_EQ(message({-1}), "Subset 'some': index 0 is -1, but Set 'cells' has entities 0 to 3");
  EXPECT_EQ(message({2, 2}),
            "Subset 'some': index 1 is 2 and comes after 2; sort the indices and keep each once");
}

class Matrices : public ::testing::Test {
 protected:
  Set edges{2, "edges"}, nodes{3, "nodes"}, cells{2, "cells"};
  std::vector<std::int32_t> ends_values{0, 1, 1, 2}, cell_values{0, 1};
  Map<2> ends{edges, nodes, ends_values, "ends"};
  Map<1> cell{edges, cells, cell_values, "cell"};
};

TEST_F(Matrices, RowsAndColumnsMeetWhereEntitiesCoupleThem) {
  const Sparsity square(nodes, nodes, {{ends, ends}});
  EXPECT_EQ(square.n_entries(), 7);
  const Sparsity flat(cells, nodes, {{cell, ends}});
  EXPECT_EQ(flat.row_offset()[2], 4);
  const auto columns = flat.columns();
  EXPECT_EQ((std::vector<std::int32_t>{columns.begin(), columns.end()}),
            (std::vector<std::int32_t>{0, 1, 1, 2}));
  const Sparsity diagonal(nodes, nodes, {});
  EXPECT_EQ(diagonal.n_entries(), 3);
  std::vector<double> values(28);
  EXPECT_EQ((Mat<double, 2>(square, values).values().data()), values.data());
}

TEST_F(Matrices, WhatIsWrongIsSaid) {
  EXPECT_EQ(message_of<UsageError>([this] {
              (void)Sparsity(nodes, cells, {{ends, ends}}, "s");
            }),
            "Sparsity 's': the columns are entities of Set 'cells', but Map 'ends' leads to Set "
            "'nodes'");
  std::vector<std::int32_t> own_values{0, 1, 2};
  const Map<1> own(nodes, nodes, own_values, "own");
  EXPECT_EQ(message_of<UsageError>([&] {
              (void)Sparsity(nodes, nodes, {{ends, own}}, "s");
            }),
            "Sparsity 's': Map 'ends' starts on Set 'edges', but Map 'own' on Set 'nodes'; the two "
            "of a pair start on one Set");
  std::vector<double> values(7);
  EXPECT_EQ(message_of<UsageError>([&] {
              (void)Mat<double, 2, 1>(Sparsity(nodes, nodes, {{ends, ends}}, "s"), values, "a");
            }),
            "Mat 'a': expected 14 values (2 for each of the 7 entries of Sparsity 's'), got 7");
}

TEST(Objects, RaggedMapsHaveRowsOfTheirOwnLength) {
  const Set cells(3, "cells");
  const Set faces(5, "faces");
  std::vector<std::int32_t> offsets{0, 3, 3, 5};
  std::vector<std::int32_t> entries{0, 1, 2, 2, 4};
  const RaggedMap<> map(cells, faces, offsets, entries, "faces_of");
  entries[0] = offsets[1] = 9;  // copied
  const mesh::MapTable& table = *map.state()->table;
  std::vector<std::int64_t> visited;
  for (std::int64_t row = 0; row < 3; ++row) {
    table.visit(row, [&](int slot, std::int64_t target) {
      visited.insert(visited.end(), {row, slot, target});
    });
  }
  EXPECT_EQ(visited, (std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 0, 2, 2, 2, 0, 2, 2, 1, 4}));
  const std::span<const std::int32_t> counts = map.counts();
  EXPECT_EQ(std::vector<std::int32_t>(counts.begin(), counts.end()),
            (std::vector<std::int32_t>{3, 0, 2}));
  EXPECT_EQ(map.state()->typical_arity, 3);  // the root of 13 / 3
  EXPECT_EQ(api::counts_of(*map.state())->name, "faces_of_counts");
  const std::vector<std::int64_t> wide_offsets{0, 1, 1, 1};
  const std::vector<std::int64_t> wide_entries{4};
  const RaggedMap<std::int64_t> wide(cells, faces, wide_offsets, wide_entries);
  EXPECT_EQ(wide.state()->table->index_bytes(), 8);
  const Sparsity places(faces, faces, {{map, map}});
  EXPECT_EQ(places.n_entries(), 13);  // 9 and 4, of which (2, 2) is one, and (3, 3)
}

TEST(Objects, WrongRaggedMapsAreNamed) {
  const Set cells(2, "cells");
  const Set faces(5, "faces");
  const auto message = [&](const std::vector<std::int32_t>& offsets,
                           const std::vector<std::int32_t>& values) {
    return message_of<UsageError>(
        [&] { (void)RaggedMap<>(cells, faces, offsets, values, "faces_of"); });
  };
  EXPECT_EQ(message({0, 1}, {0}),
            "RaggedMap 'faces_of' from Set 'cells': expected 3 offsets, where the 2 rows begin and "
            "the last one ends, got 2");
  EXPECT_EQ(message({1, 1, 1}, {}), "RaggedMap 'faces_of': offsets must begin at 0, got 1");
  EXPECT_EQ(message({0, 2, 1}, {0}),
            "RaggedMap 'faces_of': offsets fall at row 1, from 2 to 1; a row ends where the next "
            "one begins");
  EXPECT_EQ(message({0, 1, 2}, {0}),
            "RaggedMap 'faces_of': offsets end at 2, but there are 1 values");
  EXPECT_EQ(message({0, 1, 3}, {0, 4, 5}),
            "Map 'faces_of': row 1, slot 1 is 5, but Set 'faces' has entities 0 to 4; is the "
            "numbering from 1, or the Map's target another Set?");
  const ExtrudedSet columns(cells, 3);
  EXPECT_EQ(
      message_of<UsageError>([&] {
        const std::vector<std::int32_t> none{0, 0, 0};
        (void)RaggedMap<>(columns, faces, none, std::span<const std::int32_t>(), "up");
      }),
      "RaggedMap 'up': Set 'cells_extruded' is extruded; a ragged Map is between Sets without "
      "layers");
}

TEST(Options, ThreadsAreNotNegative) {
  EXPECT_EQ(message_of<UsageError>([] {
              init({"sequential", -1});
            }),
            "init: threads must be 0 or more, got -1");
}

TEST(Options, MemoryIsNotNegative) {
  EXPECT_EQ(message_of<UsageError>([] {
              init({"sequential", 1, "", "", -1});
            }),
            "init: device_memory must be 0 or more, got -1");
}

}  // namespace
}  // namespace op2
