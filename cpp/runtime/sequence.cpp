// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/sequence.hpp"

#include <algorithm>
#include <utility>

namespace op2::runtime {
namespace {

// Fewer launches cost no more one by one.
constexpr std::size_t least_launches = 3;

}  // namespace

Way ReplayTrial::next() const {
  Way found = Way::as_one;
  int least = as_one.n;
  if (has_branches && side_by_side.n < least) {
    found = Way::side_by_side;
    least = side_by_side.n;
  }
  return alone.n < least ? Way::alone : found;
}

void ReplayTrial::note(Way way, std::int64_t nanoseconds) {
  Measured& measured = way == Way::alone ? alone : way == Way::as_one ? as_one : side_by_side;
  const bool is_first = measured.n++ == 0;
  measured.shortest = is_first ? nanoseconds : std::min(measured.shortest, nanoseconds);
}

Way ReplayTrial::kept() const {
  const int least = std::min(alone.n, has_branches ? std::min(as_one.n, side_by_side.n) : as_one.n);
  if (least < n_each) return Way::undecided;
  const bool is_better = has_branches && side_by_side.shortest < as_one.shortest;
  const Measured& best = is_better ? side_by_side : as_one;
  if (alone.shortest < best.shortest) return Way::alone;
  return is_better ? Way::side_by_side : Way::as_one;
}

Sequence::Sequence(std::vector<std::shared_ptr<GraphTask>> loops,
                   std::vector<std::vector<std::size_t>> order, Clock clock)
    : loops_(std::move(loops)), order_(std::move(order)), clock_(std::move(clock)) {}

bool Sequence::run(std::int64_t n_times) {
  const std::lock_guard lock(mutex_);
  bool has_copied = false;
  if (n_times > 0 && !has_run_) {
    has_copied = run_once();  // plans are made, and values brought there
    has_run_ = true;
    --n_times;
  }
  if (n_times <= 0) return has_copied;
  Device* device = nullptr;
  if (!is_profiled()) device = as_one_ || side_by_side_ ? device_ : recorder();
  if (device != nullptr) return replay(*device, n_times) || has_copied;
  forget_recordings();
  for (std::int64_t i = 0; i < n_times; ++i) has_copied |= run_once();
  return has_copied;
}

std::uintptr_t Sequence::native() const {
  const std::lock_guard lock(mutex_);
  if (as_one_) return as_one_->native();
  return side_by_side_ ? side_by_side_->native() : 0;
}

ReplayTrial Sequence::trial() const {
  const std::lock_guard lock(mutex_);
  return trial_;
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

Device* Sequence::recorder() const {
  if (n_recordings_ >= most_recordings) return nullptr;
  Device* found = nullptr;
  std::size_t n_launches = 0;
  for (const std::shared_ptr<GraphTask>& loop : loops_) {
    Device* device = loop->recorder();
    if (device == nullptr || (found != nullptr && found != device)) return nullptr;
    found = device;
    n_launches += loop->n_launches();
  }
  return n_launches < least_launches ? nullptr : found;
}

bool Sequence::replay(Device& device, std::int64_t n_times) {
  std::vector<std::uintptr_t> state;
  bool has_copied = false;
  for (const std::shared_ptr<GraphTask>& loop : loops_) has_copied |= loop->make_ready(state);
  if (state != state_) {
    forget_recordings();
    state_ = std::move(state);
  }
  // a loop that was planned anew may be one that cannot be recorded
  if (!as_one_ && !side_by_side_ && recorder() == &device) record(device);
  for (std::int64_t i = 0; i < n_times; ++i) launch_all(device);
  for (const std::shared_ptr<GraphTask>& loop : loops_) loop->count_replays(n_times);
  return has_copied;
}

void Sequence::forget_recordings() {
  as_one_.reset();
  side_by_side_.reset();
}

void Sequence::launch_all(Device& device) {
  if (!as_one_ && !side_by_side_) {
    launch(device, Way::alone);
  } else if (trial_.kept() == Way::undecided) {
    measure(device);
  } else {
    launch(device, trial_.kept());
  }
}

void Sequence::launch(Device& device, Way way) {
  if (way == Way::side_by_side && side_by_side_) {
    device.replay(*side_by_side_);
  } else if (way != Way::alone && as_one_) {
    device.replay(*as_one_);
  } else {
    for (const std::shared_ptr<GraphTask>& loop : loops_) loop->launch_ready();
  }
}

void Sequence::measure(Device& device) {
  const Way way = trial_.next();
  device.finish();
  const std::int64_t start = clock_();
  launch(device, way);
  device.finish();
  trial_.note(way, clock_() - start);
  const Way kept = trial_.kept();
  if (kept == Way::undecided) return;
  if (kept != Way::as_one) as_one_.reset();
  if (kept != Way::side_by_side) side_by_side_.reset();
  if (kept == Way::alone) n_recordings_ = most_recordings;
}

void Sequence::record(Device& device) {
  ++n_recordings_;
  device_ = &device;
  const Way kept = trial_.kept();
  if (kept != Way::as_one && !order_.empty()) side_by_side_ = recorded(device, true);
  if (kept != Way::side_by_side || !side_by_side_) as_one_ = recorded(device, false);
  trial_.has_branches = kept == Way::undecided ? as_one_ && side_by_side_ : trial_.has_branches;
  if (kept == Way::undecided && !trial_.has_branches) side_by_side_.reset();
}

std::unique_ptr<Recording> Sequence::recorded(Device& device, bool is_side_by_side) {
  if (!device.start_recording()) {
    if (!is_side_by_side) n_recordings_ = most_recordings;
    return nullptr;
  }
  bool is_ordered = true;
  try {
    for (std::size_t i = 0; i < loops_.size() && is_ordered; ++i) {
      if (is_side_by_side) is_ordered = device.start_group(order_[i]);
      if (is_ordered) loops_[i]->launch_ready();
    }
  } catch (...) {
    (void)device.stop_recording();
    throw;
  }
  std::unique_ptr<Recording> made = device.stop_recording();
  return is_ordered ? std::move(made) : nullptr;
}

}  // namespace op2::runtime
