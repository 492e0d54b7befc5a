// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/prepared_loop.hpp"

namespace op2::runtime {

/// @brief The core or the boundary of a loop, as a node of a graph: values of other processes may
/// arrive while the core runs. Both phases of a loop are run, the core first.
class PhaseTask final : public GraphTask {
 public:
  PhaseTask(std::shared_ptr<PreparedLoop> loop, Phase phase);

  [[nodiscard]] std::shared_ptr<Device> device() const override { return loop_->device(); }
  [[nodiscard]] const std::vector<mesh::BufferUse>& uses() const override { return loop_->uses(); }
  [[nodiscard]] bool is_profiled() const override { return loop_->is_profiled(); }
  bool run() override { return loop_->run(phase_); }
  [[nodiscard]] Device* recorder() override { return loop_->recorder(phase_); }
  [[nodiscard]] std::string why_not_recorded() override { return loop_->why_not_recorded(); }
  [[nodiscard]] std::size_t n_launches() const override { return loop_->n_launches(phase_); }
  bool make_ready(std::vector<std::uintptr_t>& state) override;
  void launch_ready() override { loop_->launch_ready(phase_); }
  void count_replays(std::int64_t n) override;

 private:
  std::shared_ptr<PreparedLoop> loop_;
  Phase phase_;
};

}  // namespace op2::runtime
