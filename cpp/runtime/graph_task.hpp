// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mesh/coherence.hpp"
#include "runtime/device.hpp"
#include "runtime/host/team_loop.hpp"

namespace op2::runtime {

/// @brief A node's work without Python: a loop, or an action of the library on values.
///
/// On a device a run has two halves, so the launches of the second half can be recorded and
/// enqueued again.
class GraphTask {
 public:
  GraphTask() = default;
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;
  virtual ~GraphTask() = default;

  /// @brief The device of the task; null: the host.
  [[nodiscard]] virtual std::shared_ptr<Device> device() const = 0;
  /// @brief The values read and written.
  [[nodiscard]] virtual const std::vector<mesh::BufferUse>& uses() const = 0;
  /// @brief Whether a profile measures the task now, so that a separate launch is needed.
  [[nodiscard]] virtual bool is_profiled() const { return false; }
  /// @brief The task's loop on the host, able to share a parallel region with others; else null.
  [[nodiscard]] virtual TeamLoop* team_loop() { return nullptr; }
  /// @brief Whether the task only sets or copies values on the host: a single thread may then run
  /// the task while the rest of the team waits.
  [[nodiscard]] virtual bool is_of_values() const { return false; }
  /// @brief On the host: bring the read values there, before later loops are made ready.
  /// @return As run().
  virtual bool bring_to_host() { return false; }
  /// @brief Whether make_ready() may give Buffers the memory of others.
  [[nodiscard]] virtual bool may_exchange() const { return false; }
  /// @brief The two Buffers whose memory the last make_ready() exchanged; null: none.
  [[nodiscard]] virtual std::pair<mesh::Buffer*, mesh::Buffer*> exchanged() const { return {}; }

  /// @brief Run the task once and count the writes to its Buffers; on a device, enqueue the task.
  /// @return Whether the run copied values between host and devices; see mesh::Coherence.
  virtual bool run() = 0;

  /// @brief The device able to record the task's launches; null on the host, or if launches differ
  /// each time.
  [[nodiscard]] virtual Device* recorder() = 0;
  /// @brief Why a task on a device has no recorder(), and the remedy; else empty.
  [[nodiscard]] virtual std::string why_not_recorded() { return {}; }
  /// @brief The number of launches in launch_ready(); known after recorder().
  [[nodiscard]] virtual std::size_t n_launches() const = 0;
  /// @brief The first half of run(), on a device: everything but the launches.
  /// @param[out] state Gets everything that the launches depend on: equal states mean equal
  /// launches.
  /// @return As run().
  virtual bool make_ready(std::vector<std::uintptr_t>& state) = 0;
  /// @brief The second half: enqueue the launches prepared by make_ready().
  virtual void launch_ready() = 0;
  /// @brief Count runs enqueued after a single make_ready().
  virtual void count_replays(std::int64_t n) = 0;
};

/// @brief Whether after the last make_ready() of all @p tasks every Buffer has its former memory,
/// so the same addresses hold for another run.
[[nodiscard]] bool is_in_place(const std::vector<std::shared_ptr<GraphTask>>& tasks);

}  // namespace op2::runtime
