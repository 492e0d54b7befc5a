// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/paths.hpp"
#include "exec/executable.hpp"
#include "mesh/buffer.hpp"
#include "mesh/map_table.hpp"
#include "plan/arrays.hpp"
#include "plan/plan_cache.hpp"
#include "runtime/binding.hpp"
#include "runtime/device_loop.hpp"
#include "runtime/device_mirror.hpp"
#include "runtime/graph_task.hpp"
#include "runtime/host/team_choice.hpp"
#include "runtime/host/team_loop.hpp"
#include "runtime/timing.hpp"

namespace op2::runtime {

using ExecutablePtr = std::shared_ptr<const exec::Executable>;

struct LaunchOptions {
  int n_threads = 1;
  std::int64_t block_size = 0;    ///< 0: chosen from the number of elements and threads
  std::int64_t useful_bytes = 0;  ///< a call must move if caches were perfect
  Tuning tuning = {};             ///< for the device's class
  /// A run is the core and then the boundary, with the results of the two phases, to the bit.
  bool is_deterministic = false;
  std::int64_t operations = -1;  ///< on floating-point numbers, of a call; -1: unknown
  int float_bytes = 0;           ///< of their widest operands
};

/// @brief The part of a loop that a run executes.
enum class Phase : std::uint8_t {
  all,
  core,      ///< work items without an element at the boundary of the Set: LoopPlan::n_core_items
  boundary,  ///< the others
};

/// @brief A loop ready to run: resolved, bound and planned. run() costs about a microsecond.
///
/// On a device, run() enqueues the loop and waits for nothing.
///
/// Buffers are slots: their addresses are read at each launch. Plans are rebuilt when a Map's
/// version grows. Runs of one object exclude each other, because they share scratch memory.
class PreparedLoop final : public GraphTask, private TeamLoop {
 public:
  /// @param[in] mirror The device of an Executable that has device code; otherwise null.
  PreparedLoop(ExecutablePtr executable, Binding binding, LaunchOptions options,
               std::shared_ptr<plan::PlanCache> plans, std::shared_ptr<Timing> timing,
               std::shared_ptr<DeviceMirror> mirror = nullptr);

  /// @brief Run the loop once and count the writes to its Buffers.
  /// @return Whether the run copied values between host and devices; see mesh::Coherence.
  /// @throws TransferError where a copy is needed but forbidden.
  /// @throws ExecutionError if a check of the generated code fails, or after a fork without the
  /// threads of the loop.
  bool run() override;

  /// @brief Run a part of the loop; `core` and then `boundary` are a run.
  ///
  /// Like a run, the two are counted once, and so are the writes, with the boundary.
  bool run(Phase phase);

  /// @brief run() with other arguments, only once: of the same rows, types and layouts, and with
  /// shared memory exactly where the loop's own arguments share memory.
  /// @param[in] arguments As Binding::arguments.
  bool run_with(std::vector<std::shared_ptr<mesh::Buffer>> arguments);

  /// @brief The same loop for other arguments, under the conditions of run_with().
  [[nodiscard]] std::shared_ptr<PreparedLoop> rebound(
      std::vector<std::shared_ptr<mesh::Buffer>> arguments);

  /// @brief Build the plan now instead of in the first run.
  void prepare();

  /// @brief Whether launches are measured now, one by one. Waits for no run.
  [[nodiscard]] bool is_profiled() const override { return timing_->trace->is_on(); }

  [[nodiscard]] std::shared_ptr<Device> device() const override {
    return mirror_ ? mirror_->device() : nullptr;
  }

  [[nodiscard]] const std::vector<mesh::BufferUse>& uses() const override { return uses_; }
  [[nodiscard]] Device* recorder() override;
  [[nodiscard]] std::string why_not_recorded() override;
  bool make_ready(std::vector<std::uintptr_t>& state) override;
  void launch_ready() override;
  [[nodiscard]] std::size_t n_launches() const override;

  /// @brief The same for a part of the loop, as its own node of a graph.
  [[nodiscard]] Device* recorder(Phase phase);
  bool make_ready(Phase phase, std::vector<std::uintptr_t>& state);
  void launch_ready(Phase phase);
  [[nodiscard]] std::size_t n_launches(Phase phase) const;

  void count_replays(std::int64_t n) override;
  [[nodiscard]] TeamLoop* team_loop() override { return mirror_ ? nullptr : this; }

  /// @brief run(), and keep the former values of the arguments, for restore().
  /// @param[in] also Read-only arguments that may be written against their access.
  bool run_saving(const std::vector<int>& also);

  /// @brief Give the arguments their values before the last run_saving(), on the host or on the
  /// device of the run.
  void restore();

  /// @brief Forget the values kept by run_saving(); the host's memory for them stays, for the next
  /// time.
  void forget_saved();

  [[nodiscard]] std::int64_t n_colours() const { return plan_.n_colours; }
  [[nodiscard]] std::int64_t plan_bytes() const { return plan_.n_bytes; }
  [[nodiscard]] std::int64_t n_items() const { return plan_.n_items; }
  [[nodiscard]] std::int64_t n_core_items() const { return plan_.n_core_items; }
  [[nodiscard]] const exec::Executable& executable() const { return *executable_; }

 private:
  /// Work items [begin, end).
  struct Range {
    std::int64_t begin;
    std::int64_t end;

    [[nodiscard]] std::int64_t size() const { return end - begin; }
  };

  bool run_now();
  bool ready_now(std::vector<std::uintptr_t>& state);
  void check_number(std::size_t n_arguments) const;
  void exchange(std::vector<std::shared_ptr<mesh::Buffer>>& arguments);
  [[nodiscard]] Range range_of(Phase phase) const;
  /// Whether a run is two launches.
  [[nodiscard]] bool is_split() const;
  /// Bytes that the current phase must move.
  [[nodiscard]] std::int64_t useful_bytes() const;
  int launch(const op2_context_v1& context, Range range);
  [[nodiscard]] DeviceLoop& device_loop(Phase phase);
  void ensure_plan();
  void build_plan();
  void find_positions();
  [[nodiscard]] plan::PositionSpec position_spec(std::size_t matrix);
  [[nodiscard]] bool plan_is_stale() const;
  [[nodiscard]] plan::ConflictSet conflicts() const;
  [[nodiscard]] plan::PlanRequest plan_request() const;
  void invert(const abi::Inversion& inversion, plan::PlanRequest& request) const;
  [[nodiscard]] int threads_for_size() const;
  [[nodiscard]] bool is_alone();
  void size_scratch();
  void note_uses();
  [[nodiscard]] mesh::Use use_of(const abi::Parameter& argument) const;
  void gather_addresses();
  void check_fork() const;
  bool run_on_host();
  bool make_ready_on_host();
  void count_run();
  // as a member of a shared region
  [[nodiscard]] bool opens_team() const override { return executable_->is_parallel; }
  [[nodiscard]] std::unique_lock<std::mutex> lock() override { return std::unique_lock(mutex_); }
  bool make_ready_for_team() override;
  [[nodiscard]] const op2_context_v1& context() const override { return context_; }
  int launch(const op2_context_v1& context) override;
  void note_launch(std::int64_t start, bool was_alone) override;
  [[nodiscard]] bool has_failed() const override { return error_[0] != 0; }
  void check(int status) const override;
  void save(std::size_t use);
  [[nodiscard]] std::unique_ptr<std::byte[]> spare(std::size_t use, std::int64_t n_bytes);
  [[nodiscard]] const std::vector<mesh::BufferUse>& current_uses() const {
    return is_saving_ || phase_ != Phase::all ? kept_uses_ : uses_;
  }
  bool bring_to_device();
  bool run_on_device();
  [[nodiscard]] bool is_measured();
  void note(std::string_view kind, std::int64_t begin, std::int64_t n_bytes) const;
  void count_writes();

  ExecutablePtr executable_;
  Binding binding_;
  std::vector<mesh::BufferUse> uses_;       // of arguments and constants
  std::vector<mesh::BufferUse> kept_uses_;  // the same, where not all is overwritten unseen
  std::string what_;                        // "par_loop 'res'"
  LaunchOptions options_;
  std::shared_ptr<plan::PlanCache> plans_;

  std::mutex mutex_;          // held while running
  Phase phase_ = Phase::all;  // of the current run
  bool has_plan_ = false;
  plan::LoopPlan plan_;
  std::vector<plan::MapPointer> matrix_maps_;   // behind the positions, where these are not the
                                                // Maps
  std::vector<plan::PositionSpec> positions_;   // [matrices] as find_positions() found them
  std::vector<plan::HostArray> matrix_arrays_;  // [2 * matrices] row starts, positions
  std::vector<std::int64_t> map_versions_;      // [maps] at the making of the plan
  std::vector<void*> argv_;
  std::unique_ptr<std::byte[]> scratch_;  // not initialised: lanes touch their part first
  op2_context_v1 context_{};
  std::shared_ptr<TeamChoice> team_;
  long error_[4] = {0, 0, 0, 0};

  std::shared_ptr<DeviceMirror> mirror_;                     // null on the host
  std::array<std::unique_ptr<DeviceLoop>, 3> device_loops_;  // by Phase, made when first asked for
  std::vector<DeviceLoop*> whole_;                           // the loops of a whole run
  std::uintptr_t n_device_loops_ = 0;                        // made so far for runs
  std::vector<void*> handles_;                               // [uses_] on the device

  /// The former values of an argument, on the host or on the device.
  struct Saved {
    std::size_t use;
    std::int64_t n_bytes;
    std::unique_ptr<std::byte[]> on_host;
    std::shared_ptr<void> on_device;
  };
  std::vector<int> save_also_;  // further arguments, besides the written ones
  bool is_saving_ = false;
  std::vector<Saved> saved_;
  std::vector<Saved> spares_;  // the memory of the last time, on the host

  std::shared_ptr<Timing> timing_;
  std::int64_t trace_number_ = 0;  // of the profile of the next two
  std::int64_t n_profiled_ = 0;    // calls
  bool has_run_ = false;
};

}  // namespace op2::runtime
