// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/team_choice.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace op2::runtime {
namespace {

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
// Of a trial, which has to see several stops: threads are stopped for some milliseconds at a time.
constexpr double part_of_short_trial = 0.25;
constexpr double kept_trials = 5;
constexpr std::int64_t longest_rest = 4;  // rounds
constexpr int n_first_runs = 3;
constexpr int n_counted = 256;  // runs that the shortest is of, and up to twice as many

}  // namespace

TeamRules TeamRules::of(const Tuning& tuning, std::int64_t n_elements) {
  // With more elements one thread has to move so much, or the kernel has to be so light, that a
  // first run by one thread would not tell.
  return {std::int64_t{1000} * tuning.short_microseconds, 1e3 * tuning.team_trial_microseconds,
          tuning.team_part, n_elements < std::int64_t{64} * tuning.thread_elements};
}

TeamChoice::TeamChoice(const TeamRules& rules)
    : rules_(rules),
      n_first_(rules.is_small && rules.short_nanoseconds > 0 ? n_first_runs : 0),
      shortest_(unknown),
      shortest_before_(unknown) {}

void TeamChoice::Runs::add(double more, double most) {
  keep(most);
  nanoseconds += more;
  n += 1;
  of_this_round += more;
}

void TeamChoice::Runs::keep(double most) {
  if (nanoseconds <= most) return;
  n *= most / nanoseconds;
  nanoseconds = most;
}

bool TeamChoice::is_short() const {
  return std::min(shortest_, shortest_before_) < rules_.short_nanoseconds;
}

/// Until there are enough of a round, or it is clear what is faster.
bool TeamChoice::wants_a_trial(const Runs& runs, const Runs& others) const {
  const double trial = rules_.trial_nanoseconds;
  if (runs.of_this_round >= trial) return false;
  if (runs.of_this_round == 0 || runs.n < 3 || others.n == 0) return true;
  return runs.mean() < (runs.of_this_round < part_of_short_trial * trial ? 3 : 1.5) * others.mean();
}

bool TeamChoice::alone_is_faster() const {
  return alone_.n == 0 || (team_.n > 0 && rules_.team_part * alone_.mean() <= team_.mean());
}

/// A team that has lost rests, the longer the more often it lost.
void TeamChoice::end_round() {
  if (round_ != 0 && alone_.of_this_round > 0 && team_.of_this_round > 0) {
    rest_ = alone_is_faster() ? std::clamp<std::int64_t>(2 * rest_, 1, longest_rest) : 0;
    rests_until_ = round_ + 1 + rest_;
  }
  for (Runs* runs : {&alone_, &team_}) {
    runs->keep(part_of_short_trial * rules_.trial_nanoseconds);  // that was then
    runs->of_this_round = 0;
  }
}

bool TeamChoice::is_alone(std::int64_t round) {
  const std::lock_guard lock(mutex_);
  if (n_first_ > 0 || is_short()) return true;
  if (round != round_) {
    end_round();
    round_ = round;
  }
  if (round == 0) return false;
  if (round < rests_until_) return true;
  const bool alone_first = alone_is_faster();
  const Runs& faster = alone_first ? alone_ : team_;
  const Runs& slower = alone_first ? team_ : alone_;
  if (!wants_a_trial(faster, slower) && wants_a_trial(slower, faster)) return !alone_first;
  return alone_first;
}

void TeamChoice::note(bool was_alone, std::int64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  (was_alone ? alone_ : team_)
      .add(static_cast<double>(nanoseconds), kept_trials * rules_.trial_nanoseconds);
  if (!was_alone) return;
  if (n_first_ > 0) --n_first_;
  if (++n_counted_ > n_counted) {
    n_counted_ = 1;
    shortest_before_ = std::exchange(shortest_, unknown);
  }
  shortest_ = std::min(shortest_, nanoseconds);
}

}  // namespace op2::runtime
