// SPDX-License-Identifier: BSD-3-Clause
#include "lower/ragged.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kir/dump.hpp"
#include "loops.hpp"
#include "lower/builder.hpp"
#include "lower/lower.hpp"
#include "lower/make.hpp"
#include "lower/pack.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::indirect;
using testing::make_loop;

std::vector<ir::MapRef> cells_to_faces() {
  ir::MapRef path{most_ragged, 0};
  path.ragged = true;
  return {path};
}

ir::Loop by_faces() {
  return make_loop({indirect("s", Access::inc, 0, 2), indirect("q", Access::read, 0)},
                   cells_to_faces());
}

std::string ragged_body(const ir::Loop& loop) {
  const PackedLoop body = pack(loop, testing::no_facts(loop), testing::threads, {});
  kir::Module module;
  module.launch = loads(body);
  append_call(module.launch, body);
  append(module.launch, stores(body));
  return kir::dump(module);
}

TEST(Ragged, SaysWhichArgumentsGoThroughSuchMaps) {
  const ir::Loop loop = by_faces();
  EXPECT_TRUE(is_ragged(loop));
  EXPECT_TRUE(is_ragged(loop, loop.args[0]));
  EXPECT_FALSE(is_ragged(testing::edge_loop()));
}

TEST(Ragged, ReadsInPlaceWhatNobodyWrites) {
  const ir::Loop loop = by_faces();
  const std::vector<MapFacts> facts = testing::no_facts(loop);
  EXPECT_EQ(called_kernel(loop, 0, facts, {}).listed, (std::vector<std::size_t>{1}));
  EXPECT_EQ(packed_ragged(loop, facts, {}), (std::vector<std::size_t>{0}));
  Options apart;
  apart.widths.soa = {1};
  EXPECT_EQ(packed_ragged(loop, facts, apart), (std::vector<std::size_t>{0, 1}));
  const ir::Loop own =
      make_loop({indirect("q", Access::read, 0, 1, {0, 0}), direct("g", Access::write, 1, {0, 0})},
                cells_to_faces());
  EXPECT_EQ(packed_ragged(own, testing::no_facts(own), {}), (std::vector<std::size_t>{0}));
  const ir::Loop opaque = testing::with_opaque_kernel(loop);
  EXPECT_EQ(packed_ragged(opaque, facts, {}), (std::vector<std::size_t>{0, 1}));
}

TEST(Ragged, HasPacksOfAsManyRowsAsThereAre) {
  const std::string text = ragged_body(by_faces());
  EXPECT_NE(text.find("decl float64 s_pack[128]"), std::string::npos) << text;
  EXPECT_NE(text.find("s[s_map[n] x at most 64] x2 += s_pack"), std::string::npos) << text;
  EXPECT_EQ(text.find("q_pack"), std::string::npos) << text;
}

TEST(Ragged, PacksWhatAnotherParameterReadsInPlace) {
  ir::Loop loop = make_loop({indirect("p", Access::read, 0, 1, {0, 0}),
                             indirect("q", Access::read, 0, 1, {0, 0}), direct("g", Access::write)},
                            cells_to_faces());
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  kernel->body->functions.back().body.push_back(
      {kernel::Evaluate{{kernel::Call{"sqrt"}, {testing::name_of_variable("q")}, {}, 1}}, 1});
  loop.members[0].kernel = std::move(kernel);
  const std::vector<MapFacts> facts = testing::no_facts(loop);
  EXPECT_EQ(packed_ragged(loop, facts, {}), (std::vector<std::size_t>{1}));
  EXPECT_NE(ragged_body(loop).find("kernel(p, q_pack, "), std::string::npos) << ragged_body(loop);
}

ir::MatArg matrix_of(int row_map, int col_map, int row_dim = 1, int col_dim = 1) {
  return {DType::float64, row_dim, col_dim, Access::inc,      row_map,
          col_map,        false,   false,   testing::own_data};
}

TEST(Ragged, MatricesHaveAsManyRowsAndColumnsAsTheElement) {
  ir::MapRef path{most_ragged, 0};
  path.ragged = true;
  const ir::Loop both = make_loop({{"A", matrix_of(0, 0)}}, {path});
  EXPECT_TRUE(is_ragged(both, both.args[0]));
  const std::string text =
      kir::dump(testing::lowered(both, Strategy::direct, testing::one_lane, Stage::narrow));
  EXPECT_NE(text.find("    decl float64 A_pack[4096]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      for serial column in [0, A_pack_columns)\n"
                      "        A_pack_to[A_position[(A_pack_begin + ((i * A_pack_columns) + "
                      "column))]] += A_pack[((i * A_pack_columns) + column)]\n"),
            std::string::npos)
      << text;
  const std::vector<ir::MapRef> paths{path, {3, 1}};
  const ir::Loop rows = make_loop({{"A", matrix_of(0, 1, 2, 1)}}, paths);
  const ir::Loop columns = make_loop({{"A", matrix_of(1, 0, 1, 2)}}, paths);
  for (const ir::Loop& loop : {rows, columns}) {
    EXPECT_TRUE(is_ragged(loop, loop.args[0]));
    EXPECT_EQ(packed_ragged(loop, testing::no_facts(loop), {}), (std::vector<std::size_t>{0}));
    const std::string dumped = ragged_body(loop);
    EXPECT_NE(dumped.find("decl float64 A_pack[384]\n"), std::string::npos) << dumped;
    EXPECT_NE(dumped.find(" from A_begin[n] "), std::string::npos) << dumped;
  }
  EXPECT_NE(ragged_body(rows).find(" rows long("), std::string::npos) << ragged_body(rows);
  EXPECT_NE(ragged_body(columns).find(" columns long("), std::string::npos);
}

TEST(Ragged, IsRefusedWhereRowsMustBeEqual) {
  const ir::Loop loop = by_faces();
  const std::vector<MapFacts> facts = testing::no_facts(loop);
  for (const Strategy strategy : {Strategy::owner, Strategy::scratch}) {
    const Verdict verdict = applicable(strategy, loop, testing::threads, facts, {});
    EXPECT_FALSE(verdict.ok);
    EXPECT_EQ(verdict.why, ragged_rows);
  }
  Options lanes;
  lanes.lanes = 4;
  EXPECT_EQ(why_not_on_lanes({loop, Strategy::block, testing::threads, facts, lanes}), ragged_rows);
}

}  // namespace
}  // namespace op2::lower
