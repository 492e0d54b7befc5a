// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/abi.h"

namespace op2::runtime {

/// @brief Set the function that opens shared teams. The last call wins.
void open_teams_by(op2_open_team_v1 open);

/// @brief The function that opens shared teams; null: each loop opens a separate team.
[[nodiscard]] op2_open_team_v1 team_opener();

}  // namespace op2::runtime
