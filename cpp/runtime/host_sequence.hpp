// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/trace.hpp"
#include "runtime/graph_task.hpp"
#include "runtime/host/team_loop.hpp"
#include "runtime/sequence.hpp"

namespace op2::runtime {

/// @brief How a graph on the host used parallel regions shared by several loops.
struct TeamReport {
  int n_regions = 0;  ///< opened by a run
  int n_shared = 0;   ///< loops inside, run by teams
  int n_alone = 0;    ///< tasks inside, run by a single thread while the others waited
  std::string why;    ///< why there are none; empty: there are some, none was tried, or no loop
                      ///< opens a team
};

/// @brief Tasks on the host, run in sequence.
///
/// Tasks behind each other can share a parallel region. Threads wait for each other at barriers
/// there, so a team of threads need not be woken for each loop. In a shared region
///
/// - a team's loop is shared out as in a separate region, so results have the same bits;
/// - a single thread's loop, a fill or a copy are done by the first thread.
///
/// A region begins and ends with a team's loop. The gain is measured: after the first run, loops go
/// by turns in separate regions and in shared regions, and the faster way is kept. Without a
/// team_opener() there is no shared region.
class HostSequence {
 public:
  using Clock = std::function<std::int64_t()>;  // nanoseconds

  explicit HostSequence(std::vector<std::shared_ptr<GraphTask>> tasks, Clock clock = trace_clock);

  /// @brief Run all tasks, @p n_times.
  /// @return Whether values were copied between host and devices; see GraphTask::run().
  /// @throws As GraphTask::run(): later tasks have not run then. Behind a failed loop in a shared
  /// region one more task may have run.
  bool run(std::int64_t n_times);

  /// @brief Take measurements of another process, before the first run.
  void learn(const std::vector<Measurement>& measured);
  [[nodiscard]] ReplayTrial trial() const;
  [[nodiscard]] TeamReport report() const;

 private:
  /// A task, and its part in a region.
  struct Step {
    GraphTask* task = nullptr;
    TeamLoop* loop = nullptr;  // null: a single thread's
    op2_context_v1 context{};  // to launch the loop alone; a loop may be several steps

    /// Whether a team runs the loop now; known when the loop is ready.
    [[nodiscard]] bool is_shared() const { return loop != nullptr && context.flags == 0; }
  };
  /// Tasks for a common region.
  struct Stretch {
    std::vector<Step> steps;
    std::vector<TeamLoop*> loops;  // each once, in the order of locking
  };
  class Region;

  void find_stretches();
  bool run_each();
  bool run_in_regions();
  bool run_stretch(Stretch& stretch, TeamReport& report);
  static std::size_t make_ready(Stretch& stretch, bool& has_copied, std::exception_ptr& failure);
  bool carry_out(Step& step);

  std::vector<std::shared_ptr<GraphTask>> tasks_;
  std::vector<Stretch> stretches_;  // all tasks, in their order
  bool has_teams_ = false;          // a loop may be a team's
  bool may_share_ = false;          // a stretch has several of them
  Clock clock_;
  std::mutex mutex_;  // a single run at a time
  bool has_run_ = false;
  // Guards the answers to others during a run, too: only the run changes them.
  mutable std::mutex told_mutex_;
  ReplayTrial trial_;
  TeamReport report_;
};

}  // namespace op2::runtime
