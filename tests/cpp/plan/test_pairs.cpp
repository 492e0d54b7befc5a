// SPDX-License-Identifier: BSD-3-Clause
#include "plan/pairs.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/corner_codes.hpp"
#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::entry_of;
using testing::random_map;
using testing::TestMap;

InverseMap inverse_of_all(const TestMap<>& map, bool touched_only = false,
                          IncidenceOrder order = IncidenceOrder::by_element) {
  InverseSpec spec{{map.table->n_rows(), nullptr}, {}};
  spec.order = order;
  spec.touched_only = touched_only;
  for (int slot = 0; slot < map.table->arity(); ++slot)
    spec.occurrences.push_back({map.table, slot});
  return invert(spec, 1);
}

TEST(PairColumns, NameTheOtherTargetAndTheOwnSlot) {
  const TestMap<> edges({0, 1, 2, 1, 1, 3}, 2, 5);  // target 4 has none
  const PairColumns pairs = pair_columns(inverse_of_all(edges), *edges.table, {}, 2);
  EXPECT_EQ(pairs.n_rows, 5);
  EXPECT_EQ(pairs.width, 3);
  const std::vector<std::int64_t> wanted{4, 2,  4, 6, 5,  // other * 4 + slot * 2, or that + 1
                                         5, 10, 5, 7, 5,  //
                                         5, 12, 5, 7, 5};
  EXPECT_EQ(testing::widen(pairs.neighbours), wanted);
  EXPECT_EQ(pairs.bytes(), 15 * 4);
}

TEST(PairColumns, AreAsWideAsTold) {
  const TestMap<> edges({0, 1, 1, 2}, 2, 3);
  const InverseMap inverse = inverse_of_all(edges);
  const PairColumns pairs = pair_columns(inverse, *edges.table, {.width = 3, .lanes = 0}, 1);
  EXPECT_EQ(pairs.width, 3);
  EXPECT_EQ(testing::widen(pairs.neighbours),
            (std::vector<std::int64_t>{4, 2, 6, 5, 8, 7, 5, 3, 7}));
  EXPECT_EQ(bytes_of(compose(*edges.table, inverse, {.width = 3, .lanes = 0}, 4, 1)),
            3 * 3 * 2 * 4);
  EXPECT_THROW((void)pair_columns(inverse, *edges.table, {.width = 1, .lanes = 0}, 1),
               InternalError);
}

InverseMap inverse_by_slot(const TestMap<>& map) {
  return inverse_of_all(map, false, IncidenceOrder::by_slot);
}

TEST(PairColumns, OfGroupsLieGroupByGroupAndRepeatTheLastRow) {
  const TestMap<> edges({0, 1, 1, 2}, 2, 3);
  const TestMap<> nodes({7, 8}, 1, 9);
  const InverseMap inverse = inverse_by_slot(edges);
  const PairLayout pairs_of_rows{.width = 0, .lanes = 2};
  const PairColumns pairs = pair_columns(inverse, *edges.table, pairs_of_rows, 2);
  EXPECT_EQ(pairs.n_rows, 3);
  EXPECT_EQ(pairs.width, 2);
  // slot 0 in the first column, slot 1 in the last; 5 and 7 stand for none
  EXPECT_EQ(testing::widen(pairs.neighbours), (std::vector<std::int64_t>{4, 8, 5, 2, 7, 7, 6, 6}));
  EXPECT_EQ(pairs.slot_columns, (std::vector<std::int32_t>{1, 2, 0, 1}));
  EXPECT_EQ(pairs.bytes(), 8 * 4 + 4 * 4);
  EXPECT_EQ(testing::widen(compose(*nodes.table, inverse, pairs_of_rows, 4, 1)),
            (std::vector<std::int64_t>{7, 8, 7, 7, 8, 8, 8, 8}));
}

TEST(PairColumns, OfGroupsNeedIncidencesBySlot) {
  const TestMap<> edges({0, 1, 1, 2}, 2, 3);
  EXPECT_THROW((void)pair_columns(inverse_of_all(edges), *edges.table, {.width = 0, .lanes = 2}, 1),
               InternalError);
}

TEST(PairColumns, OfGroupsSayWhereAllRowsHaveOneSlot) {
  const TestMap<> edges = random_map(4000, 2, 900, 1.0, false, 11);
  const InverseMap inverse = inverse_by_slot(edges);
  const int lanes = 4;
  const PairColumns pairs = pair_columns(inverse, *edges.table, {.width = 0, .lanes = lanes}, 3);
  std::int64_t n_incidences = 0;
  for (std::int64_t place = 0; place < pairs.width * 900; ++place) {
    const std::int64_t group = place / (lanes * pairs.width);
    const std::int64_t column = place / lanes % pairs.width;
    const std::int64_t kind = entry_of(pairs.neighbours, place) % 4;
    if (column < pairs.slot_columns[static_cast<std::size_t>(2 * group)]) {
      EXPECT_EQ(kind, 0);
    }
    if (column >= pairs.slot_columns[static_cast<std::size_t>(2 * group + 1)]) {
      EXPECT_EQ(kind, 2);
    }
    n_incidences += kind % 2 == 0 ? 1 : 0;
  }
  EXPECT_EQ(n_incidences, inverse.n_entries());
}

TEST(PairColumns, OfNoRowsAreEmpty) {
  const TestMap<> edges({}, 2, 0);
  const PairColumns pairs =
      pair_columns(inverse_by_slot(edges), *edges.table, {.width = 0, .lanes = 8}, 2);
  EXPECT_EQ(pairs.bytes(), 0);
}

TEST(PairColumns, StandSideBySideIfTextsReadAnEvenNumberAhead) {
  const TestMap<> edges = random_map(1000, 2, 900, 1.0, false, 7);
  const TestMap<> nodes = random_map(1000, 3, 500, 1.0, true, 8);
  const InverseMap inverse = inverse_of_all(edges);
  const int even = static_cast<int>(inverse.degree_max + inverse.degree_max % 2);
  const PairColumns one_by_one =
      pair_columns(inverse, *edges.table, {.width = even + 1, .lanes = 0}, 2);
  const PairColumns side_by_side =
      pair_columns(inverse, *edges.table, {.width = even, .lanes = 0}, 2);
  const IndexArray rows_apart =
      compose(*nodes.table, inverse, {.width = even + 1, .lanes = 0}, 4, 2);
  const IndexArray rows_beside = compose(*nodes.table, inverse, {.width = even, .lanes = 0}, 4, 2);
  for (std::int64_t row = 0; row < inverse.n_rows; ++row) {
    for (std::int64_t column = 0; column < even; ++column) {
      const std::int64_t apart = column * inverse.n_rows + row;
      const std::int64_t beside = row * even + column;
      EXPECT_EQ(entry_of(side_by_side.neighbours, beside), entry_of(one_by_one.neighbours, apart));
      for (int slot = 0; slot < 3; ++slot) {
        EXPECT_EQ(entry_of(rows_beside, beside * 3 + slot), entry_of(rows_apart, apart * 3 + slot));
      }
    }
  }
}

TEST(PairColumns, MayHaveRowsForTouchedTargetsAlone) {
  const TestMap<> edges({7, 2}, 2, 9);
  const PairColumns pairs = pair_columns(inverse_of_all(edges, true), *edges.table, {}, 1);
  EXPECT_TRUE(pairs.lists_rows);
  EXPECT_EQ(testing::widen(pairs.rows), (std::vector<std::int64_t>{2, 7}));
  EXPECT_EQ(testing::widen(pairs.neighbours), (std::vector<std::int64_t>{7 * 4 + 2, 2 * 4}));
}

TEST(PairColumns, OfNoElementsAreNone) {
  const TestMap<> edges(std::vector<std::int32_t>{}, 2, 3);
  const PairColumns pairs = pair_columns(inverse_of_all(edges), *edges.table, {}, 1);
  EXPECT_EQ(pairs.width, 0);
  EXPECT_EQ(pairs.bytes(), 0);
}

TEST(PairColumns, HoldEachIncidenceOnce) {
  const TestMap<> edges = random_map(5000, 2, 1700, 1.0, false, 3);
  const InverseMap inverse = inverse_of_all(edges);
  const PairColumns pairs = pair_columns(inverse, *edges.table, {}, 3);
  for (std::int64_t row = 0; row < pairs.n_rows; ++row) {
    const std::int64_t first = inverse.offset[static_cast<std::size_t>(row)];
    const std::int64_t n = inverse.offset[static_cast<std::size_t>(row + 1)] - first;
    for (std::int64_t column = 0; column < pairs.width; ++column) {
      const std::int64_t found = entry_of(pairs.neighbours, column * pairs.n_rows + row);
      EXPECT_EQ(found % 2 == 0, column < n);
      const std::int64_t entry =
          n == 0 ? 0 : entry_of(inverse.entries, first + (column < n ? column : 0));
      const auto slot = static_cast<int>(entry % 2);
      EXPECT_EQ(found / 2, edges.table->at(entry / 2, 1 - slot) * 2 + slot);
    }
  }
}

TEST(PairColumns, AreNotOfOtherMaps) {
  const TestMap<> triangles({0, 1, 2}, 3, 3);
  EXPECT_THROW((void)pair_columns(inverse_of_all(triangles), *triangles.table, {}, 1),
               InternalError);
}

TEST(ComposedPairs, LeadWhereTheElementsDo) {
  const TestMap<> edges = random_map(4000, 2, 1700, 1.0, false, 4);
  const TestMap<> nodes = random_map(4000, 3, 900, 1.0, true, 5);
  const InverseMap inverse = inverse_of_all(edges);
  for (const int index_bytes : {4, 8}) {
    const IndexArray found = compose(*nodes.table, inverse, {}, index_bytes, 3);
    EXPECT_EQ(bytes_of(found), inverse.degree_max * inverse.n_rows * 3 * index_bytes);
    for (std::int64_t row = 0; row < inverse.n_rows; ++row) {
      const std::int64_t first = inverse.offset[static_cast<std::size_t>(row)];
      const std::int64_t n = inverse.offset[static_cast<std::size_t>(row + 1)] - first;
      for (std::int64_t column = 0; column < n; ++column) {
        for (int slot = 0; slot < 3; ++slot) {
          EXPECT_EQ(entry_of(found, (column * inverse.n_rows + row) * 3 + slot),
                    nodes.table->at(entry_of(inverse.entries, first + column) / 2, slot));
        }
      }
    }
  }
}

TEST(ComposedPairs, NeedRowsForAllElements) {
  const TestMap<> edges({0, 1, 2, 1}, 2, 3);
  const TestMap<> shorter({0}, 1, 3);
  EXPECT_THROW((void)compose(*shorter.table, inverse_of_all(edges), {}, 4, 1), UsageError);
}

/// Two squares side by side, 0 1 4 3 and 1 2 5 4, with the edge between them, one on each side, and
/// one that has a node of neither.
struct Squares {
  TestMap<> edge_cells{{0, 1, 0, 0, 1, 1, 1, 0}, 2, 3};  // cell 2 has no edge
  TestMap<> edge_nodes{{4, 1, 3, 0, 2, 5, 1, 6}, 2, 7};
  TestMap<> cell_nodes{{0, 1, 4, 3, 1, 2, 5, 4, 6, 6, 6, 6}, 4, 7};
};

/// Bit 0 apart, by two bits each.
std::uint8_t code_of(int first, int second) {
  return static_cast<std::uint8_t>(2 * first + 8 * second);
}

TEST(CornerCodes, SayWhichEntriesOfTheTargetElementsHave) {
  const Squares mesh;
  const InverseMap inverse = inverse_of_all(mesh.edge_cells);
  const std::vector<std::uint8_t> codes = corner_codes(
      *mesh.edge_nodes.table, *mesh.cell_nodes.table, inverse, {.width = 4, .lanes = 0}, 2);
  ASSERT_EQ(codes.size(), 12U);
  const auto column = [&codes](std::size_t k) {  // four of them stand side by side
    return std::vector<std::uint8_t>{codes[k], codes[4 + k], codes[8 + k]};
  };
  // cell 0: edges 0, 1 from both sides, 3; cell 1: edges 0, 2 from both sides, 3; cell 2: edge 0
  EXPECT_EQ(column(0), (std::vector<std::uint8_t>{code_of(2, 1), code_of(3, 0), 1}));
  EXPECT_EQ(column(1), (std::vector<std::uint8_t>{code_of(3, 0), code_of(1, 2), 1}));
  EXPECT_EQ(column(2), column(1));
  EXPECT_EQ(column(3), (std::vector<std::uint8_t>{1, 1, 1}));
  EXPECT_DOUBLE_EQ(part_elsewhere(*mesh.edge_nodes.table, *mesh.cell_nodes.table, inverse, 1),
                   0.25);
}

TEST(CornerCodes, GoByTheTargetsOfTouchedRows) {
  const Squares mesh;
  const TestMap<> edges({1, 1}, 2, 3);
  const TestMap<> nodes({2, 4}, 2, 7);
  const InverseMap inverse = inverse_of_all(edges, true);
  EXPECT_EQ(corner_codes(*nodes.table, *mesh.cell_nodes.table, inverse, {}, 1),
            (std::vector<std::uint8_t>{code_of(1, 3), code_of(1, 3)}));
  EXPECT_DOUBLE_EQ(part_elsewhere(*nodes.table, *mesh.cell_nodes.table, inverse, 1), 0.0);
}

TEST(CornerCodes, LeadToTheElementsEntries) {
  const TestMap<> edges = random_map(4000, 2, 1700, 0.1, false, 6);
  const TestMap<> nodes = random_map(4000, 3, 40, 0.1, false, 7);
  const TestMap<std::int64_t> corners = random_map<std::int64_t>(1700, 4, 40, 0.1, false, 8);
  const InverseMap inverse = inverse_of_all(edges);
  const auto codes = corner_codes(*nodes.table, *corners.table, inverse, {}, 3);
  std::int64_t n_elsewhere = 0;
  for (std::int64_t row = 0; row < inverse.n_rows; ++row) {
    const std::int64_t first = inverse.offset[static_cast<std::size_t>(row)];
    const std::int64_t n = inverse.offset[static_cast<std::size_t>(row + 1)] - first;
    for (std::int64_t column = 0; column < n; ++column) {
      const std::int64_t element = entry_of(inverse.entries, first + column) / 2;
      const int code = codes[static_cast<std::size_t>(column * inverse.n_rows + row)];
      bool is_elsewhere = false;
      for (int entry = 0; entry < 3; ++entry) {
        const std::int64_t wanted = nodes.table->at(element, entry);
        bool is_found = false;
        for (int corner = 0; corner < 4; ++corner) {
          is_found |= corners.table->at(row, corner) == wanted;
        }
        is_elsewhere |= !is_found;
        const auto low = static_cast<int>(abi::corner_bit(entry, 0, 4));
        if (code % 2 == 0) {
          EXPECT_EQ(corners.table->at(row, code / low % 4), wanted);
        }
      }
      EXPECT_EQ(code == 1, is_elsewhere);
      n_elsewhere += is_elsewhere ? 1 : 0;
    }
  }
  EXPECT_GT(n_elsewhere, 0);
  EXPECT_LT(n_elsewhere, inverse.n_entries());
  EXPECT_DOUBLE_EQ(part_elsewhere(*nodes.table, *corners.table, inverse, 3),
                   static_cast<double>(n_elsewhere) / static_cast<double>(inverse.n_entries()));
}

TEST(CornerCodes, OfGroupsAreThoseOfAllRowsOrNone) {
  // four cells of a strip, and the edges between them; the last edge has its nodes the other way
  const TestMap<> edges({0, 1, 1, 2, 2, 3}, 2, 4);
  const TestMap<> nodes({1, 6, 2, 7, 8, 3}, 2, 10);
  const TestMap<> corners({0, 1, 6, 5, 1, 2, 7, 6, 2, 3, 8, 7, 3, 4, 9, 8}, 4, 10);
  const InverseMap inverse = inverse_by_slot(edges);
  const auto codes =
      corner_codes(*nodes.table, *corners.table, inverse, {.width = 0, .lanes = 2}, 2);
  ASSERT_EQ(codes.size(), 4U);         // [groups, columns]
  EXPECT_EQ(codes[0], code_of(1, 2));  // cells 0 and 1: their right edges
  EXPECT_EQ(codes[1], 1);              // and one has no left edge
  EXPECT_EQ(codes[2], 1);
  EXPECT_EQ(codes[3], 1);  // left edges of cells 2 and 3, turned
}

TEST(CornerCodes, OfNoElementsAreNone) {
  const Squares mesh;
  const TestMap<> none(std::vector<std::int32_t>{}, 2, 3);
  const TestMap<> nodes(std::vector<std::int32_t>{}, 2, 7);
  const InverseMap inverse = inverse_of_all(none);
  EXPECT_TRUE(corner_codes(*nodes.table, *mesh.cell_nodes.table, inverse, {}, 1).empty());
  EXPECT_DOUBLE_EQ(part_elsewhere(*nodes.table, *mesh.cell_nodes.table, inverse, 1), 0.0);
}

TEST(CornerCodes, AreOfMapsThatFit) {
  const Squares mesh;
  const InverseMap inverse = inverse_of_all(mesh.edge_cells);
  const TestMap<> elsewhere({0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3}, 4, 8);
  const TestMap<> few({0, 1, 4, 3}, 4, 7);
  const TestMap<> many(std::vector<std::int32_t>(27, 0), 9, 7);
  const TestMap<> short_rows({0, 1}, 2, 7);
  const auto codes_of = [&inverse](const TestMap<>& of_elements, const TestMap<>& of_targets) {
    (void)corner_codes(*of_elements.table, *of_targets.table, inverse, {}, 1);
  };
  EXPECT_THROW(codes_of(mesh.edge_nodes, elsewhere), UsageError);
  EXPECT_THROW(codes_of(mesh.edge_nodes, few), UsageError);
  EXPECT_THROW(codes_of(mesh.edge_nodes, many), InternalError);
  EXPECT_THROW(codes_of(short_rows, mesh.cell_nodes), UsageError);
}

}  // namespace
}  // namespace op2::plan
