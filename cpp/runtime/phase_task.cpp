// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/phase_task.hpp"

#include <utility>

namespace op2::runtime {

PhaseTask::PhaseTask(std::shared_ptr<PreparedLoop> loop, Phase phase)
    : loop_(std::move(loop)), phase_(phase) {}

bool PhaseTask::make_ready(std::vector<std::uintptr_t>& state) {
  return loop_->make_ready(phase_, state);
}

void PhaseTask::count_replays(std::int64_t n) {
  if (phase_ != Phase::core) loop_->count_replays(n);  // a call is counted once
}

}  // namespace op2::runtime
