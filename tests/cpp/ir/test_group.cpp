// SPDX-License-Identifier: BSD-3-Clause
#include "ir/group.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../lower/loops.hpp"
#include "base/error.hpp"
#include "ir/signature.hpp"

namespace op2::ir {
namespace {

using lower::testing::direct;
using lower::testing::global_read;
using lower::testing::global_reduce;
using lower::testing::indirect;
using lower::testing::NamedArg;

constexpr Alias q{0, 0};
constexpr Alias r{1, 1};
constexpr Alias other_r{2, 1};  // over the same memory
constexpr Alias g{3, 3};

/// A loop of the numbering that all of these share: one Map from the visited Set 0 to Set 1.
Loop loop_named(const std::string& name, const std::vector<NamedArg>& args) {
  Loop made = lower::testing::make_loop_of(name, args, {{2, 1}},
                                           [](int) { return lower::testing::literal("1.0"); });
  made.set = 0;
  return made;
}

std::string failure_of(const std::vector<NamedArg>& first, const std::vector<NamedArg>& second) {
  return why_not_fused(fused({loop_named("one", first), loop_named("two", second)}));
}

TEST(Group, AParLoopIsAGroupOfOne) {
  const Loop one =
      loop_named("one", {direct("x", Access::read, 1, q), direct("y", Access::write, 1, r)});
  EXPECT_EQ(name_of(one), "one");
  EXPECT_EQ(member_of(one, 1), 0U);
  EXPECT_EQ(parameter_of(one, 1), 1);
  EXPECT_EQ(&kernel_of(one), &kernel_of(one, 0));
  verify(one);
}

TEST(Group, ArgumentsAreOfTheirMembersParameters) {
  const Group group = fused(
      {loop_named("one", {direct("x", Access::read, 1, q)}),
       loop_named("two", {direct("y", Access::read, 1, r), direct("z", Access::write, 1, q)})});
  verify(group);
  EXPECT_EQ(name_of(group), "one_two");
  EXPECT_EQ(member_of(group, 0), 0U);
  EXPECT_EQ(member_of(group, 1), 1U);
  EXPECT_EQ(member_of(group, 2), 1U);
  EXPECT_EQ(parameter_of(group, 1), 0);
  EXPECT_EQ(parameter_of(group, 2), 1);
  EXPECT_EQ(kernel_of(group, 2).name, "two");
  EXPECT_THROW((void)kernel_of(group), InternalError);
}

TEST(Group, AMemberAloneIsTheLoopThatItWas) {
  Loop one = loop_named("one", {direct("x", Access::read, 1, q)});
  one.set = 1;
  const Loop two =
      loop_named("two", {indirect("y", Access::inc, 0, 1, r), direct("z", Access::read, 1, q)});
  const Group group = fused({one, inverted(two)});
  EXPECT_EQ(signature(alone(group, 0)), signature(one));
  EXPECT_EQ(signature(alone(group, 1)), signature(inverted(two)));
  verify(alone(group, 1));
}

TEST(Group, PartsAreToldApartByMember) {
  Loop parts =
      loop_named("parts", {direct("x", Access::read, 1, q), direct("x", Access::read, 1, r)});
  parts.args[1].parameter = 0;
  const Group group = fused({parts, loop_named("one", {direct("x", Access::read, 1, q)})});
  EXPECT_TRUE(is_part(group, 0));
  EXPECT_TRUE(is_part(group, 1));
  EXPECT_FALSE(is_part(group, 2));
  verify(group);
}

TEST(Group, IsOfLoopsThatAreNumberedTogether) {
  const Loop one = loop_named("one", {direct("x", Access::read, 1, q)});
  Loop elsewhere = one;
  elsewhere.set = 1;
  EXPECT_THROW((void)fused({one, elsewhere}), InternalError);
  Loop subset = one;
  subset.iteration.subset = true;
  EXPECT_THROW((void)fused({one, subset}), InternalError);
  EXPECT_THROW((void)fused({}), InternalError);
}

TEST(Group, VerifyFindsArgumentsOfNoMember) {
  Group group = fused({loop_named("one", {direct("x", Access::read, 1, q)}),
                       loop_named("two", {direct("y", Access::read, 1, r)})});
  std::swap(group.args[0].member, group.args[1].member);
  EXPECT_THROW(verify(group), InternalError);
  group.args[0].member = 0;
  group.args[1].member = 2;
  EXPECT_THROW(verify(group), InternalError);
}

TEST(WhyNotFused, ItemsMayHandOnTheirOwnRows) {
  EXPECT_EQ(failure_of({direct("y", Access::write, 1, q)}, {direct("x", Access::read, 1, q)}), "");
  EXPECT_EQ(failure_of({direct("y", Access::inc, 1, q)}, {direct("x", Access::rw, 1, q)}), "");
  EXPECT_EQ(failure_of({direct("x", Access::read, 1, q)}, {direct("y", Access::write, 1, q)}), "");
}

TEST(WhyNotFused, NotThoseOfOtherItems) {
  const std::string why =
      failure_of({direct("y", Access::write, 1, q)}, {indirect("x", Access::read, 0, 1, q)});
  EXPECT_EQ(why,
            "arg 0 ('y') of 'one' and arg 0 ('x') of 'two' share memory that one of them writes, "
            "and not item by item");
  EXPECT_NE(failure_of({indirect("x", Access::read, 0, 1, q)}, {direct("y", Access::write, 1, q)}),
            "");
  EXPECT_NE(failure_of({direct("y", Access::write, 1, r)}, {direct("x", Access::read, 1, other_r)}),
            "");
}

TEST(WhyNotFused, TheCellsOfAColumnShareItsRow) {
  Loop one = loop_named("one", {direct("y", Access::write, 1, q)});
  Loop two = loop_named("two", {direct("x", Access::read, 1, q)});
  one.iteration.layers = two.iteration.layers = Layers::constant;
  EXPECT_NE(why_not_fused(fused({one, two})), "");
  EXPECT_EQ(why_not_fused(fused({two, two})), "");
}

TEST(WhyNotFused, ValuesAreNotAskedFor) {
  const Loop one = loop_named("one", {direct("y", Access::write, 1, q)});
  const Loop two = loop_named("two", {indirect("x", Access::read, 0, 1, q)});
  const Group group = joined({one, two});
  EXPECT_TRUE(group.values.empty());
  EXPECT_EQ(why_not_fused(group), why_not_fused(fused({one, two})));
  EXPECT_NE(why_not_fused(group), "");
}

TEST(WhyNotFused, SumsCommute) {
  const NamedArg sum = indirect("y", Access::inc, 0, 1, q);
  EXPECT_EQ(failure_of({sum}, {sum}), "");
  EXPECT_NE(failure_of({sum}, {indirect("y", Access::max, 0, 1, q)}), "");
  EXPECT_NE(failure_of({sum}, {indirect("y", Access::read, 0, 1, q)}), "");
}

TEST(WhyNotFused, AReductionIsCompleteBehindAllItemsOnly) {
  NamedArg total = global_reduce("s", Access::inc);
  NamedArg read = global_read("s");
  std::get<GlobalReduce>(total.arg).alias = g;
  std::get<GlobalRead>(read.arg).alias = g;
  EXPECT_EQ(failure_of({total}, {total}), "");
  EXPECT_NE(failure_of({total}, {read}), "");
}

TEST(WhyNotFused, ASumOverTheItemsIncidencesIsComplete) {
  Group group = fused({loop_named("sum", {indirect("y", Access::inc, 0, 1, q)}),
                       loop_named("use", {direct("x", Access::rw, 1, q)})});
  EXPECT_NE(why_not_fused(group), "");
  group.set = 1;
  group.members[0].visit = Visit::incidences;
  EXPECT_EQ(why_not_fused(group), "");
}

TEST(Inverted, IsTheLoopFromItsTargets) {
  const Loop sum = loop_named(
      "sum", {indirect("x", Access::read, 0, 1, q), indirect("y", Access::inc, 0, 1, r)});
  EXPECT_FALSE(is_inverted(sum));
  EXPECT_TRUE(is_summed(sum, 1));
  const Group group = inverted(sum);
  EXPECT_EQ(inverted_members(group), (std::vector<std::size_t>{0}));
  EXPECT_EQ(group.set, 1);
  EXPECT_EQ(inverted(group).set, 1);  // stays as it is
  EXPECT_THROW((void)inverted(loop_named("one", {direct("y", Access::inc, 1, r)})), InternalError);
}

TEST(Inverted, OnlyTheMemberThatIsVisitedSoIsSummed) {
  Loop other = loop_named("other", {indirect("z", Access::inc, 0, 1, q)});
  other.set = 1;
  const Group group =
      fused({inverted(loop_named("sum", {indirect("y", Access::inc, 0, 1, r)})), other});
  EXPECT_TRUE(is_summed(group, 0));
  EXPECT_FALSE(is_summed(group, 1));
}

TEST(Values, EveryMemberThatWritesMakesAVersion) {
  const Group group =
      fused({loop_named("one", {direct("x", Access::read, 1, q), direct("y", Access::write, 1, r)}),
             loop_named("two", {direct("y", Access::rw, 1, r)}),
             loop_named("three", {direct("y", Access::read, 1, r)})});
  const auto version = [&group](int value) {
    return group.values[static_cast<std::size_t>(value)].version;
  };
  EXPECT_EQ(version(group.args[0].reads), 0);
  EXPECT_EQ(group.args[0].writes, no_value);
  EXPECT_EQ(group.args[1].reads, no_value);  // all of it is new
  EXPECT_EQ(version(group.args[1].writes), 1);
  EXPECT_EQ(group.args[2].reads, group.args[1].writes);
  EXPECT_EQ(version(group.args[2].writes), 2);
  EXPECT_EQ(group.args[3].reads, group.args[2].writes);
  EXPECT_EQ(group.values[static_cast<std::size_t>(group.args[3].reads)].set, 0);
}

TEST(Values, APartIsNoDefinition) {
  Loop subset = loop_named("one", {direct("y", Access::write, 1, r)});
  EXPECT_TRUE(defines(subset, 0));
  subset.iteration.subset = true;
  EXPECT_FALSE(defines(subset, 0));
  EXPECT_FALSE(defines(loop_named("one", {direct("y", Access::rw, 1, r)}), 0));
  Loop unseen = loop_named("one", {direct("y", Access::write, 1, r)});
  std::get<DirectDat>(unseen.args[0]).access = Access::rw;
  EXPECT_TRUE(defines(unseen, 0));
  EXPECT_FALSE(defines(loop_named("one", {indirect("y", Access::write, 0, 1, r)}), 0));
}

TEST(Values, ReadersAndWritersOfOneMemberSeeTheSameVersion) {
  const Group group =
      fused({loop_named("one", {direct("y", Access::inc, 1, r), direct("x", Access::read, 1, r),
                                direct("z", Access::rw, 1, r)})});
  EXPECT_EQ(group.args[0].reads, group.args[1].reads);
  EXPECT_EQ(group.args[0].writes, group.args[2].writes);
}

TEST(Values, WhatIsHandedOnAndStored) {
  Group group = fused(
      {loop_named("one", {direct("x", Access::read, 1, q), direct("y", Access::write, 1, r)}),
       loop_named("two", {direct("y", Access::read, 1, r), direct("x", Access::read, 1, q)})});
  EXPECT_FALSE(is_handed_on(group, 0));  // nobody writes it
  EXPECT_TRUE(is_handed_on(group, 1));
  EXPECT_TRUE(is_handed_on(group, 2));
  EXPECT_TRUE(is_stored(group, 1));
  group.values[static_cast<std::size_t>(group.args[1].writes)].stored = false;
  EXPECT_FALSE(is_stored(group, 1));
  EXPECT_FALSE(is_stored(group, 2));
  EXPECT_TRUE(is_stored(group, 0));
}

TEST(Signature, OfAGroupSaysWhoCallsWhatAndWhatIsStored) {
  const Loop one = loop_named("one", {direct("y", Access::write, 1, r)});
  const Loop two = loop_named("two", {direct("y", Access::read, 1, r)});
  Group group = fused({one, two});
  const std::string before = signature(group);
  EXPECT_NE(before, signature(fused({two, one})));
  EXPECT_EQ(signature(fused({one})).find("member"), std::string::npos);
  group.values.back().stored = false;
  EXPECT_NE(signature(group), before);
  group = fused({one, two});
  group.members[0].visit = Visit::incidences;
  EXPECT_NE(signature(group), before);
}

}  // namespace
}  // namespace op2::ir
