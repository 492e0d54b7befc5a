// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "exec/executable.hpp"

namespace op2::exec {

/// @brief An Executable without its code, as canonical text: the entry of a loop in a table of
/// loops compiled ahead of time.
[[nodiscard]] std::string canonical(const Executable& executable);

/// @brief The Executable behind a text of canonical(). There is no code: the loader of the code
/// sets `launch`, `owner` and the program of `device`.
/// @throws UsageError with the error and its place.
[[nodiscard]] std::shared_ptr<Executable> read_executable(std::string_view text);

/// @brief The same with code, for a loop on a device.
/// @param[in] suffix Of the kernels' names in @p program, if the program has kernels of several
/// loops.
/// @throws UsageError also for a loop of a host.
[[nodiscard]] std::shared_ptr<Executable> read_executable(std::string_view text,
                                                          std::shared_ptr<Program> program,
                                                          std::string_view suffix);

/// @brief The role of a parameter, by the name in manifests.
[[nodiscard]] std::string_view name_of(abi::Role role);

}  // namespace op2::exec
