// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "exec/executable.hpp"
#include "exec/launch_program.hpp"
#include "ir/loop.hpp"
#include "kir/nodes.hpp"

namespace op2::exec {

/// @brief What a device launches for a module whose functions are kernels.
/// @throws InternalError if the module's launch is not made of what kir::Module::launch may hold.
[[nodiscard]] LaunchProgram launch_program(const kir::Module& module);

/// @brief What a loop does with each of its arguments.
[[nodiscard]] std::vector<DataUse> data_uses(const ir::Loop& loop);

/// @brief The Executable of a loop on the host, without its code.
[[nodiscard]] std::shared_ptr<Executable> host_executable(const kir::Module& module,
                                                          const ir::Loop& loop,
                                                          const std::string& strategy,
                                                          bool is_parallel);

/// @brief The Executable of a loop on a device, without its code.
[[nodiscard]] std::shared_ptr<Executable> device_executable(const kir::Module& module,
                                                            const ir::Loop& loop,
                                                            const std::string& strategy);

}  // namespace op2::exec
