// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "exec/executable.hpp"
#include "exec/launch_program.hpp"
#include "ir/kernel_ir.hpp"
#include "ir/loop.hpp"

namespace op2::exec {

/// @brief What a device launches for a module whose functions are kernels.
/// @param[in] suffix Of the kernels' names in the Program, if it has others.
/// @throws InternalError if the module's launch is not made of what kir::Module::launch may hold.
[[nodiscard]] LaunchProgram launch_program(const kir::Module& module, const std::string& suffix);

/// @brief What a loop does with each of its arguments.
[[nodiscard]] std::vector<DataUse> data_uses(const ir::Loop& loop);

/// @brief The Executable of a loop on the host.
/// @param[in] launch The function of this module, loaded; @p owner keeps it so.
[[nodiscard]] std::shared_ptr<Executable> host_executable(
    const kir::Module& module, const ir::Loop& loop, op2_launch_v1 launch,
    std::shared_ptr<const void> owner, const std::string& strategy, bool is_parallel);

/// @brief The Executable of a loop on a device.
/// @param[in] program The module's kernels, loaded.
/// @param[in] suffix As for launch_program.
[[nodiscard]] std::shared_ptr<Executable> device_executable(const kir::Module& module,
                                                            const ir::Loop& loop,
                                                            std::shared_ptr<Program> program,
                                                            const std::string& strategy,
                                                            const std::string& suffix);

}  // namespace op2::exec
