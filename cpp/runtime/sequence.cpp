// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace op2::runtime {
namespace {

// Fewer launches cost no more one by one.
constexpr std::size_t least_launches = 3;
// Of so many, those that come before the first are little.
constexpr std::size_t most_launches_of_several = 256;
/// In which order single runs take turns. The first one is kept unless another one is faster.
constexpr std::array turns{Way::as_one, Way::side_by_side, Way::alone};

}  // namespace

ReplayTrial::ReplayTrial(int n_wanted)
    : n_wanted_(n_wanted),
      turns_(turns.size(), {.n_each = n_wanted}),
      several_(1, {.n_each = n_wanted}) {
  set_branches(false);
}

std::size_t ReplayTrial::arm_of(Way way) {
  return static_cast<std::size_t>(std::ranges::find(turns, way) - turns.begin());
}

Way ReplayTrial::way_of(std::size_t arm) {
  return turns.at(arm);
}

std::int64_t ReplayTrial::n_at_once(std::int64_t n_left) const {
  return std::clamp<std::int64_t>(n_left / std::max(turns_.n_left(), 1), 1, most_at_once);
}

void ReplayTrial::note(Way way, std::int64_t nanoseconds) {
  const auto took = static_cast<double>(nanoseconds);
  if (way == Way::several) return several_.note(0, took);
  turns_.note(arm_of(way), took);
}

void ReplayTrial::learn(Way way, double nanoseconds) {
  if (way == Way::side_by_side) set_branches(true);
  for (int i = 0; i < n_wanted_; ++i) {
    way == Way::several ? several_.note(0, nanoseconds) : turns_.note(arm_of(way), nanoseconds);
  }
}

const Trial::Arm& ReplayTrial::arm(Way way) const {
  return way == Way::several ? several_.arm(0) : turns_.arm(arm_of(way));
}

Way ReplayTrial::single() const {
  return turns_.is_decided() ? way_of(turns_.best()) : Way::undecided;
}

Way ReplayTrial::kept() const {
  const Way best = single();
  const bool is_known = best != Way::undecided && several_.is_decided();
  return is_known && arm(Way::several).shortest < arm(best).shortest ? Way::several : best;
}

Sequence::Sequence(std::vector<std::shared_ptr<GraphTask>> loops,
                   std::vector<std::vector<std::size_t>> order, Clock clock)
    : loops_(std::move(loops)), order_(std::move(order)), clock_(std::move(clock)) {
  const std::set<std::shared_ptr<GraphTask>> unique(loops_.begin(), loops_.end());
  is_repeating_ = unique.size() < loops_.size();
  has_exchange_ =
      std::ranges::any_of(loops_, [](const auto& loop) { return loop->may_exchange(); });
}

void Sequence::learn(const std::vector<Measurement>& measured) {
  const std::lock_guard lock(mutex_);
  for (const auto& [way, nanoseconds] : measured) trial_.learn(way, nanoseconds);
  if (trial_.single() == Way::alone) n_recordings_ = most_recordings;
  tell();
}

bool Sequence::run(std::int64_t n_times) {
  const std::lock_guard lock(mutex_);
  try {
    const bool has_copied = run_all(n_times);
    tell();
    return has_copied;
  } catch (...) {
    tell();
    throw;
  }
}

bool Sequence::run_all(std::int64_t n_times) {
  bool has_copied = false;
  if (n_times > 0 && !has_run_) {
    has_copied = run_once();  // plans are made, and values brought there
    has_run_ = true;
    --n_times;
  }
  if (n_times <= 0) return has_copied;
  Device* device = nullptr;
  why_not_.clear();
  const Recorded& last = recorded_[now_];
  if (is_profiled()) {
    why_not_ = "loops are launched one by one while they are measured";
  } else {
    device = last.as_one || last.side_by_side ? device_ : recorder();
  }
  if (device != nullptr) return replay(*device, n_times) || has_copied;
  forget_recordings();
  for (std::int64_t i = 0; i < n_times; ++i) has_copied |= run_once();
  return has_copied;
}

void Sequence::tell() {
  const std::lock_guard told(told_mutex_);
  told_trial_ = trial_;
  told_why_not_ = why_not_;
  told_native_ = 0;
  const Recorded& now = recorded_[now_];
  for (const auto* recording : {&now.several, &now.as_one, &now.side_by_side}) {
    if (!*recording) continue;
    told_native_ = (*recording)->native();
    return;
  }
}

std::uintptr_t Sequence::native() const {
  const std::lock_guard told(told_mutex_);
  return told_native_;
}

ReplayTrial Sequence::trial() const {
  const std::lock_guard told(told_mutex_);
  return told_trial_;
}

std::string Sequence::why_not() const {
  const std::lock_guard told(told_mutex_);
  return told_why_not_;
}

bool Sequence::run_once() {
  bool has_copied = false;
  for (const std::shared_ptr<GraphTask>& loop : loops_) has_copied |= loop->run();
  return has_copied;
}

bool Sequence::is_profiled() const {
  return std::any_of(loops_.begin(), loops_.end(),
                     [](const auto& loop) { return loop->is_profiled(); });
}

Device* Sequence::not_recorded(std::string why) {
  why_not_ = std::move(why);
  return nullptr;
}

Device* Sequence::recorder() {
  if (n_recordings_ >= most_recordings) {
    if (trial_.single() == Way::alone) return nullptr;  // which is faster
    return not_recorded(fmt::format("{} {} times, which is not recorded again",
                                    is_refused_
                                        ? "its loops could not be recorded"
                                        : "addresses, plans or Maps of its loops have changed",
                                    most_recordings));
  }
  // a loop keeps the addresses of one place
  if (is_repeating_ && has_exchange_) {
    return not_recorded("a loop is there twice, and Dats exchange their memory between the two");
  }
  Device* found = nullptr;
  std::size_t n_launches = 0;
  for (const std::shared_ptr<GraphTask>& loop : loops_) {
    Device* device = loop->recorder();
    if (device == nullptr) return not_recorded(loop->why_not_recorded());
    if (!device->can_record()) return not_recorded("the device's driver records no launches");
    if (found != nullptr && found != device) return not_recorded("its loops run on two devices");
    found = device;
    n_launches += loop->n_launches();
  }
  if (n_launches < least_launches) {
    return not_recorded(fmt::format("{} no more one by one",
                                    n_launches == 1 ? "one launch costs" : "two launches cost"));
  }
  return found;
}

bool Sequence::replay(Device& device, std::int64_t n_times) {
  bool has_copied = false;
  bool is_ready = false;
  std::int64_t n_counted = 0;
  for (std::int64_t n_left = n_times; n_left > 0;) {
    if (!is_ready) has_copied |= make_ready(device);
    is_ready = is_in_place_;
    const std::int64_t n_runs = launch_some(device, is_in_place_ ? n_left : 1);
    n_left -= n_runs;
    n_counted += n_runs;
    if (is_ready && n_left > 0) continue;
    for (const std::shared_ptr<GraphTask>& loop : loops_) loop->count_replays(n_counted);
    n_counted = 0;
  }
  return has_copied;
}

bool Sequence::make_ready(Device& device) {
  std::vector<std::uintptr_t> state;
  bool has_copied = false;
  for (const std::shared_ptr<GraphTask>& loop : loops_) has_copied |= loop->make_ready(state);
  is_in_place_ = !has_exchange_ || is_in_place(loops_);
  if (!is_in_place_ && state != recorded_[now_].state) now_ = 1 - now_;
  Recorded& now = recorded_[now_];
  if (state != now.state) {
    now.forget();
    now.state = std::move(state);
  }
  // a loop that was planned anew may be one that cannot be recorded
  if (!now.as_one && !now.side_by_side && recorder() == &device) record(device);
  return has_copied;
}

void Sequence::Recorded::forget() {
  as_one.reset();
  side_by_side.reset();
  several.reset();
}

void Sequence::forget_recordings() {
  for (Recorded& one : recorded_) one.forget();
}

std::int64_t Sequence::launch_some(Device& device, std::int64_t n_left) {
  const Way way = trial_.single();
  const Recorded& now = recorded_[now_];
  std::int64_t n_runs = 1;
  if (!now.as_one && !now.side_by_side) {
    launch(device, Way::alone);
  } else if (way == Way::undecided) {
    n_runs = trial_.n_at_once(n_left);
    measure(device, trial_.next(), n_runs);
    decide();
  } else if (n_left >= n_several && is_several_next(device)) {
    n_runs = n_several;
    if (!trial_.is_several_decided()) {
      measure(device, Way::several, n_runs);
    } else {
      launch(device, Way::several);
    }
  } else {
    launch(device, way);
  }
  return n_runs;
}

void Sequence::launch(Device& device, Way way) {
  const Recorded& now = recorded_[now_];
  if (way == Way::several) {
    device.replay(*now.several);
  } else if (way == Way::side_by_side && now.side_by_side) {
    device.replay(*now.side_by_side);
  } else if (way != Way::alone && now.as_one) {
    device.replay(*now.as_one);
  } else {
    for (const std::shared_ptr<GraphTask>& loop : loops_) loop->launch_ready();
  }
}

void Sequence::measure(Device& device, Way way, std::int64_t n_runs) {
  device.finish();
  const std::int64_t start = clock_();
  const std::int64_t n_launches = way == Way::several ? 1 : n_runs;
  for (std::int64_t i = 0; i < n_launches; ++i) launch(device, way);
  device.finish();
  trial_.note(way, (clock_() - start) / n_runs);
}

void Sequence::decide() {
  const Way kept = trial_.single();
  if (kept == Way::undecided) return;
  for (Recorded& one : recorded_) {
    if (kept != Way::as_one) one.as_one.reset();
    if (kept != Way::side_by_side) one.side_by_side.reset();
  }
  if (kept == Way::alone) n_recordings_ = most_recordings;
}

bool Sequence::is_several_next(Device& device) {
  std::unique_ptr<Recording>& several = recorded_[now_].several;
  if (trial_.is_several_decided() && trial_.kept() != Way::several) {
    several.reset();
    return false;
  }
  const Recorded& now = recorded_[now_];
  const Recording& single = now.as_one ? *now.as_one : *now.side_by_side;
  if (single.native() == 0) return false;  // they would be enqueued one by one all the same
  if (!several && is_several_possible_) {
    std::size_t n_launches = 0;
    for (const std::shared_ptr<GraphTask>& loop : loops_) n_launches += loop->n_launches();
    if (n_launches <= most_launches_of_several) several = recorded(device, false, n_several);
    is_several_possible_ = several != nullptr;
  }
  return several != nullptr;
}

void Sequence::record(Device& device) {
  ++n_recordings_;
  device_ = &device;
  const Way kept = trial_.single();
  Recorded& now = recorded_[now_];
  if (kept != Way::as_one && !order_.empty()) now.side_by_side = recorded(device, true, 1);
  if (kept != Way::side_by_side || !now.side_by_side) now.as_one = recorded(device, false, 1);
  if (kept == Way::undecided) {
    trial_.set_branches(now.as_one && now.side_by_side);
    if (!trial_.has_branches()) now.side_by_side.reset();
  }
  is_refused_ = !now.as_one && !now.side_by_side;
  if (is_refused_) why_not_ = "its loops could not be recorded; the next run tries it again";
}

std::unique_ptr<Recording> Sequence::recorded(Device& device, bool is_side_by_side,
                                              std::int64_t n_times) {
  if (!device.start_recording()) return nullptr;
  bool is_ordered = true;
  const std::size_t n = loops_.size() * static_cast<std::size_t>(n_times);
  try {
    for (std::size_t i = 0; i < n && is_ordered; ++i) {
      if (is_side_by_side) is_ordered = device.start_group(order_[i]);
      if (is_ordered) loops_[i % loops_.size()]->launch_ready();
    }
  } catch (...) {
    (void)device.stop_recording();
    throw;
  }
  std::unique_ptr<Recording> made = device.stop_recording();
  return is_ordered ? std::move(made) : nullptr;
}

}  // namespace op2::runtime
