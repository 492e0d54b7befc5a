// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/sequence.hpp"

#include <algorithm>
#include <utility>

namespace op2::runtime {
namespace {

// Fewer launches cost no more one by one.
constexpr std::size_t least_launches = 3;
// What changes more often than that is not worth another recording.
constexpr int most_recordings = 8;

}  // namespace

Sequence::Sequence(std::vector<std::shared_ptr<PreparedLoop>> loops, Clock clock)
    : loops_(std::move(loops)), clock_(std::move(clock)) {}

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
  if (!is_profiled()) device = recording_ ? device_ : recorder();
  if (device != nullptr) return replay(*device, n_times) || has_copied;
  recording_.reset();
  for (std::int64_t i = 0; i < n_times; ++i) has_copied |= run_once();
  return has_copied;
}

std::uintptr_t Sequence::native() const {
  const std::lock_guard lock(mutex_);
  return recording_ ? recording_->native() : 0;
}

ReplayTrial Sequence::trial() const {
  const std::lock_guard lock(mutex_);
  return trial_;
}

bool Sequence::run_once() {
  bool has_copied = false;
  for (const std::shared_ptr<PreparedLoop>& loop : loops_) has_copied |= loop->run();
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
  for (const std::shared_ptr<PreparedLoop>& loop : loops_) {
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
  for (const std::shared_ptr<PreparedLoop>& loop : loops_) has_copied |= loop->make_ready(state);
  if (state != state_) {
    recording_.reset();
    state_ = std::move(state);
  }
  // a loop that was planned anew may be one that cannot be recorded
  if (!recording_ && recorder() == &device) record(device);
  for (std::int64_t i = 0; i < n_times; ++i) launch_all(device);
  for (const std::shared_ptr<PreparedLoop>& loop : loops_) loop->count_replays(n_times);
  return has_copied;
}

void Sequence::launch_all(Device& device) {
  if (!recording_) {
    launch_each();
  } else if (!trial_.is_decided()) {
    measure(device);
  } else {
    device.replay(*recording_);
  }
}

void Sequence::launch_each() {
  for (const std::shared_ptr<PreparedLoop>& loop : loops_) loop->launch_ready();
}

void Sequence::measure(Device& device) {
  const bool is_alone = trial_.n_alone < trial_.n_as_one;
  device.finish();
  const std::int64_t start = clock_();
  if (is_alone) {
    launch_each();
  } else {
    device.replay(*recording_);
  }
  device.finish();
  const std::int64_t took = clock_() - start;
  std::int64_t& shortest = is_alone ? trial_.alone : trial_.as_one;
  int& n = is_alone ? trial_.n_alone : trial_.n_as_one;
  shortest = n == 0 ? took : std::min(shortest, took);
  ++n;
  if (!trial_.is_decided() || trial_.pays()) return;
  recording_.reset();
  n_recordings_ = most_recordings;
}

void Sequence::record(Device& device) {
  ++n_recordings_;
  device_ = &device;
  if (!device.start_recording()) {
    n_recordings_ = most_recordings;
    return;
  }
  try {
    for (const std::shared_ptr<PreparedLoop>& loop : loops_) loop->launch_ready();
  } catch (...) {
    (void)device.stop_recording();
    throw;
  }
  recording_ = device.stop_recording();
}

}  // namespace op2::runtime
