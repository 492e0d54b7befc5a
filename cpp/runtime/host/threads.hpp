// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace op2::runtime {

/// @brief CPUs granted to the process by its control groups (v1 and v2), as a fraction of time.
/// @param[in] root Prefix of `/proc` and of the mount points: "/" except in tests.
/// @return Nothing if no quota is set anywhere above the process.
[[nodiscard]] std::optional<double> cgroup_cpu_limit(const std::string& root);

/// @brief Threads able to run at once: CPUs in the affinity mask, bounded by the control groups'
/// quota rounded up; at least 1. Where OpenMP binds threads (OMP_PROC_BIND), the mask is that from
/// before, because OpenMP leaves the first thread a single CPU.
[[nodiscard]] int available_threads();

/// @brief Record that a parallel region has run in the process. Cheap: call on every launch.
void note_parallel_region();

/// @brief Whether the process was forked after a parallel region had run in the parent.
///
/// OpenMP run-times keep a pool of threads, and the child has none of them. The child's next region
/// would hang, so one thread runs the loops of a child.
[[nodiscard]] bool forked_after_parallel_region();

}  // namespace op2::runtime
