// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "exec/executable.hpp"

namespace op2::exec {

/// @brief Everything of an Executable but its code, as canonical text: what a table of loops that
/// were compiled ahead of time holds of each.
[[nodiscard]] std::string canonical(const Executable& executable);

/// @brief The Executable that canonical() wrote. It has no code: `launch`, `owner` and the program
/// of `device` are for whoever has loaded it.
/// @throws UsageError saying what is wrong, and where.
[[nodiscard]] std::shared_ptr<Executable> read_executable(std::string_view text);

/// @brief The same with its code, of a loop on a device.
/// @param[in] suffix Of the kernels' names in @p program, if it has those of several loops.
/// @throws UsageError also if it is no loop of a device.
[[nodiscard]] std::shared_ptr<Executable> read_executable(std::string_view text,
                                                          std::shared_ptr<Program> program,
                                                          std::string_view suffix);

/// @brief What a parameter is, by its name in manifests.
[[nodiscard]] std::string_view name_of(abi::Role role);

}  // namespace op2::exec
