// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "exec/executable.hpp"
#include "exec/launch_program.hpp"
#include "ir/loop.hpp"
#include "kir/nodes.hpp"

namespace op2::exec {

/// @brief The launches of a device for a module whose functions are kernels.
/// @throws InternalError if the module's launch has nodes not allowed in kir::Module::launch.
[[nodiscard]] LaunchProgram launch_program(const kir::Module& module);

/// @brief A loop's use of each of its arguments.
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
