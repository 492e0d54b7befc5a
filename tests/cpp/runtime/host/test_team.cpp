// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/team.hpp"

#include <gtest/gtest.h>

namespace op2::runtime {
namespace {

void open_none(int, void (*)(const op2_team_v1*, void*), void*) {}

TEST(TeamOpener, IsTheLastThatWasTold) {
  const op2_open_team_v1 before = team_opener();
  open_teams_by(open_none);
  EXPECT_EQ(team_opener(), open_none);
  open_teams_by(before);
  EXPECT_EQ(team_opener(), before);
}

}  // namespace
}  // namespace op2::runtime
