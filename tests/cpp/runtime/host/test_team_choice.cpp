// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/team_choice.hpp"

#include <gtest/gtest.h>

namespace op2::runtime {
namespace {

constexpr std::int64_t us = 1000;
constexpr std::int64_t ms = 1000 * us;

/// As a machine has them, with the time that a short loop takes.
TeamRules rules(std::int64_t short_nanoseconds, bool is_small) {
  TeamRules found = TeamRules::of({}, 0);
  found.short_nanoseconds = short_nanoseconds;
  found.is_small = is_small;
  return found;
}

/// Runs that take as long as they are told; what was chosen.
struct LoopTimes {
  std::int64_t alone;
  std::int64_t team;

  /// Part of n runs that one thread did.
  double run(TeamChoice& choice, std::int64_t round, int n) const {
    int n_alone = 0;
    for (int i = 0; i < n; ++i) {
      const bool is_alone = choice.is_alone(round);
      choice.note(is_alone, is_alone ? alone : team);
      n_alone += is_alone ? 1 : 0;
    }
    return static_cast<double>(n_alone) / n;
  }
};

TEST(TeamChoice, ManyElementsAreATeamsAtOnce) {
  TeamChoice choice(rules(10 * us, false));
  EXPECT_EQ((LoopTimes{2 * ms, ms}.run(choice, 0, 10)), 0);
}

TEST(TeamChoice, ShortLoopsStayWithOneThread) {
  TeamChoice choice(rules(10 * us, true));
  EXPECT_EQ((LoopTimes{9 * us, us}.run(choice, 0, 2000)), 1);
}

TEST(TeamChoice, HeavyKernelsOnFewElementsGetATeam) {
  TeamChoice choice(rules(10 * us, true));
  EXPECT_EQ((LoopTimes{11 * us, 6 * us}.run(choice, 0, 3)), 1);
  EXPECT_EQ((LoopTimes{11 * us, 6 * us}.run(choice, 0, 100)), 0);
}

TEST(TeamChoice, AThreadThatIsStoppedDoesNotMakeALoopLong) {
  TeamChoice choice(rules(10 * us, true));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(choice.is_alone(0));
    choice.note(true, i % 3 == 1 ? 8 * us : 4 * ms);
  }
}

TEST(TeamChoice, LoopsThatBecomeLongGetATeam) {
  TeamChoice choice(rules(10 * us, true));
  EXPECT_EQ((LoopTimes{8 * us, us}.run(choice, 0, 100)), 1);
  LoopTimes{20 * us, us}.run(choice, 0, 600);
  EXPECT_FALSE(choice.is_alone(0));
}

TEST(TeamChoice, NoNumberMeansNoShortLoops) {
  TeamChoice choice(rules(0, true));
  EXPECT_FALSE(choice.is_alone(0));
}

TEST(TeamChoice, ContentionLeavesALoopToWhatIsFaster) {
  TeamChoice choice(rules(10 * us, false));
  const LoopTimes quiet{2 * ms, ms};
  const LoopTimes stopped{4 * ms, 12 * ms};
  EXPECT_EQ(quiet.run(choice, 0, 50), 0);
  EXPECT_GT(stopped.run(choice, 1, 50), 0.9);
  EXPECT_EQ(stopped.run(choice, 1, 50), 1);
  EXPECT_EQ(stopped.run(choice, 2, 50), 1) << "a team that has lost rests";
  EXPECT_GT(stopped.run(choice, 3, 50), 0.9) << "both are tried again";
  EXPECT_LT(stopped.run(choice, 6, 50), 1);
  EXPECT_EQ(quiet.run(choice, 0, 50), 0);
}

TEST(TeamChoice, ATeamThatKeepsLosingIsSeldomTried) {
  TeamChoice choice(rules(10 * us, false));
  const LoopTimes stopped{4 * ms, 12 * ms};
  int n_tried = 0;
  for (int round = 1; round <= 22; ++round) {
    n_tried += stopped.run(choice, round, 50) < 1 ? 1 : 0;
    (void)choice.is_alone(round % 5 == 0 ? 0 : round);  // contention may seem to end
  }
  EXPECT_EQ(n_tried, 6);
  int n_alone = 0;
  for (int round = 23; round <= 30; ++round) {
    n_alone += LoopTimes{4 * ms, 2 * ms}.run(choice, round, 50) == 1 ? 1 : 0;
  }
  EXPECT_LE(n_alone, 4) << "one that has become faster is found out";
}

TEST(TeamChoice, ATeamThatIsFasterDespiteContentionStays) {
  TeamChoice choice(rules(10 * us, false));
  const LoopTimes wide{16 * ms, 2 * ms};  // one of sixteen threads is stopped
  EXPECT_EQ((LoopTimes{16 * ms, ms}.run(choice, 0, 50)), 0);
  EXPECT_LE(wide.run(choice, 1, 100), 0.05);
  EXPECT_LE(wide.run(choice, 2, 100), 0.05);
}

TEST(TeamChoice, TheTuningSaysHowMuchFasterATeamMustBe) {
  Tuning tuning;
  tuning.team_part = 0.4;
  const LoopTimes halved{4 * ms, 2 * ms};
  TeamChoice usual(TeamRules::of({}, 1 << 20));
  TeamChoice strict(TeamRules::of(tuning, 1 << 20));
  EXPECT_LT(halved.run(usual, 1, 100), 0.2);
  EXPECT_GT(halved.run(strict, 1, 100), 0.8);
  EXPECT_TRUE(TeamRules::of({}, 100).is_small);
  EXPECT_FALSE(TeamRules::of({}, 1 << 20).is_small);
}

TEST(TeamChoice, TrialsOfShortRunsEndWhenItIsClear) {
  TeamChoice choice(rules(10 * us, false));
  EXPECT_EQ((LoopTimes{160 * us, 10 * us}.run(choice, 0, 5000)), 0);
  EXPECT_LT((LoopTimes{160 * us, 10 * us}.run(choice, 1, 5000)), 0.002);
}

}  // namespace
}  // namespace op2::runtime
