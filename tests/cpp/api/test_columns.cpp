// SPDX-License-Identifier: BSD-3-Clause
#include "api/columns.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "api/loops.hpp"
#include "api/object_states.hpp"
#include "api/op2.hpp"
#include "base/error.hpp"
#include "exec/portable.hpp"

namespace op2::api {
namespace {

using testing::message_of;

std::vector<std::int64_t> numbers(const mesh::MapTable& table) {
  std::vector<std::int64_t> found;
  for (std::int64_t row = 0; row < table.n_rows(); ++row) {
    for (int slot = 0; slot < table.arity(); ++slot) found.push_back(table.at(row, slot));
  }
  return found;
}

class Columns : public ::testing::Test {
 protected:
  Set base{3, "base"};
  Set nodes{12, "nodes"};
  ExtrudedSet same{base, 4};  // three cells each
  std::vector<int> bounds{0, 2, 1, 4, 0, 4};
  ExtrudedSet different{base, bounds};  // one, two and three cells
  std::vector<int> two{0, 2};
  Subset part{different, two, "part"};
};

TEST_F(Columns, OfOneNumberOfLayersAreFourNumbers) {
  const auto listed = [&](Region region) {
    return numbers(*cells_of(Visited(same, region), 4)->tables.at(0));
  };
  EXPECT_EQ(listed(Region::all), (std::vector<std::int64_t>{3, 0, 0, 3}));
  EXPECT_EQ(listed(Region::bottom), (std::vector<std::int64_t>{1, 0, 0, 3}));
  EXPECT_EQ(listed(Region::top), (std::vector<std::int64_t>{1, 2, 0, 3}));
  EXPECT_EQ(listed(Region::interior_facets), (std::vector<std::int64_t>{2, 0, 0, 3}));
  const ExtrudedSet ring(base, 4, true);
  const Visited facets(ring, Region::interior_facets);
  EXPECT_EQ(facets.n_items(), 9);  // the highest has the lowest above it
  EXPECT_EQ(Visited(same, Region::all).n_items(), 9);
  EXPECT_EQ(Visited(base).n_items(), 3);
}

TEST_F(Columns, WithLayersOfTheirOwnAreListedCellByCell) {
  const Visited all(different);
  const auto cells = cells_of(all, 4);
  EXPECT_EQ(cells->n, 6);
  EXPECT_EQ(all.n_items(), 6);
  EXPECT_EQ(numbers(*cells->tables.at(0)), (std::vector<std::int64_t>{0, 1, 1, 2, 2, 2}));
  EXPECT_EQ(numbers(*cells->tables.at(1)), (std::vector<std::int64_t>{0, 0, 1, 0, 1, 2}));
  EXPECT_EQ(numbers(*cells->tables.at(2)), (std::vector<std::int64_t>{0, 1, 1, 3, 0, 3}));
  EXPECT_EQ(cells->tables.at(0)->index_bytes(), 4);
  EXPECT_EQ(cells_of(all, 8)->tables.at(0)->index_bytes(), 8);
  EXPECT_EQ(cells_of(all, 4), cells);  // plans know it by where it is
  const auto top = cells_of(Visited(part, Region::top), 8);
  EXPECT_EQ(numbers(*top->tables.at(0)), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(numbers(*top->tables.at(1)), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(Visited(part, Region::interior_facets).n_items(), 2);
}

TEST_F(Columns, LeadToWhatTheyStandOn) {
  const MapPointer own = own_columns(different, 4);
  EXPECT_EQ(numbers(*own->table), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(own->to, base.state());
  EXPECT_EQ(own->table->index_bytes(), 4);
  EXPECT_EQ(own_columns(different, 8)->table->index_bytes(), 8);
  EXPECT_EQ(own_columns(part, 4)->table, own_columns(part, 4)->table);
}

TEST_F(Columns, MayHaveNoCells) {
  bounds[3] = bounds[2] + 1;
  const ExtrudedSet sparse(base, bounds);
  for (const Region region : {Region::all, Region::bottom, Region::top, Region::interior_facets}) {
    const Visited all(sparse, region);
    const auto cells = cells_of(all, 4);
    EXPECT_EQ(cells->n, all.n_items());
    for (const std::int64_t column : numbers(*cells->tables.at(0))) EXPECT_NE(column, 1);
    for (const std::int64_t level : numbers(*cells->tables.at(1))) EXPECT_GE(level, 0);
  }
  EXPECT_EQ(Visited(sparse, Region::bottom).n_items(), 2);
  EXPECT_EQ(Visited(sparse, Region::top).n_items(), 2);
}

TEST_F(Columns, HaveCells) {
  EXPECT_EQ(message_of<UsageError>([&] { (void)ExtrudedSet(base, 1); }),
            "ExtrudedSet of Set 'base': a column of cells has at least 2 layers, and at most "
            "2147483647, got 1");
  bounds[3] = 1;
  EXPECT_EQ(
      message_of<UsageError>([&] { (void)ExtrudedSet(base, bounds); }),
      "ExtrudedSet of Set 'base': a column has at least 1 layer, and then no cells, but column "
      "1 is [1, 1] (lowest layer, one past the highest)");
  bounds.pop_back();
  EXPECT_EQ(message_of<UsageError>([&] { (void)ExtrudedSet(base, bounds); }),
            "ExtrudedSet of Set 'base': the layers must be a number, or numbers of shape (3, 2), "
            "got 5 numbers");
  EXPECT_EQ(message_of<UsageError>([&] { (void)ExtrudedSet(same, 3); }),
            "ExtrudedSet: the base must be a Set that is not extruded, got ExtrudedSet "
            "'base_extruded'");
  std::vector<double> values(3);
  EXPECT_NE(message_of<UnsupportedError>([&] {
              (void)Dat<double>(same, values, "v");
            }).find("ExtrudedSet 'base_extruded': values do not live on extruded Sets"),
            std::string::npos);
}

TEST_F(Columns, MapsMayNotLeadOutOfTheirSet) {
  std::vector<int> values{0, 4, 8, 1, 5, 9};
  const auto reach = [&](const Set& from, Offset offset) {
    const Map<2> map(from, nodes, values, std::move(offset), "up");
    check_reach("loop", *map.state(), Visited(from));
  };
  reach(same, {{1, 1}});
  reach(different, {{1, 1}});
  EXPECT_EQ(message_of<UsageError>([&] {
              reach(same, {{2, 1}});
            }),
            "loop: Map 'up' leads from column 1, slot 0, to 12, but Set 'nodes' has entities 0 to "
            "11; check its offset [2, 1]");
  EXPECT_EQ(message_of<UsageError>([&] {
              reach(same, {{1, 1, 1}});
            }),
            "Map 'up': offset: expected 2 numbers, one for each entry, got 3");
  values = {0, 1, 3, 4, 6, 7};
  const ExtrudedSet ring(base, 4, true);
  reach(ring, {{1, 1}, {0, 1}});  // the second entry lies one layer above the bottom
  EXPECT_EQ(message_of<UsageError>([&] {
              reach(ring, {{1, 1}, {1, 0}});
            }),
            "loop: Map 'up' leads from column 0, slot 0, to -1, but Set 'nodes' has entities 0 to "
            "11; check its offset [1, 1]");
}

/// What a compiled loop over cells of one number of layers is: the sums of columns.
int column_sum(const op2_context_v1* /*context*/, long begin, long end, void* const* argv,
               unsigned int /*argc*/) {
  const auto* x = static_cast<const double*>(argv[0]);
  auto* sum = static_cast<double*>(argv[1]);
  const auto* up = static_cast<const std::int32_t*>(argv[2]);
  const auto* layers = static_cast<const std::int64_t*>(argv[3]);
  for (long n = begin; n < end; ++n) {
    const long column = n / layers[0];
    sum[column] += x[up[column] + n % layers[0] + layers[1]];
  }
  return 0;
}

class ColumnLoop : public Columns {
 protected:
  ColumnLoop() {
    init({"sequential", 1});
    exec::Executable made;
    made.name = "column_sum";
    made.strategy = "direct";
    made.arguments = {{"x", {DType::float64, true, true}, true, abi::Role::data, 0},
                      {"sum", {DType::float64, false, true}, true, abi::Role::data, 1},
                      {"up", {DType::int32, true, true}, true, abi::Role::map, 0},
                      {"layers", {DType::int64, true, true}, true, abi::Role::items, 0}};
    made.data = {{Access::read}, {Access::inc}};
    text = exec::canonical(made);
  }
  ~ColumnLoop() override { init({}); }

  void run(const Visited& visited, const Map<1>& by) const {
    const LoopText loop{"column_sum",
                        {0, 1},
                        {{"sequential", column_sum, text.c_str(), 0, {false, false}, {}}},
                        4,
                        1,
                        {Layers::constant, false, false},
                        {{1, 0, 1, {{0, 1, 0, 0}}}, {1, 0, 1, {{0, 0, 0, 0}}}}};
    made_loop(loop, visited,
              {{{x.state(), 0}, {sum.state(), 1}}, {by.state(), own_columns(visited, 4)}, {}})();
  }

  std::string text;
  std::vector<int> bottoms{0, 4, 8};
  std::vector<double> values{1, 2, 3, 0, 10, 20, 30, 0, 100, 200, 300, 0};
  std::vector<double> sums = std::vector<double>(3);
  Map<1> up{same, nodes, bottoms, Offset{{1}}, "up"};
  Dat<double> x{nodes, values, "x"};
  Dat<double> sum{base, sums, "sum"};
};

TEST_F(ColumnLoop, VisitsTheCellsOfARegion) {
  run(same, up);
  EXPECT_EQ(sums, (std::vector<double>{6, 60, 600}));
  run({same, Region::bottom}, up);
  EXPECT_EQ(sums, (std::vector<double>{7, 70, 700}));
  run({same, Region::top}, up);
  EXPECT_EQ(sums, (std::vector<double>{10, 100, 1000}));
}

TEST_F(ColumnLoop, RefusesOtherColumnsThanItWasGeneratedFor) {
  const auto message = [&](const Visited& visited, const Map<1>& by) {
    return message_of<UsageError>([&] { run(visited, by); });
  };
  EXPECT_EQ(message({same, Region::interior_facets}, up),
            "par_loop 'column_sum': it was generated for single cells; pass another region than "
            "interior_facets");
  EXPECT_EQ(message(different, up),
            "par_loop 'column_sum': it was generated for a Set of columns with one number of "
            "layers, but 'base_extruded' is one of columns with layers of their own");
  EXPECT_EQ(message({same, Region::all}, Map<1>(same, nodes, bottoms, "flat")),
            "par_loop 'column_sum': arg 0: it was generated for a Map whose entry 0 moves by 1 "
            "from a layer to the next (quotient 0), but Map 'flat' has no offset and moves it by 0 "
            "(quotient 0); pass op2::Offset with the numbers of the Map in Python");
  std::vector<int> high{0, 4, 10};
  Map<1> moved(same, nodes, high, Offset{{1}}, "moved");
  EXPECT_EQ(message(same, moved),
            "par_loop 'column_sum': arg 0: Map 'moved' leads from column 2, slot 0, to 12, but Set "
            "'nodes' has entities 0 to 11; check its offset [1]");
  EXPECT_EQ(sums, (std::vector<double>{0, 0, 0}));
}

TEST_F(Columns, OfASparsityCoupleWhatEachCellLeadsTo) {
  const std::vector<int> values{0, 4, 8};
  const Map<1> up(same, nodes, values, Offset{{1}}, "up");
  const Sparsity all(nodes, nodes, {{up, up}});
  EXPECT_EQ(all.n_entries(), 12);  // the diagonal
  const Sparsity facets(nodes, nodes, {{up, up, Region::interior_facets}});
  EXPECT_EQ(facets.n_entries(), 12 + 2 * 6);
  const Map<1> flat(base, nodes, values, "flat");
  EXPECT_EQ(message_of<UsageError>([&] {
              (void)Sparsity(nodes, nodes, {{flat, flat, Region::top}}, "s");
            }),
            "Sparsity 's': region top is a part of columns, but Set 'base' is not extruded; loop "
            "over an ExtrudedSet");
}

}  // namespace
}  // namespace op2::api
