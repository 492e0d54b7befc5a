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

/// @brief What a parameter is, by its name in manifests.
[[nodiscard]] std::string_view name_of(abi::Role role);

}  // namespace op2::exec
