// SPDX-License-Identifier: BSD-3-Clause
#include "lower/matrix.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loops.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

using testing::count;
using testing::grid;
using testing::lowered;
using testing::make_loop;
using testing::NamedArg;
using testing::no_facts;
using testing::one_lane;
using testing::strategy_dump;
using testing::threads;

ir::MatArg matrix(Access access, int row_dim = 1, int col_dim = 1) {
  return {DType::float64, row_dim, col_dim, access, 0, 0, false, false, testing::own_data};
}

ir::Loop assembly(const ir::MatArg& mat, int arity = 2) {
  return make_loop({{"A", mat}}, {{arity, 0}});
}

std::string expanded_insert(const ir::Loop& loop, const Options& options = {}) {
  return kir::dump(lowered(loop, Strategy::direct, one_lane, Stage::narrow, options));
}

TEST(Matrix, IsInsertedAtKnownPlaces) {
  EXPECT_EQ(strategy_dump(assembly(matrix(Access::inc)), Strategy::direct, one_lane),
            "function wrap_res(float64* A, const int32* A_row_map, const int32* A_col_map, "
            "const int64* A_row_start, const uint8* A_position)\n"
            "  for serial n in [begin, end)\n"
            "    decl float64 A_pack[4] = 0\n"
            "    kernel(A_pack)\n"
            "    insert float64 A[A_row_start[A_row_map[n]] + A_position] x2x2 of 1x1 += A_pack\n"
            "launch op2_launch_res(float64* A, const int32* A_row_map, const int64* A_row_start, "
            "const uint8* A_position)\n"
            "  call wrap_res(begin, end, A, A_row_map, A_row_map, A_row_start, A_position)\n");
}

TEST(Matrix, SmallTensorsAreWrittenOut) {
  const std::string text = expanded_insert(assembly(matrix(Access::inc)));
  EXPECT_NE(text.find("    decl float64* A_pack_to0 = &A[A_row_start[A_row_map[(n * 2)]]]\n"
                      "    A_pack_to0[A_position[(n * 4)]] += A_pack[0]\n"
                      "    A_pack_to0[A_position[((n * 4) + 1)]] += A_pack[1]\n"
                      "    decl float64* A_pack_to1 = &A[A_row_start[A_row_map[((n * 2) + 1)]]]\n"),
            std::string::npos)
      << text;
}

TEST(Matrix, LargeTensorsAreLoops) {
  const std::string text = expanded_insert(assembly(matrix(Access::write), 10));
  EXPECT_NE(text.find("    for serial i in [0, 10)\n"
                      "      decl float64* A_pack_to = &A[A_row_start[A_row_map[((n * 10) + i)]]]\n"
                      "      for serial column in [0, 10)\n"
                      "        A_pack_to[A_position[((n * 100) + ((i * 10) + column))]] = "
                      "A_pack[((i * 10) + column)]\n"),
            std::string::npos)
      << text;
}

TEST(Matrix, BlocksKeepTheirScalarsTogether) {
  const std::string text = expanded_insert(assembly(matrix(Access::inc, 2, 3), 4));
  EXPECT_NE(
      text.find("A_pack_to[((long(A_position[((n * 16) + ((i * 4) + column))]) * 6) + "
                "((part * 3) + c))] += A_pack[((((i * 2) + part) * 12) + ((column * 3) + c))]"),
      std::string::npos)
      << text;
}

TEST(Matrix, DroppedEntriesAreNotTouchedNorAreTheirRows) {
  ir::MatArg mat = matrix(Access::inc);
  mat.masked = true;
  const std::string text = expanded_insert(assembly(mat));
  EXPECT_NE(text.find("    if (A_position[(n * 4)] < 255)\n"
                      "      A[(A_row_start[A_row_map[(n * 2)]] + A_position[(n * 4)])] += "
                      "A_pack[0]\n"),
            std::string::npos)
      << text;
  Options wide;
  wide.widths.position_bytes = 4;
  EXPECT_NE(expanded_insert(assembly(mat), wide).find("< 2147483647)"), std::string::npos);
  EXPECT_EQ(first_dropped(2), 65535);
}

TEST(Matrix, ScalarPositionsOfBlocks) {
  ir::MatArg mat = matrix(Access::inc, 2, 2);
  mat.masked = mat.unrolled = true;
  const std::string text = expanded_insert(assembly(mat, 1));
  EXPECT_NE(text.find("if (A_position[((n * 4) + 3)] < 255)"), std::string::npos) << text;
}

TEST(Matrix, RacesAreThoseOfItsRows) {
  const ir::Loop loop = assembly(matrix(Access::inc));
  const Races races = find_races(loop, no_facts(loop));
  EXPECT_EQ(races.conflicts, (std::vector<int>{0}));
  EXPECT_EQ(races.reductions, (std::vector<std::size_t>{0}));
  EXPECT_TRUE(find_races(loop, {{.injective = true}}).none());
  for (const Strategy strategy :
       {Strategy::owner, Strategy::scratch, Strategy::atomic, Strategy::block, Strategy::colour}) {
    EXPECT_TRUE(applicable(strategy, loop, threads, no_facts(loop), {}).ok) << name_of(strategy);
  }
  const ir::Loop set = assembly(matrix(Access::write));
  EXPECT_EQ(find_races(set, no_facts(set)).overwrites, (std::vector<std::size_t>{0}));
  for (const Strategy strategy : {Strategy::owner, Strategy::scratch, Strategy::atomic}) {
    EXPECT_FALSE(applicable(strategy, set, threads, no_facts(set), {}).ok) << name_of(strategy);
  }
}

TEST(Matrix, AtomicInsertsAreAtomicsScalarByScalar) {
  const kir::Module module = lowered(assembly(matrix(Access::inc)), Strategy::atomic);
  EXPECT_EQ(count<kir::Atomic>(module.functions.front().body), 4);
}

TEST(Matrix, RowsThatAreListedAreReachedOneByOne) {
  ir::Loop loop = assembly(matrix(Access::inc, 1, 5));
  loop.maps[0].width = 3;
  loop.maps[0].rows = {{2, 0, 0, 0}, {0, 0, 0, 0}};
  const std::string text = expanded_insert(loop);
  EXPECT_NE(text.find("A_row_start[long(A_row_map[((n * 3) + 2)])]"), std::string::npos) << text;
  EXPECT_NE(text.find("A_row_start[long(A_row_map[(n * 3)])]"), std::string::npos) << text;
}

TEST(Matrix, CellsOfColumnsHavePositionsOfTheirOwn) {
  ir::Loop loop = assembly(matrix(Access::inc));
  loop.iteration.layers = ir::Layers::constant;
  loop.maps[0].rows = {{0, 1, 0, 0}, {1, 1, 0, 0}};
  const std::string text = expanded_insert(loop);
  EXPECT_NE(text.find("A_position[((position * 4) + 3)]"), std::string::npos) << text;
  EXPECT_NE(text.find("level"), std::string::npos) << text;
}

TEST(Matrix, BlocksOfOneTensorAreTakenApartAfterTheCall) {
  ir::MatArg right = matrix(Access::inc);
  right.col_map = 1;
  ir::Loop loop = make_loop({{"A", matrix(Access::inc)}, {"B", right}}, {{2, 0}, {1, 1}});
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  kernel->body->functions.back().parameters.pop_back();  // both are one
  loop.members[0].kernel = kernel;
  loop.args[0].place = {0, 0, 2, 3};
  loop.args[1].parameter = 0;
  loop.args[1].place = {0, 2, 1, 3};
  const std::string text = strategy_dump(loop, Strategy::direct, one_lane);
  EXPECT_NE(text.find("decl float64 A_joined[6] = 0"), std::string::npos) << text;
  EXPECT_NE(text.find("kernel(A_joined)"), std::string::npos) << text;
  EXPECT_NE(text.find("A_0_pack[(2 + c)] = A_joined[(3 + c)]"), std::string::npos) << text;
  EXPECT_NE(text.find("A_1_pack[(1 + c)] = A_joined[(5 + c)]"), std::string::npos) << text;
}

TEST(Matrix, GridsTakeEveryStrategy) {
  const ir::Loop loop = assembly(matrix(Access::inc), 3);
  for (const Strategy strategy :
       {Strategy::atomic, Strategy::owner, Strategy::scratch, Strategy::block, Strategy::colour}) {
    EXPECT_TRUE(applicable(strategy, loop, grid, {MapFacts{}}, {}).ok);
  }
  EXPECT_TRUE(std::holds_alternative<abi::EntriesPlan>(lowered(loop, Strategy::block, grid).plan));
  EXPECT_EQ(choose(loop, grid, {MapFacts{}}, {}).strategy, Strategy::block);
  EXPECT_EQ(choose(loop, grid, {MapFacts{}}, {.semantics = {.deterministic = true}}).strategy,
            Strategy::colour);
  const kir::Module module = lowered(loop, Strategy::atomic, grid);
  EXPECT_EQ(count<kir::Atomic>(module.functions.front().body), 9);
  Options options;
  options.tuning.listed_bytes = 0;
  EXPECT_EQ(choose(loop, grid, {MapFacts{}}, options).strategy, Strategy::atomic);
  // nothing is kept in shared memory: elements of a block take turns
  const kir::Module block = lowered(loop, Strategy::block, grid, Stage::narrow, options);
  EXPECT_EQ(kir::dump(block).find("shared"), std::string::npos);
}

TEST(Matrix, AnOwnerAddsItsRowOnly) {
  const std::string text = strategy_dump(assembly(matrix(Access::inc)), Strategy::owner, one_lane);
  EXPECT_NE(text.find("    decl const int64 target = select(touched, touched[t], t)\n"
                      "    decl float64* A_row = &A[A_row_start[target]]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("      kernel(A_pack)\n"
                      "      for serial column in [0, 2)\n"
                      "        A_row[A_position[((n * 4) + ((o * 2) + column))]] += "
                      "A_pack[((o * 2) + column)]\n"),
            std::string::npos)
      << text;
}

TEST(Matrix, ScratchKeepsTensorsAndAddsRowByRow) {
  const kir::Module module =
      lowered(assembly(matrix(Access::inc)), Strategy::scratch, one_lane, Stage::layout);
  const std::string text = kir::dump(module);
  EXPECT_EQ(module.scratch.per_item, 32);
  EXPECT_NE(text.find("    copy 4 of A_scratch[((n * 4) + c)] = A_pack[c]\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("        A_row[A_position[((n * 4) + ((o * 2) + column))]] += "
                      "A_scratch[((n * 4) + ((o * 2) + column))]\n"),
            std::string::npos)
      << text;
}

TEST(Matrix, SharesItsIncidencesWithDatsOfTheSameMap) {
  const ir::Loop loop =
      make_loop({{"A", matrix(Access::inc)}, testing::indirect("b", Access::inc, 0)}, {{2, 0}});
  const kir::Module module = lowered(loop, Strategy::owner);
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::InversePlan{{{0}}}));
  EXPECT_EQ(n_slots(loop), 2);
  ir::MatArg other = matrix(Access::inc);
  other.row_map = 1;
  const ir::Loop both =
      make_loop({{"A", other}, testing::indirect("b", Access::inc, 0)}, {{2, 0}, {3, 0}});
  const std::string text = strategy_dump(both, Strategy::owner);
  EXPECT_EQ(n_slots(both), 5);
  EXPECT_NE(text.find("if (o < 3)\n"), std::string::npos) << text;
}

TEST(Matrix, ConventionOneNamesBothMapsUsedOrNot) {
  ir::MatArg mat = matrix(Access::inc);
  mat.col_map = 1;
  const ir::Loop loop = make_loop({{"A", mat}}, {{2, 0}, {3, 1}});
  const auto parameters = [&loop](int convention) {
    Options options;
    options.semantics.convention = convention;
    return testing::names_of(
        lowered(loop, Strategy::direct, one_lane, Stage::narrow, options).functions[0].parameters);
  };
  EXPECT_EQ(parameters(1),
            (std::vector<std::string>{"A", "A_row_map", "A_col_map", "A_row_start", "A_position"}));
  EXPECT_EQ(parameters(2),
            (std::vector<std::string>{"A", "A_row_map", "A_row_start", "A_position"}));
}

}  // namespace
}  // namespace op2::lower
