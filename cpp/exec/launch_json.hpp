// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "base/abi_types.hpp"
#include "exec/launch_program.hpp"

namespace op2::exec {

/// @brief A program's steps as a list in JSON, for readers other than the core: objects with `step`
/// (`set`, `repeat`, `when`, `allocate`, `launch`) and values as expressions of C.
///
/// `is_there(a)`, `blocks_for(n)`, `stride_of(a)` and `least(a, b)` are functions of the reader.
/// @param[in] arguments Executable::arguments.
[[nodiscard]] std::string launch_json(const LaunchProgram& program,
                                      std::span<const abi::Parameter> arguments);

}  // namespace op2::exec
