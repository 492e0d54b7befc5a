// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host_sequence.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <set>
#include <utility>

#include "runtime/host/team.hpp"

namespace op2::runtime {
namespace {

// A host's times vary more than a device's.
constexpr int n_each_on_host = 8;
constexpr int least_loops = 2;  // that have a region in common

}  // namespace

/// Steps that the threads of one team carry out.
class HostSequence::Region {
 public:
  Region(HostSequence& sequence, Stretch& stretch, std::size_t first, std::size_t last)
      : sequence_(sequence), stretch_(stretch), first_(first), last_(last) {}

  /// @return Whether values were copied between host and devices.
  bool run(op2_open_team_v1 open) {
    int n_threads = 1;
    for (std::size_t i = first_; i < last_; ++i) {
      const Step& step = stretch_.steps[i];
      if (step.is_shared()) n_threads = std::max(n_threads, step.context.n_threads);
    }
    open(
        n_threads,
        [](const op2_team_v1* team, void* given) { static_cast<Region*>(given)->carry_out(*team); },
        this);
    if (failure_) std::rethrow_exception(failure_);
    for (std::size_t i = first_; i < last_; ++i) {
      if (stretch_.steps[i].is_shared()) stretch_.steps[i].loop->check(0);
    }
    return has_copied_;
  }

 private:
  /// Each thread. All leave behind the same step.
  void carry_out(op2_team_v1 team) {
    const bool is_first = team.thread == 0;
    for (std::size_t i = first_; i < last_; ++i) {
      Step& step = stretch_.steps[i];
      if (step.is_shared()) {
        op2_context_v1 context = step.context;
        context.flags = OP2_IN_TEAM;
        context.parameters = &team;
        const std::int64_t start = is_first ? sequence_.clock_() : 0;
        step.loop->launch(context);  // ends with all of them
        if (is_first) note(step, i, start);
      } else {
        if (is_first) carry_out_alone(step, i);
        team.wait();
      }
      if (failed_at_.load() <= i) return;
    }
  }

  void note(Step& step, std::size_t i, std::int64_t start) {
    try {
      step.loop->note_launch(start, false);
    } catch (...) {  // must not leave the region
      failure_ = std::current_exception();
      fail(i + 1);
    }
    // the others may be in the next step already, so all end behind that
    if (step.loop->has_failed()) fail(i + 1);
  }

  void carry_out_alone(Step& step, std::size_t i) {
    try {
      has_copied_ |= sequence_.carry_out(step);
    } catch (...) {  // must not leave the region
      failure_ = std::current_exception();
      fail(i);
    }
  }

  void fail(std::size_t at) { failed_at_ = std::min(failed_at_.load(), at); }

  HostSequence& sequence_;
  Stretch& stretch_;
  std::size_t first_;
  std::size_t last_;
  std::atomic<std::size_t> failed_at_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure_;  // the first thread's
  bool has_copied_ = false;     // the first thread's
};

HostSequence::HostSequence(std::vector<std::shared_ptr<GraphTask>> tasks, Clock clock)
    : tasks_(std::move(tasks)), clock_(std::move(clock)) {
  trial_ = ReplayTrial(n_each_on_host);
  find_stretches();
}

void HostSequence::find_stretches() {
  bool is_open = false;
  for (const std::shared_ptr<GraphTask>& task : tasks_) {
    TeamLoop* loop = task->team_loop();
    const bool can_join = loop != nullptr || task->is_of_values();
    if (!is_open || !can_join) stretches_.emplace_back();
    is_open = can_join;
    Stretch& stretch = stretches_.back();
    stretch.steps.push_back({task.get(), loop, {}});
    if (loop != nullptr) stretch.loops.push_back(loop);
  }
  for (Stretch& stretch : stretches_) {
    const auto n = std::ranges::count_if(stretch.loops, &TeamLoop::opens_team);
    has_teams_ = has_teams_ || n > 0;
    may_share_ = may_share_ || n >= least_loops;
    // One order for all graphs, or two with the same loops could wait for each other.
    const std::set<TeamLoop*> unique(stretch.loops.begin(), stretch.loops.end());
    stretch.loops.assign(unique.begin(), unique.end());
  }
}

bool HostSequence::run(std::int64_t n_times) {
  const std::lock_guard lock(mutex_);
  bool has_copied = false;
  for (std::int64_t i = 0; i < n_times; ++i) {
    const Way kept = trial_.single();
    const bool is_first = !std::exchange(has_run_, true);  // plans are made
    if (is_first || !may_share_ || kept == Way::alone) {
      has_copied |= run_each();
      continue;
    }
    if (kept == Way::as_one) {
      has_copied |= run_in_regions();
      continue;
    }
    const Way next = trial_.next();
    const std::int64_t start = clock_();
    has_copied |= next == Way::alone ? run_each() : run_in_regions();
    const std::lock_guard told(told_mutex_);
    // without a region nothing was compared
    if (next == Way::alone || report_.n_regions > 0) trial_.note(next, clock_() - start);
  }
  return has_copied;
}

bool HostSequence::run_each() {
  bool has_copied = false;
  for (const std::shared_ptr<GraphTask>& task : tasks_) has_copied |= task->run();
  return has_copied;
}

bool HostSequence::run_in_regions() {
  TeamReport report;
  bool has_copied = false;
  for (Stretch& stretch : stretches_) has_copied |= run_stretch(stretch, report);
  if (report.n_regions == 0) {
    report.why = team_opener() == nullptr ? "nothing opens a team for several loops"
                                          : "one thread carries out all loops, or all but one";
  }
  const std::lock_guard told(told_mutex_);
  report_ = report;
  return has_copied;
}

/// Everything but the launches, in the order of the steps: what a step reads is brought to the host
/// before a later one says that it writes it.
/// @return How many steps are ready; fewer than all if there is a @p failure.
std::size_t HostSequence::make_ready(Stretch& stretch, bool& has_copied,
                                     std::exception_ptr& failure) {
  for (std::size_t i = 0; i < stretch.steps.size(); ++i) {
    Step& step = stretch.steps[i];
    try {
      if (step.loop == nullptr) {
        has_copied |= step.task->bring_to_host();
        continue;
      }
      has_copied |= step.loop->make_ready_for_team();
    } catch (...) {  // what comes before is carried out nevertheless
      failure = std::current_exception();
      return i;
    }
    step.context = step.loop->context();
  }
  return stretch.steps.size();
}

bool HostSequence::run_stretch(Stretch& stretch, TeamReport& report) {
  std::vector<std::unique_lock<std::mutex>> locks;
  locks.reserve(stretch.loops.size());
  for (TeamLoop* loop : stretch.loops) locks.push_back(loop->lock());
  bool has_copied = false;
  std::exception_ptr failure;
  std::vector<Step>& steps = stretch.steps;
  const std::size_t n_ready = make_ready(stretch, has_copied, failure);
  int n_shared = 0;
  std::size_t first = 0;
  std::size_t last = 0;  // past the last that is shared
  for (std::size_t i = 0; i < n_ready; ++i) {
    if (!steps[i].is_shared()) continue;
    if (n_shared++ == 0) first = i;
    last = i + 1;
  }
  std::size_t next = 0;
  const op2_open_team_v1 open = team_opener();
  if (n_shared >= least_loops && !failure && open != nullptr) {
    for (; next < first; ++next) has_copied |= carry_out(steps[next]);
    has_copied |= Region(*this, stretch, first, last).run(open);
    next = last;
    ++report.n_regions;
    report.n_shared += n_shared;
    report.n_alone += static_cast<int>(last - first) - n_shared;
  }
  for (; next < n_ready; ++next) has_copied |= carry_out(steps[next]);
  if (failure) std::rethrow_exception(failure);
  return has_copied;
}

bool HostSequence::carry_out(Step& step) {
  if (step.loop == nullptr) return step.task->run();
  const std::int64_t start = clock_();
  const int status = step.loop->launch(step.context);
  step.loop->note_launch(start, !step.is_shared());
  step.loop->check(status);
  return false;
}

void HostSequence::learn(const std::vector<Measurement>& measured) {
  const std::scoped_lock lock(mutex_, told_mutex_);
  for (const auto& [way, nanoseconds] : measured) trial_.learn(way, nanoseconds);
}

ReplayTrial HostSequence::trial() const {
  const std::lock_guard told(told_mutex_);
  return trial_;
}

TeamReport HostSequence::report() const {
  if (!has_teams_) return {};
  if (!may_share_) return {.why = "no two loops that teams carry out stand behind each other"};
  const std::lock_guard told(told_mutex_);
  if (trial_.single() == Way::alone) {
    return {.why = "regions of their own were measured to be faster"};
  }
  return report_;
}

}  // namespace op2::runtime
