// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loops.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

using testing::edge_loop;
using testing::global_reduce;
using testing::indirect;
using testing::lowered;
using testing::make_loop;
using testing::one_lane;
using testing::strategy_dump;

std::string wrapper_of(const ir::Loop& loop) {
  const std::string text = strategy_dump(loop, Strategy::owner);
  return text.substr(0, text.find("launch "));
}

TEST(Invert, EachTargetRecomputesItsElementsAndKeepsItsShare) {
  EXPECT_EQ(strategy_dump(edge_loop(), Strategy::owner, one_lane),
            "function wrap_res(const float64* x, const int32* x_map, float64* y, "
            "const int64* incidence_offset, const int32* incidence, const int32* touched)\n"
            "  for serial t in [begin, end)\n"
            "    decl const int64 target = select(touched, touched[t], t)\n"
            "    decl float64 y_own[1]\n"
            "    copy 1 of y_own[c] = y[(target + c)]\n"
            "    for serial k in [incidence_offset[t], incidence_offset[(t + 1)])\n"
            "      decl const int64 n = (incidence[k] / 2)\n"
            "      decl const int64 o = (incidence[k] - (n * 2))\n"
            "      decl float64 x_pack[2]\n"
            "      gather x_pack = float64 x[x_map[n] x2] x1\n"
            "      decl float64 y_pack[2] = 0\n"
            "      kernel(x_pack, y_pack)\n"
            "      copy 1 of y_own[c] += select((o == 0), y_pack[c], y_pack[(1 + c)])\n"
            "    copy 1 of y[(target + c)] = y_own[c]\n"
            "launch op2_launch_res(const float64* x, float64* y, const int32* x_map, "
            "const int64* incidence_offset, const int32* incidence, const int32* touched)\n"
            "  call wrap_res(begin, end, x, x_map, y, incidence_offset, incidence, touched)\n");
}

TEST(Invert, ItsItemsAreTargets) {
  const kir::Module module = lowered(edge_loop(), Strategy::owner);
  EXPECT_EQ(module.items, kir::Items::targets);
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::InversePlan{{{0}}}));
  EXPECT_EQ(module.scratch, kir::ScratchSpec{});
}

TEST(Invert, NothingIsScattered) {
  const kir::Module module = lowered(edge_loop(), Strategy::owner, testing::threads, Stage::layout);
  EXPECT_EQ(testing::count<kir::Scatter>(module.functions.front().body), 0);
}

TEST(Invert, AnExtremumStartsAtTheOwnersValueInEveryRow) {
  const std::string wrapper =
      wrapper_of(make_loop({indirect("m", Access::min, 0)}, testing::edges_to_nodes()));
  EXPECT_EQ(wrapper.find("gather"), std::string::npos) << wrapper;
  EXPECT_NE(wrapper.find("      for serial i in [0, 2)\n"
                         "        copy 1 of m_pack[(i + c)] = m_own[c]\n"),
            std::string::npos)
      << wrapper;
  EXPECT_NE(wrapper.find("m_own[c] min= select("), std::string::npos) << wrapper;
}

TEST(Invert, AGlobalSumCountsEveryElementOnce) {
  const std::string wrapper =
      wrapper_of(make_loop({indirect("y", Access::inc, 0), global_reduce("s", Access::inc),
                            global_reduce("m", Access::max)},
                           testing::edges_to_nodes()));
  EXPECT_NE(wrapper.find("      copy 1 of m[c] max= m_pack[c]\n"
                         "      if (o == 0)\n"
                         "        copy 1 of s[c] += s_pack[c]\n"),
            std::string::npos)
      << wrapper;
}

}  // namespace
}  // namespace op2::lower
