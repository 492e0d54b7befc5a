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

/// @brief What a node of a graph does without Python: a loop, or what the library does to values.
///
/// On a device a run is two halves, so that what the second one enqueues can be recorded and
/// enqueued again.
class GraphTask {
 public:
  GraphTask() = default;
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;
  virtual ~GraphTask() = default;

  /// @brief Where it runs; null: on the host.
  [[nodiscard]] virtual std::shared_ptr<Device> device() const = 0;
  /// @brief The values that it reads and writes.
  [[nodiscard]] virtual const std::vector<mesh::BufferUse>& uses() const = 0;
  /// @brief Whether somebody measures it now, so that it must be launched by itself.
  [[nodiscard]] virtual bool is_profiled() const { return false; }
  /// @brief The loop that it is on the host, which can share a parallel region with others; else
  /// null.
  [[nodiscard]] virtual TeamLoop* team_loop() { return nullptr; }
  /// @brief Whether it sets or copies values on the host, and nothing else: one thread may do that
  /// while those of its team wait.
  [[nodiscard]] virtual bool is_of_values() const { return false; }
  /// @brief On the host: bring what it reads there, before loops behind it are made ready.
  /// @return As run().
  virtual bool bring_to_host() { return false; }
  /// @brief Whether make_ready() may give Buffers the memory of others.
  [[nodiscard]] virtual bool may_exchange() const { return false; }
  /// @brief The two Buffers whose memory the last make_ready() exchanged; null: none.
  [[nodiscard]] virtual std::pair<mesh::Buffer*, mesh::Buffer*> exchanged() const { return {}; }

  /// @brief Carry it out once and count the writes to its Buffers; on a device, enqueue it.
  /// @return Whether values were copied between host and devices for it; see mesh::Coherence.
  virtual bool run() = 0;

  /// @brief The device that could record what it enqueues; null if it runs on the host or enqueues
  /// something else each time.
  [[nodiscard]] virtual Device* recorder() = 0;
  /// @brief Why there is no recorder() for what runs on a device, and what to do; else empty.
  [[nodiscard]] virtual std::string why_not_recorded() { return {}; }
  /// @brief What launch_ready() enqueues; known after recorder().
  [[nodiscard]] virtual std::size_t n_launches() const = 0;
  /// @brief The first half of run(), on a device: everything but the launches.
  /// @param[out] state Gets what the launches depend on: while it is the same, so are they.
  /// @return As run().
  virtual bool make_ready(std::vector<std::uintptr_t>& state) = 0;
  /// @brief The second half: enqueue what make_ready() prepared.
  virtual void launch_ready() = 0;
  /// @brief Count runs that were enqueued after one make_ready().
  virtual void count_replays(std::int64_t n) = 0;
};

/// @brief Whether after the last make_ready() of all @p tasks every Buffer has the memory that it
/// had before, so that the same addresses hold for another run.
[[nodiscard]] bool is_in_place(const std::vector<std::shared_ptr<GraphTask>>& tasks);

}  // namespace op2::runtime
