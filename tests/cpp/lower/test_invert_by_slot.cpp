// SPDX-License-Identifier: BSD-3-Clause
#include "lower/invert_by_slot.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/group.hpp"
#include "lower/pairs.hpp"
#include "typed_loops.hpp"

namespace op2::lower {
namespace {

using testing::edge_loop;
using testing::global_reduce;
using testing::indirect;
using testing::make_loop;
using testing::on;
using testing::threads;
using testing::typed;

/// What the pass itself makes, before anything is on lanes.
kir::Module by_slot(const ir::Loop& elements, const Facts& facts = threads, int lanes = 4,
                    bool by_pairs = false) {
  const ir::Group loop = ir::inverted(elements);
  Options options = on(lanes);
  options.by_pairs = by_pairs;
  const std::vector<MapFacts> maps = testing::no_facts(loop);
  const Request request{loop, Strategy::owner, facts, maps, options};
  Builder builder(request, pack(loop, maps, facts, options));
  invert_by_slot(builder);
  return builder.module();
}

TEST(InvertBySlot, OneTargetALaneKeepsTheShareOfItsColumnsSlot) {
  const std::string text = kir::dump(by_slot(edge_loop()));
  EXPECT_EQ(text.substr(0, text.find("launch ")),
            "function wrap_res(const float64* x, float64* y, const int64* sizes, "
            "const int64* column_offset, const int32* column_slot, const int32* incidence, "
            "const int32* row_target, const int32* x_map_rows)\n"
            "  for serial group in [begin, end)\n"
            "    for vector side in [0, min(4, (sizes[0] - (group * 4))))\n"
            "      decl const int64 t = min(((group * 4) + side), (sizes[0] - 1))\n"
            "      decl const int64 target = row_target[t]\n"
            "      decl float64 y_own[1]\n"
            "      gather y_own = float64 y[target] x1 of 1 from 0\n"
            "      for serial k in [column_offset[group], column_offset[(group + 1)])\n"
            "        decl const int64 o = column_slot[k]\n"
            "        decl const int64 at = ((k * 4) + side)\n"
            "        decl float64 x_pack[2]\n"
            "        gather x_pack = float64 x[x_map_rows[at] x2] x1\n"
            "        decl float64 y_pack[2] = 0\n"
            "        kernel(x_pack, y_pack)\n"
            "        y_own += y_pack[o] x1 where incidence[(k * 4)] >= 0\n"
            "      scatter float64 y[target] x1 of 1 from 0 = y_own\n");
}

TEST(InvertBySlot, ThePlanIsAskedForColumnsAndTheMapsBehindThem) {
  const kir::Module module =
      by_slot(make_loop({indirect("x", Access::read, 0), indirect("y", Access::inc, 1),
                         indirect("z", Access::read, 0)},
                        {{3, 0}, {2, 1}}));
  EXPECT_EQ(module.items, kir::Items::groups);
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::ColumnsPlan{{{1}}, 4, {{0}, 4}}));
}

TEST(InvertBySlot, AnExtremumStartsAtTheTargetsValueInEveryRow) {
  const std::string text =
      kir::dump(by_slot(make_loop({indirect("m", Access::min, 0)}, testing::edges_to_nodes())));
  EXPECT_TRUE(testing::contains(text, "        copy 1 of m_pack[(1 + c)] = m_own[c]\n")) << text;
  EXPECT_TRUE(testing::contains(text, "m_own min= m_pack[o] x1 where incidence[(k * 4)] >= 0"))
      << text;
}

TEST(InvertBySlot, SharesOfOtherMapsAreLeftOut) {
  const std::string text = kir::dump(by_slot(make_loop(
      {indirect("a", Access::inc, 0, 2), indirect("b", Access::inc, 1)}, {{2, 0}, {1, 0}})));
  EXPECT_TRUE(testing::contains(text, "if (o < 2)\n          a_own += a_pack[(o * 2)] x2")) << text;
  EXPECT_TRUE(testing::contains(text, "b_own += b_pack[(o - 2)] x1")) << text;
}

TEST(InvertBySlot, AGlobalSumCountsTheColumnsOfTheFirstSlot) {
  const std::string text =
      kir::dump(by_slot(make_loop({indirect("y", Access::inc, 0), global_reduce("s", Access::inc),
                                   global_reduce("m", Access::max)},
                                  testing::edges_to_nodes())));
  EXPECT_TRUE(testing::contains(text, "  decl float64x4 s_sum[1] = 0\n  for serial group")) << text;
  EXPECT_TRUE(testing::contains(text, "if (o == 0)\n          s_sum += s_pack[0] x1 where"))
      << text;
  EXPECT_TRUE(testing::contains(text, "        m max= lanes of m_pack x1\n")) << text;
  EXPECT_TRUE(testing::contains(text, "  s += lanes of s_sum x1\n")) << text;
}

TEST(InvertBySlot, ThreadsOfAGridTakeRunsOfGroups) {
  constexpr Facts processor =
      Facts{.lanes = Lanes::grid, .atomics = true}.on(/*is_processor=*/true, /*has_float64=*/true);
  const std::string text = kir::dump(by_slot(edge_loop(), processor, 8));
  EXPECT_TRUE(testing::contains(text,
                                "for grid k in [begin, end) by 8\n"
                                "    for serial group in [k, min((k + 8), end))\n"))
      << text;
}

TEST(InvertBySlot, RowsOfMatricesAreAddedToBySidesWithAnIncidence) {
  const ir::MatArg mat{DType::float64, 1, 1, Access::inc, 0, 0, false, false, testing::own_data};
  const std::string text = kir::dump(by_slot(make_loop({{"A", mat}}, testing::edges_to_nodes())));
  EXPECT_TRUE(testing::contains(text,
                                "        if (-1 < entry)\n"
                                "          decl float64* A_row = &A[A_row_start[target]]\n"
                                "          for serial column in [0, 2)\n"
                                "            A_row[A_position[((n * 4) + ((o * 2) + column))]] += "
                                "A_pack[((o * 2) + column)]\n"))
      << text;
  EXPECT_TRUE(
      testing::contains(text, "decl const int64 n = select((entry < 0), (-1 - entry), entry)"))
      << text;
}

/// Edges between cells, which read their nodes.
ir::Loop face_loop(testing::NamedArg extra) {
  std::vector<ir::MapRef> maps = testing::edges_to_nodes();
  maps.push_back(maps.front());
  return make_loop({indirect("x", Access::read, 1), indirect("q", Access::read, 0, 2),
                    indirect("r", Access::inc, 0), std::move(extra)},
                   std::move(maps));
}

TEST(InvertBySlot, PairsLoadTheTargetsOwnRowsOnce) {
  const kir::Module module = by_slot(face_loop(testing::global_read("g")), threads, 4, true);
  const abi::ColumnsPlan plan{
      .inversion = {{0}, true}, .lanes = 4, .composed = {{1}, 4}, .are_pairs = true};
  EXPECT_EQ(module.plan, kir::PlanSpec(plan));
  const std::string text = kir::dump(module);
  EXPECT_TRUE(testing::contains(text,
                                "    for vector side in [0, 4)\n"
                                "      decl const int64 t = ((group * 4) + side)\n"
                                "      decl const int64 target = t\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "      gather q_pack_own = float64 q[target] x2")) << text;
  EXPECT_TRUE(testing::contains(text,
                                "        decl const int64 code = neighbour[at]\n"
                                "        decl const int64 across = (code / 4)\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "gather x_pack = float64 x[x_map_rows[at] x2]")) << text;
  const std::string codes = " by slot neighbour[(((group * sizes[1]) + k) * 4)]\n";
  EXPECT_TRUE(testing::contains(text, "q_pack[0] = q_pack_own[0] or q_pack_other[0] x2" + codes))
      << text;
  EXPECT_TRUE(testing::contains(text, "q_pack[2] = q_pack_other[0] or q_pack_own[0] x2" + codes))
      << text;
  EXPECT_TRUE(testing::contains(text, "r_own[0] += r_pack[0] or r_pack[1] x1" + codes)) << text;
  EXPECT_TRUE(testing::contains(text, "  if (n_full < end)\n    for serial group")) << text;
}

TEST(InvertBySlot, ColumnsOfOneSlotPickNothing) {
  const kir::Module module = by_slot(face_loop(testing::global_read("g")), threads, 4, true);
  const std::string text = kir::dump(module);
  const std::size_t first = text.find("for serial k in [0, mixed)");
  const std::size_t both = text.find("for serial k in [mixed, second)");
  const std::size_t second = text.find("for serial k in [second, sizes[1])");
  const std::size_t end = text.find("scatter", second);
  ASSERT_TRUE(first < both && both < second && second < end) << text;
  const std::string of_first = text.substr(first, both - first);
  const std::string of_second = text.substr(second, end - second);
  EXPECT_FALSE(testing::contains(of_first + of_second, "by slot")) << text;
  EXPECT_TRUE(testing::contains(of_first, "q_pack[c] = q_pack_own[c]")) << of_first;
  EXPECT_TRUE(testing::contains(of_first, "r_own[c] += r_pack[c]")) << of_first;
  EXPECT_TRUE(testing::contains(of_second, "q_pack[(2 + c)] = q_pack_own[c]")) << of_second;
  EXPECT_TRUE(testing::contains(of_second, "r_own[c] += r_pack[(1 + c)]")) << of_second;
}

TEST(InvertBySlot, RowsOfCornersAreTakenFromTheTargets) {
  const std::vector<ir::MapRef> maps{{2, 0}, {2, 1}, {4, 1}};
  const ir::Alias nodes{0, 0};
  const ir::Alias gains{2, 2};
  const auto loop = [&maps](const std::string& name, const std::vector<testing::NamedArg>& args) {
    ir::Loop made =
        testing::make_loop_of(name, args, maps, [](int) { return testing::literal("1.0"); });
    made.set = 0;
    return typed(made);
  };
  ir::Group group = ir::fused({loop("flux", {indirect("x", Access::read, 1, 2, nodes),
                                             indirect("r", Access::inc, 0, 2, gains)}),
                               loop("step", {indirect("x", Access::read, 2, 2, nodes),
                                             testing::direct("r", Access::rw, 2, gains)})});
  group.members.front().visit = ir::Visit::incidences;
  Options options = on(4);
  options.by_pairs = true;
  options.corners = {{1, 2}};
  const std::vector<MapFacts> facts = testing::no_facts(group);
  const Request request{group, Strategy::owner, threads, facts, options};
  Builder builder(request, pack(group, facts, threads, options));
  invert_by_slot(builder);
  EXPECT_EQ(std::get<abi::ColumnsPlan>(builder.module().plan).corners, options.corners);
  const std::string text = kir::dump(builder.module());
  const std::size_t own = text.find("gather x_pack_1 = float64 x[x_map_1[target] x4]");
  const std::size_t columns = text.find("for serial k in [0, mixed)");
  ASSERT_TRUE(own < columns && columns < text.size()) << text;
  EXPECT_TRUE(testing::contains(text, "if ((corner_code % 2) == 1)")) << text;
  EXPECT_TRUE(testing::contains(text, "x_pack[c] = x_pack_1[((((corner_code / 2) % 4) * 2) + c)]"))
      << text;
  EXPECT_TRUE(
      testing::contains(text, "x_pack[(2 + c)] = x_pack_1[((((corner_code / 8) % 4) * 2) + c)]"))
      << text;
}

TEST(InvertBySlot, PairsNeedElementsWithoutValuesOfTheirOwn) {
  const auto is_possible = [](testing::NamedArg extra, const Facts& facts = threads) {
    const ir::Group group = ir::inverted(face_loop(std::move(extra)));
    std::vector<MapFacts> maps = testing::no_facts(group);
    for (MapFacts& map : maps) map.has_negative = false;
    return visits_pairs_on_lanes({group, Strategy::owner, facts, maps, on(4)});
  };
  EXPECT_TRUE(is_possible(testing::global_read("g")));
  EXPECT_FALSE(is_possible(testing::direct("w", Access::read)));
  EXPECT_FALSE(is_possible(testing::global_reduce("s", Access::inc)));
  EXPECT_FALSE(is_possible(indirect("m", Access::min, 0)));
  EXPECT_FALSE(is_possible(testing::global_read("g"), testing::grid));
}

TEST(InvertBySlot, HeavyKernelsNeedFullerColumns) {
  EXPECT_DOUBLE_EQ(least_fill(typed(edge_loop()), {}), 0.75);
  ir::Loop heavy = typed(edge_loop());
  auto kernel = std::make_shared<kernel::Kernel>(*heavy.members[0].kernel);
  kernel::Body& body = kernel->body->functions.front().body;
  const kernel::Body once = body;
  for (int i = 0; i < 40; ++i) body.insert(body.end(), once.begin(), once.end());
  heavy.members[0].kernel = std::move(kernel);
  EXPECT_DOUBLE_EQ(least_fill(heavy, {}), 0.95);
}

}  // namespace
}  // namespace op2::lower
