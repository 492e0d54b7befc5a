// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/abi.h"

namespace op2::runtime {

/// @brief Says what opens the teams that several loops share. The last one that was told stays.
void open_teams_by(op2_open_team_v1 open);

/// @brief What opens them; null: nothing does, and each loop opens one of its own.
[[nodiscard]] op2_open_team_v1 team_opener();

}  // namespace op2::runtime
