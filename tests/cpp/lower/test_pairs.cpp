// SPDX-License-Identifier: BSD-3-Clause
#include "lower/pairs.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ir/group.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::contains;
using testing::indirect;
using testing::make_loop;

/// Edges between cells, which read their nodes; both Maps have two targets.
std::vector<ir::MapRef> edges_to_cells_and_nodes() {
  std::vector<ir::MapRef> maps = testing::edges_to_nodes();
  maps.push_back(maps.front());
  return maps;
}

ir::Loop neighbour_loop(testing::NamedArg extra = indirect("p", Access::read, 0)) {
  return make_loop({indirect("x", Access::read, 1, 2), indirect("q", Access::read, 0, 2),
                    indirect("r", Access::inc, 0, 2), std::move(extra)},
                   edges_to_cells_and_nodes());
}

kir::Module owner_module(const ir::Loop& loop,
                         const Options& options = {.widths = {.padded = true}},
                         const Facts& facts = testing::grid) {
  std::vector<MapFacts> maps = testing::no_facts(loop);
  for (MapFacts& map : maps) map.has_negative = false;
  kir::Module wanted;
  (void)lower({loop, Strategy::owner, facts, maps, options},
              [&wanted](Stage stage, const kir::Module& module) {
                if (stage <= Stage::layout) wanted = module;
              });
  return wanted;
}

TEST(Pairs, AreVisitedByColumnsOfNeighbours) {
  const kir::Module module = owner_module(neighbour_loop());
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::PairsPlan{{{0}}, {{1}}}));
  const std::string text = kir::dump(module);
  EXPECT_TRUE(contains(text,
                       "    decl float64 q_pack_own[2]\n"
                       "    gather q_pack_own = float64 q[target] x2 of 2 from 0\n"))
      << text;
  EXPECT_TRUE(contains(text,
                       "      decl const int64 at = ((k * n_rows) + t)\n"
                       "      decl const uint32 code = neighbour[at]\n"
                       "      decl const int64 across = (code / 4)\n"
                       "      decl const int64 o = ((code / 2) % 2)\n"))
      << text;
  EXPECT_TRUE(contains(text, "q_pack[c] = select((o == 0), q_pack_own[c], q_pack_other[c])"))
      << text;
  EXPECT_TRUE(contains(text, "q_pack[(2 + c)] = select((o == 0), q_pack_other[c], q_pack_own[c])"))
      << text;
  EXPECT_TRUE(contains(text,
                       "      if ((code % 2) == 0)\n"
                       "        copy 2 of r_own[c] += select("))
      << text;
  EXPECT_FALSE(contains(text, "decl const int64 n ")) << text;
}

TEST(Pairs, AreReadAheadWhereTheyAreFew) {
  const kir::Module module =
      owner_module(neighbour_loop(), {.widths = {.padded = true, .columns = 4}});
  EXPECT_EQ(std::get<abi::PairsPlan>(module.plan).columns, 4);
  const std::string text = kir::dump(module);
  EXPECT_TRUE(contains(text,
                       "    decl uint32 neighbour_fetched[4]\n"
                       "    decl int32 x_map_rows_fetched[8]\n"
                       "    for serial k in [0, 4)\n"
                       "      decl const int64 at = ((t * 4) + k)\n"
                       "      neighbour_fetched[k] = neighbour[at]\n"
                       "      x_map_rows_fetched[(k * 2)] = x_map_rows[(at * 2)]\n"
                       "      x_map_rows_fetched[((k * 2) + 1)] = x_map_rows[((at * 2) + 1)]\n"))
      << text;
  EXPECT_TRUE(contains(text, "decl const uint32 code = neighbour_fetched[k]")) << text;
  const kir::Module many =
      owner_module(neighbour_loop(), {.widths = {.padded = true, .columns = 6}});
  EXPECT_EQ(std::get<abi::PairsPlan>(many.plan).columns, 0);
}

TEST(Pairs, BoundTheRegistersOfTheirKernel) {
  const kir::Module module = owner_module(neighbour_loop());
  EXPECT_EQ(module.functions.front().max_lanes, 128);
  EXPECT_EQ(module.functions.front().least_blocks, 7);
  const kir::Module free =
      owner_module(neighbour_loop(), {.widths = {.padded = true}, .tuning = {.resident_lanes = 0}});
  EXPECT_EQ(free.functions.front().least_blocks, 0);
}

TEST(Pairs, OtherLoopsAreLeftAlone) {
  const auto is_paired = [](const ir::Loop& loop,
                            const Options& options = {.widths = {.padded = true}},
                            const Facts& facts = testing::grid) {
    return std::holds_alternative<abi::PairsPlan>(owner_module(loop, options, facts).plan);
  };
  EXPECT_TRUE(is_paired(neighbour_loop(testing::global_read("g"))));
  EXPECT_FALSE(is_paired(neighbour_loop(testing::direct("w", Access::read))));
  EXPECT_FALSE(is_paired(neighbour_loop(testing::global_reduce("s", Access::inc))));
  EXPECT_FALSE(is_paired(neighbour_loop(), {.widths = {.padded = false}}));
  EXPECT_FALSE(
      is_paired(neighbour_loop(), {.widths = {.padded = true}, .tuning = {.composed_targets = 1}}));
  EXPECT_FALSE(
      is_paired(neighbour_loop(), {.widths = {.padded = true}, .tuning = {.composed_targets = 0}}));
  Facts processor = testing::grid;
  processor = processor.on(/*is_processor=*/true, /*has_float64=*/true);
  EXPECT_FALSE(is_paired(neighbour_loop(), {.widths = {.padded = true}}, processor));
}

TEST(Pairs, OfMapsThatMayLeadNowhereAreNone) {
  const ir::Loop loop = ir::inverted(neighbour_loop());
  const Options options{.widths = {.padded = true}};
  std::vector<MapFacts> maps = testing::no_facts(loop);
  EXPECT_FALSE(visits_pairs({loop, Strategy::owner, testing::grid, maps, options}, 0));
  maps.front().has_negative = false;
  EXPECT_TRUE(visits_pairs({loop, Strategy::owner, testing::grid, maps, options}, 0));
}

}  // namespace
}  // namespace op2::lower
