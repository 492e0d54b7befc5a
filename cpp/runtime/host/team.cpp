// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/team.hpp"

#include <atomic>

namespace op2::runtime {
namespace {

std::atomic<op2_open_team_v1> known_opener = nullptr;

}  // namespace

void open_teams_by(op2_open_team_v1 open) {
  known_opener = open;
}

op2_open_team_v1 team_opener() {
  return known_opener;
}

}  // namespace op2::runtime
