// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/patience.hpp"

namespace op2::jit {

/// @brief The outcome of a child process.
struct ProcessResult {
  int exit_code = 0;       // of a normal exit
  int signal = 0;          // the signal behind the end; 0 without a signal
  bool timed_out = false;  // and was killed after the time limit
  std::string output;      // stdout and stderr, as they came
};

/// @brief Run @p command without a shell and wait for it.
///
/// posix_spawn: no copy of this process's page tables, however large its Dats are. The child leads
/// a separate process group (so a timeout or an interrupt reaches the compiler's own children),
/// reads /dev/null, and starts with default signal dispositions.
/// @param[in] command Absolute path of the program, then its arguments.
/// @param[in] environment Pairs that replace or extend this process's environment.
/// @throws ToolchainError if the program cannot be started.
[[nodiscard]] ProcessResult run_process(
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::string>>& environment, const Patience& patience);

/// @brief @p command in the form for a shell, for messages.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& command);

}  // namespace op2::jit
