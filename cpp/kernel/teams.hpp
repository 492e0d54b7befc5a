// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief The function that stands for a barrier of the lanes of a block in a TeamForm.
inline constexpr const char* team_barrier = "op2_team_barrier";

/// @brief The sums of a kernel dimension by dimension, computed by the lanes of a block together.
///
/// Each sum over one dimension is a phase: a lane has a column of values in variables of its own,
/// and computes the column of sums. Between phases values lie in memory of the block. In the phase
/// of the points a lane has all points of the innermost loop. So p points a direction in three
/// dimensions have work for p^2 lanes. Sums of few terms, such as those of a trilinear geometry,
/// each lane computes itself.
/// Source: P. Fischer et al., Scalability of high-performance PDE solvers, 2020, section 3; MFEM's
/// and libCEED's kernels for GPUs are made so.
/// @return Nothing if the kernel does anything besides such sums that lanes must not repeat.
[[nodiscard]] std::optional<TeamForm> team_form(const KernelBody& body);

}  // namespace op2::kernel
