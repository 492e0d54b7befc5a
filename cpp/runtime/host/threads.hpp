// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace op2::runtime {

/// @brief CPUs the control groups (v1 and v2) of this process grant it, as a fraction of time.
/// @param[in] root Prefix of `/proc` and of the mount points: "/" except in tests.
/// @return Nothing if no quota is set anywhere above the process.
[[nodiscard]] std::optional<double> cgroup_cpu_limit(const std::string& root);

/// @brief Threads that can run at once: CPUs in the affinity mask, bounded by the control groups'
/// quota rounded up; at least 1.
[[nodiscard]] int available_threads();

/// @brief Record that a parallel region has run in this process. Cheap: call it on every launch.
void note_parallel_region();

/// @brief Whether this process was forked from one in which a parallel region had run.
///
/// OpenMP run-times keep a pool of threads, of which the child has none: its next region would
/// hang, so loops of a child are one thread's.
[[nodiscard]] bool forked_after_parallel_region();

}  // namespace op2::runtime
