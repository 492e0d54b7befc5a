// SPDX-License-Identifier: BSD-3-Clause
/// Several loops in one function: see ir/group.hpp and pack().
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../cg/unit_text.hpp"
#include "../jit/support.hpp"
#include "base/abi.h"
#include "ir/group.hpp"
#include "lower/lower.hpp"
#include "lower/pack.hpp"
#include "typed_loops.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::indirect;
using testing::NamedArg;
using testing::names_of;

constexpr ir::Alias q{0, 0};
constexpr ir::Alias work{1, 1};
constexpr ir::Alias r{2, 2};

/// Component c of every argument that may be written gets @p value; through Map 0 to Set 1.
ir::Loop loop_named(const std::string& name, const std::vector<NamedArg>& args,
                    const kernel::Expr& value) {
  ir::Loop made =
      testing::make_loop_of(name, args, {{2, 1}}, [&value](int) { return kernel::Expr(value); });
  made.set = 0;
  return made;
}

/// `work = 2 x[0]`, then `r += y[0]`, both for the same items: `y` is `work`.
ir::Group double_and_add() {
  const kernel::Expr two{kernel::Literal{"2"}, {}, {}, testing::some_line};
  const kernel::Expr doubled{kernel::Binary{kernel::BinaryOp::multiply},
                             {two, testing::entry_of("x", 0)},
                             {},
                             testing::some_line};
  return ir::fused(
      {loop_named("twice", {direct("x", Access::read, 1, q), direct("y", Access::write, 1, work)},
                  doubled),
       loop_named("add", {direct("y", Access::read, 1, work), direct("r", Access::inc, 1, r)},
                  testing::entry_of("y", 0))});
}

/// Nobody looks at `work` afterwards.
ir::Group with_temporary() {
  ir::Group group = double_and_add();
  for (ir::Value& value : group.values) {
    if (value.alias == work) value.stored = false;
  }
  return group;
}

TEST(Groups, OneFunctionCallsBothKernels) {
  const kir::Module module =
      testing::lowered(double_and_add(), Strategy::direct, testing::one_lane, Stage::layout);
  ASSERT_EQ(module.functions.size(), 1U);
  EXPECT_EQ(module.name, "twice_add");
  EXPECT_EQ(module.kernels.size(), 2U);
  EXPECT_EQ(kir::dump(module),
            "function wrap_twice_add(const float64* x, float64* y, float64* r)\n"
            "  for serial n in [begin, end)\n"
            "    decl float64 y_pack[1]\n"
            "    kernel(&x[n], y_pack)\n"
            "    kernel1(y_pack, &r[n])\n"
            "    scatter float64 y[n] x1 = y_pack\n"
            "launch op2_launch_twice_add(const float64* x, float64* y, float64* r)\n"
            "  call wrap_twice_add(begin, end, x, y, r)\n");
}

TEST(Groups, WhatNobodyLooksAtIsNeverInMemory) {
  const kir::Module module =
      testing::lowered(with_temporary(), Strategy::direct, testing::threads, Stage::layout);
  EXPECT_EQ(names_of(module.functions.front().parameters), (std::vector<std::string>{"x", "r"}));
  EXPECT_EQ(testing::count<kir::Scatter>(module.functions.front().body), 0);
  EXPECT_EQ(testing::count<kir::Gather>(module.functions.front().body), 0);
}

TEST(Groups, OnAGridTheOtherRowsArePackedToo) {
  const kir::Module module =
      testing::lowered(with_temporary(), Strategy::direct, testing::grid, Stage::layout);
  const kir::Block& body = module.functions.front().body;
  EXPECT_EQ(testing::count<kir::CallUser>(body), 2);
  EXPECT_EQ(testing::count<kir::Gather>(body), 2);   // x, r
  EXPECT_EQ(testing::count<kir::Scatter>(body), 1);  // r
}

TEST(Groups, AValueThatOnlySomeItemsGetIsLoadedFirst) {
  ir::Group group = double_and_add();
  auto& written = std::get<ir::DirectDat>(group.args[1]);
  written.dim = 2;  // the kernel writes one component
  std::get<ir::DirectDat>(group.args[2]).dim = 2;
  const kir::Module module =
      testing::lowered(group, Strategy::direct, testing::one_lane, Stage::layout);
  EXPECT_EQ(testing::count<kir::Gather>(module.functions.front().body), 1);
}

TEST(Groups, TheLastMemberThatWritesStores) {
  const kernel::Expr one = testing::literal("1.0");
  const ir::Group group = ir::fused(
      {loop_named("a", {direct("y", Access::write, 1, work)}, one),
       loop_named("b", {direct("y", Access::rw, 1, work)}, one),
       loop_named("c", {direct("y", Access::read, 1, work), direct("z", Access::write, 1, r)},
                  one)});
  const std::vector<MapFacts> maps = testing::no_facts(group);
  const PackedLoop packed = pack(group, maps, testing::one_lane, {});
  EXPECT_TRUE(packed.args[0].store.empty());
  EXPECT_EQ(packed.args[1].store.size(), 1U);
  EXPECT_TRUE(packed.args[2].store.empty());
  EXPECT_EQ(packed.args[2].pack, packed.args[0].pack);
  EXPECT_TRUE(packed.args[3].pack.empty());  // its own row, in place
}

TEST(Groups, MembersThatOnlyReadOneDatReadItInPlace) {
  const kernel::Expr one = testing::literal("1.0");
  const ir::Group group = ir::fused(
      {loop_named("a", {direct("x", Access::read, 1, q), direct("y", Access::write, 1, work)}, one),
       loop_named("b", {direct("x", Access::read, 1, q), direct("z", Access::write, 1, r)}, one)});
  const kir::Module module =
      testing::lowered(group, Strategy::direct, testing::one_lane, Stage::layout);
  EXPECT_EQ(testing::count<kir::Decl>(module.functions.front().body), 0);
  EXPECT_EQ(names_of(module.functions.front().parameters),
            (std::vector<std::string>{"x", "y", "z"}));
}

TEST(Groups, IncrementsOfAllMembersAreResolvedTogether) {
  const kernel::Expr one = testing::literal("1.0");
  const ir::Group group = ir::fused({loop_named("a", {indirect("y", Access::inc, 0, 1, r)}, one),
                                     loop_named("b", {indirect("y", Access::inc, 0, 1, r)}, one)});
  EXPECT_EQ(ir::why_not_fused(group), "");
  const Races races = find_races(group, testing::no_facts(group));
  EXPECT_EQ(races.conflicts, (std::vector<int>{0}));
  EXPECT_FALSE(races.overlaps);
  const kir::Module module =
      testing::lowered(group, Strategy::colour, testing::threads, Stage::layout);
  EXPECT_EQ(testing::count<kir::Scatter>(module.functions.front().body), 2);
}

/// Edges add 1 to both of their nodes; a node takes what it has got: `z = y`.
ir::Group sum_and_take() {
  const ir::Loop sum =
      loop_named("sum", {indirect("y", Access::inc, 0, 1, work)}, testing::literal("1.0"));
  ir::Loop take =
      loop_named("take", {direct("y", Access::read, 1, work), direct("z", Access::write, 1, r)},
                 testing::entry_of("y", 0));
  take.set = 1;
  return ir::fused({ir::inverted(sum), take});
}

TEST(Groups, AMemberVisitedByIncidencesHandsItsSumsOn) {
  const ir::Group group = sum_and_take();
  EXPECT_EQ(ir::why_not_fused(group), "");
  const kir::Module module =
      testing::lowered(group, Strategy::owner, testing::one_lane, Stage::layout);
  EXPECT_TRUE(abi::inversion_of(module.plan)->all_targets);
  const std::string text = kir::dump(module);
  EXPECT_EQ(text.substr(0, text.find("launch ")),
            "function wrap_sum_take(float64* y, float64* z, const int64* incidence_offset, "
            "const int32* incidence)\n"
            "  for serial t in [begin, end)\n"
            "    decl const int64 target = t\n"
            "    decl float64 y_own[1]\n"
            "    copy 1 of y_own[c] = y[(target + c)]\n"
            "    for serial k in [incidence_offset[t], incidence_offset[(t + 1)])\n"
            "      decl const int64 n = (incidence[k] / 2)\n"
            "      decl const int64 o = (incidence[k] - (n * 2))\n"
            "      decl float64 y_pack[2] = 0\n"
            "      kernel(y_pack)\n"
            "      copy 1 of y_own[c] += select((o == 0), y_pack[c], y_pack[(1 + c)])\n"
            "    kernel1(y_own, &z[target])\n"
            "    copy 1 of y[(target + c)] = y_own[c]\n");
}

/// Each loop with types, as the front end makes them.
ir::Group all_typed(ir::Group group) {
  for (ir::Member& member : group.members) {
    member.kernel = testing::typed(ir::loop_of(member.kernel, {}, {}, {})).members[0].kernel;
  }
  return group;
}

TEST(Groups, OnLanesWhatIsHandedOnStaysInVectors) {
  const std::string text = testing::strategy_dump(all_typed(with_temporary()), Strategy::direct,
                                                  testing::one_lane, testing::on(2));
  EXPECT_EQ(text.substr(0, text.find("launch ")),
            "function wrap_twice_add(const float64* x, float64* r)\n"
            "  for serial n in [begin, end) by 2\n"
            "    decl const int64 live = min(2, (end - n))\n"
            "    decl float64x2 x_pack[1]\n"
            "    x_pack[0] = lanes at x[n], live live lanes\n"
            "    decl float64x2 y_pack[1]\n"
            "    decl float64x2 r_pack[1]\n"
            "    r_pack[0] = lanes at r[n], live live lanes\n"
            "    kernel(x_pack, y_pack)\n"
            "    kernel1(y_pack, r_pack)\n"
            "    lanes at r[n] = r_pack[0], live live lanes\n");
}

TEST(Groups, OnLanesTargetsTakeTheSumsOfTheirColumns) {
  ir::Group group = sum_and_take();
  for (ir::Value& value : group.values) {
    value.stored = value.alias != work;
    value.is_zero = value.alias == work && value.version == 0;
  }
  const kir::Module module = testing::lowered(all_typed(group), Strategy::owner, testing::one_lane,
                                              Stage::lanes, testing::on(2));
  EXPECT_TRUE(abi::inversion_of(module.plan)->all_targets);
  const std::string text = kir::dump(module);
  EXPECT_EQ(text.substr(0, text.find("launch ")),
            "function wrap_sum_take(float64* z, const int64* sizes, const int64* column_offset, "
            "const int32* column_slot, const int32* incidence, const int32* row_target)\n"
            "  for serial group in [begin, end)\n"
            "    decl const int64 live = min(2, (sizes[0] - (group * 2)))\n"
            "    decl float64x2 y_own[1] = 0\n"
            "    for serial k in [column_offset[group], column_offset[(group + 1)])\n"
            "      decl const int64 o = column_slot[k]\n"
            "      decl float64x2 y_pack[2] = 0\n"
            "      kernel(y_pack)\n"
            "      y_own += y_pack[o] x1 where incidence[(k * 2)] >= 0\n"
            "    decl float64x2 z_pack[1]\n"
            "    kernel1(y_own, z_pack)\n"
            "    for serial lane in [0, 2)\n"
            "      if (lane < live)\n"
            "        decl const int64 t_lane = min(((group * 2) + lane), (sizes[0] - 1))\n"
            "        decl const int64 target_lane = row_target[t_lane]\n"
            "        z[target_lane] = z_pack[0][lane]\n");
}

TEST(Groups, OnLanesARefusalNamesTheKernel) {
  const kernel::Expr one = testing::literal("1.0");
  const ir::Group group =
      all_typed(ir::fused({loop_named("a", {direct("y", Access::write, 1, work)}, one),
                           loop_named("b", {indirect("z", Access::rw, 0, 1, r)}, one)}));
  const std::vector<MapFacts> maps = testing::no_facts(group);
  const Options options = testing::on(4);
  EXPECT_EQ(why_not_on_lanes({group, Strategy::direct, testing::one_lane, maps, options}),
            "kernel 'b': arg 0 is RW through a Map whose targets elements share; pass INC if the "
            "kernel adds");
}

TEST(Groups, OnAGridASumThatIsSeenStartsAtWhatWasThere) {
  const kir::Module module =
      testing::lowered(sum_and_take(), Strategy::owner, testing::grid, Stage::layout);
  const std::string text = kir::dump(module);
  EXPECT_NE(text.find("y_own[c] = y[(target + c)]"), std::string::npos) << text;
  EXPECT_NE(text.find("y[(target + c)] = y_own[c]"), std::string::npos) << text;
}

/// Compiled with warnings as errors.
class GroupsThatRun : public ::testing::Test {
 protected:
  op2_launch_v1 launch_of(const kir::Module& module) {
    const std::string text =
        cg::testing::unit_text(cg::print_source(module, cg::c_dialect(), false, ""));
    const std::vector<std::string> flags{"-Wall", "-Wextra", "-Werror", "-O1"};
    loaded_ = service_.load(text, jit::Language::c, flags, "");
    return reinterpret_cast<op2_launch_v1>(loaded_.library->symbol(module.launch_name));
  }

  const jit::testing::TemporaryDirectory directory_;
  jit::Service service_{jit::testing::options_in(directory_.path())};
  jit::Loaded loaded_;
};

TEST_F(GroupsThatRun, TargetsTakeTheSumsOfTheirIncidences) {
  ir::Group group = sum_and_take();
  for (ir::Value& value : group.values) value.stored = value.alias != work;
  const kir::Module module = testing::lowered(group, Strategy::owner, testing::one_lane);
  ASSERT_EQ(names_of(module.argv), (std::vector<std::string>{"y", "z", "y_map", "incidence_offset",
                                                             "incidence", "touched"}));
  std::vector<double> y{10.0, 20.0, 30.0};
  std::vector<double> z(3);
  std::vector<std::int64_t> offset{0, 1, 3, 4};  // edges (0, 1) and (1, 2)
  std::vector<std::int32_t> incidence{0, 1, 2, 3};
  void* const argv[] = {y.data(), z.data(), nullptr, offset.data(), incidence.data(), nullptr};
  const op2_context_v1 context{};
  EXPECT_EQ(launch_of(module)(&context, 0, 3, argv, 6), 0);
  EXPECT_EQ(z, (std::vector<double>{11.0, 22.0, 31.0}));
  EXPECT_EQ(y, (std::vector<double>{10.0, 20.0, 30.0}));  // nobody looks at the sums
}

TEST_F(GroupsThatRun, ItemsHandOnWhatNobodyElseSees) {
  const kir::Module module =
      testing::lowered(with_temporary(), Strategy::direct, testing::one_lane);
  const std::string text =
      cg::testing::unit_text(cg::print_source(module, cg::c_dialect(), false, ""));
  EXPECT_NE(
      text.find("    double y_pack[1];\n    twice(x + n, y_pack);\n    add(y_pack, r + n);\n"),
      std::string::npos)
      << text;
  std::vector<double> x{1.0, 2.0, 3.0};
  std::vector<double> y{-1.0, -1.0, -1.0};
  std::vector<double> sum{10.0, 20.0, 30.0};
  ASSERT_EQ(names_of(module.argv), (std::vector<std::string>{"x", "y", "r"}));
  void* const argv[] = {x.data(), y.data(), sum.data()};
  const op2_context_v1 context{};
  EXPECT_EQ(launch_of(module)(&context, 0, 3, argv, 3), 0);
  EXPECT_EQ(sum, (std::vector<double>{12.0, 24.0, 36.0}));
  EXPECT_EQ(y, (std::vector<double>{-1.0, -1.0, -1.0}));  // only a local variable
}

}  // namespace
}  // namespace op2::lower
