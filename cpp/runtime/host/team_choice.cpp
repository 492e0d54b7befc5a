// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/team_choice.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace op2::runtime {
namespace {

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
// Nanoseconds. Threads are stopped for some milliseconds at a time: a trial has to see several.
constexpr double trial = 20e6;
constexpr double short_trial = trial / 4;
constexpr double kept = 5 * trial;
// Part of one thread's time in which a team has to be done. Less would not outlast the next stop.
constexpr double worth_a_team = 0.8;
constexpr std::int64_t longest_rest = 4;  // rounds
constexpr int n_first_runs = 3;
constexpr int n_counted = 256;  // runs that the shortest is of, and up to twice as many

}  // namespace

TeamChoice::TeamChoice(std::int64_t short_nanoseconds, bool is_small)
    : short_nanoseconds_(short_nanoseconds),
      n_first_(is_small && short_nanoseconds > 0 ? n_first_runs : 0),
      shortest_(unknown),
      shortest_before_(unknown) {}

void TeamChoice::Runs::add(double more) {
  keep(kept);
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
  return std::min(shortest_, shortest_before_) < short_nanoseconds_;
}

/// Until there are enough of a round, or it is clear what is faster.
bool TeamChoice::wants_a_trial(const Runs& runs, const Runs& others) {
  if (runs.of_this_round >= trial) return false;
  if (runs.of_this_round == 0 || runs.n < 3 || others.n == 0) return true;
  return runs.mean() < (runs.of_this_round < short_trial ? 3 : 1.5) * others.mean();
}

bool TeamChoice::alone_is_faster() const {
  return alone_.n == 0 || (team_.n > 0 && worth_a_team * alone_.mean() <= team_.mean());
}

/// A team that has lost rests, the longer the more often it lost.
void TeamChoice::end_round() {
  if (round_ != 0 && alone_.of_this_round > 0 && team_.of_this_round > 0) {
    rest_ = alone_is_faster() ? std::clamp<std::int64_t>(2 * rest_, 1, longest_rest) : 0;
    rests_until_ = round_ + 1 + rest_;
  }
  for (Runs* runs : {&alone_, &team_}) {
    runs->keep(short_trial);  // that was then
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
  (was_alone ? alone_ : team_).add(static_cast<double>(nanoseconds));
  if (!was_alone) return;
  if (n_first_ > 0) --n_first_;
  if (++n_counted_ > n_counted) {
    n_counted_ = 1;
    shortest_before_ = std::exchange(shortest_, unknown);
  }
  shortest_ = std::min(shortest_, nanoseconds);
}

}  // namespace op2::runtime
