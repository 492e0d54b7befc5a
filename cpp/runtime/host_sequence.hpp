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

/// @brief What a graph on the host put into parallel regions that several loops share.
struct TeamReport {
  int n_regions = 0;  ///< that a run opens
  int n_shared = 0;   ///< loops in them that their teams carried out
  int n_alone = 0;    ///< what one thread did in them while the others waited
  std::string why;    ///< why there are none; empty: there are some, none was tried, or no loop
                      ///< opens a team
};

/// @brief Tasks that run on the host one after the other.
///
/// Those that stand behind each other can be in one parallel region, where threads wait for each
/// other at barriers: a team of threads need not be woken for each loop. In such a region
///
/// - a loop that a team carries out is shared out as it is in a region of its own, so that results
///   have the same bits;
/// - a loop that is one thread's, a fill or a copy are done by the first thread.
///
/// A region begins and ends with loops that a team carries out. Whether it pays is measured: after
/// the first run, loops go by turns each in a region of its own and in shared ones, and the faster
/// way is kept. Without a team_opener() there is no shared region.
class HostSequence {
 public:
  using Clock = std::function<std::int64_t()>;  // nanoseconds

  explicit HostSequence(std::vector<std::shared_ptr<GraphTask>> tasks, Clock clock = trace_clock);

  /// @brief Run all tasks, @p n_times.
  /// @return Whether values were copied between host and devices; see GraphTask::run().
  /// @throws As GraphTask::run(): what comes behind has not run then. Behind a loop that failed in
  /// a shared region one more may have run.
  bool run(std::int64_t n_times);

  [[nodiscard]] ReplayTrial trial() const;
  [[nodiscard]] TeamReport report() const;

 private:
  /// A task, and how it takes part in a region.
  struct Step {
    GraphTask* task = nullptr;
    TeamLoop* loop = nullptr;  // null: one thread's
    op2_context_v1 context{};  // to launch it with by itself; a loop may be several steps

    /// Whether a team carries it out now; known when it is ready.
    [[nodiscard]] bool is_shared() const { return loop != nullptr && context.flags == 0; }
  };
  /// Tasks that can be in one region.
  struct Stretch {
    std::vector<Step> steps;
    std::vector<TeamLoop*> loops;  // each once, in the order in which they are locked
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
  std::mutex mutex_;  // one run at a time
  bool has_run_ = false;
  // What is told to others during a run, too: only the run changes it.
  mutable std::mutex told_mutex_;
  ReplayTrial trial_;
  TeamReport report_;
};

}  // namespace op2::runtime
