// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loops.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

using testing::edge_loop;
using testing::indirect;
using testing::lowered;
using testing::make_loop;
using testing::one_lane;
using testing::strategy_dump;

TEST(SumFromScratch, ComputesOnceAndThenSumsTargetByTarget) {
  EXPECT_EQ(strategy_dump(edge_loop(), Strategy::scratch, one_lane),
            "function wrap_res(const float64* x, const int32* x_map, float64* y_scratch)\n"
            "  for serial n in [begin, end)\n"
            "    decl float64 x_pack[2]\n"
            "    gather x_pack = float64 x[x_map[n] x2] x1\n"
            "    decl float64 y_pack[2] = 0\n"
            "    kernel(x_pack, y_pack)\n"
            "    copy 2 of y_scratch[((n * 2) + c)] = y_pack[c]\n"
            "function sum_res(float64* y, const int64* incidence_offset, const int32* incidence, "
            "const int32* touched, const float64* y_scratch)\n"
            "  for serial t in [begin, end)\n"
            "    decl const int64 target = select(touched, touched[t], t)\n"
            "    decl float64 y_own[1]\n"
            "    copy 1 of y_own[c] = y[(target + c)]\n"
            "    for serial k in [incidence_offset[t], incidence_offset[(t + 1)])\n"
            "      decl const int64 n = (incidence[k] / 2)\n"
            "      decl const int64 o = (incidence[k] - (n * 2))\n"
            "      copy 1 of y_own[c] += y_scratch[(((n * 2) + o) + c)]\n"
            "    copy 1 of y[(target + c)] = y_own[c]\n"
            "launch op2_launch_res(const float64* x, float64* y, const int32* x_map, "
            "const int64* sizes, const int64* incidence_offset, const int32* incidence, "
            "const int32* touched)\n"
            "  decl float64* y_scratch = @scratch[0]\n"
            "  call wrap_res(begin, end, x, x_map, y_scratch)\n"
            "  call sum_res(0, sizes[0], y, incidence_offset, incidence, touched, y_scratch)\n");
}

TEST(SumFromScratch, KeepsARecordAnElement) {
  const kir::Module module = lowered(
      make_loop({indirect("y", Access::inc, 0, 4), indirect("z", Access::max, 0, 1)}, {{2, 0}}),
      Strategy::scratch);
  EXPECT_EQ(module.scratch, (kir::ScratchSpec{0, 8 * 8 + 16, 0}));
  EXPECT_EQ(module.items, kir::Items::elements);
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::InversePlan{{{0}}}));
}

TEST(SumFromScratch, DirectWritesStayWithTheComputation) {
  const std::string text =
      strategy_dump(make_loop({indirect("y", Access::inc, 0), testing::direct("z", Access::rw)},
                              testing::edges_to_nodes()),
                    Strategy::scratch);
  const std::string sum = text.substr(text.find("function sum_res"));
  EXPECT_EQ(sum.substr(0, sum.find('\n')).find(" z"), std::string::npos) << sum;
  EXPECT_NE(text.find("kernel(y_pack, &z[n])\n"), std::string::npos) << text;
}

TEST(SumFromScratch, TheTwoStepsAreTwoTeams) {
  const kir::Module module = lowered(edge_loop(), Strategy::scratch);
  EXPECT_EQ(testing::count<kir::Region>(module.launch), 2);
}

}  // namespace
}  // namespace op2::lower
