// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief A kernel whose calls of KernelBody::team_functions the lanes of a block carry out
/// together.
///
/// All lanes run the kernel alike, with variables of their own. Arrays behind pointers and arrays
/// that are handed to these functions are shared: loops that store to entries of their own are
/// spread over the lanes, other stores are made by one lane, and barriers stand around both.
/// @return Nothing without such calls, if values of lanes could differ, or if lanes would repeat
/// more than the calls save.
[[nodiscard]] std::optional<TeamForm> team_form_of_calls(const KernelBody& body);

}  // namespace op2::kernel
