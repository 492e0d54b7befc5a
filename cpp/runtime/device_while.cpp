// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/device_while.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "base/overload.hpp"

namespace op2::runtime {
namespace {

/// Steps may run in the order in which they stand.
void add_tasks(const std::vector<LoopStep>& steps, std::vector<LoopKernel>& found) {
  for (const LoopStep& step : steps) {
    std::visit(overload{[&](const LoopKernel& task) { found.push_back(task); },
                        [&](const std::vector<LoopStep>& inner) { add_tasks(inner, found); }},
               step.what);
  }
}

/// Whether all numbers of a type are some of float64.
bool is_exact(const ConditionSide& side) {
  return side.buffer == nullptr || side.dtype == DType::float64 || side.dtype == DType::float32 ||
         side.dtype == DType::int32 || side.dtype == DType::uint32;
}

}  // namespace

DeviceWhile::DeviceWhile(const std::vector<LoopStep>& steps, WhileCondition condition, Clock clock)
    : condition_(std::move(condition)), clock_(std::move(clock)) {
  add_tasks(steps, tasks_);
  device_ = tasks_.empty() ? nullptr : tasks_.front()->device();
  why_not_ = find_hindrance();
}

std::string DeviceWhile::find_hindrance() const {
  if (tasks_.empty()) return "there is nothing to repeat";
  if (device_ == nullptr) return "loops run on the host";
  if (std::ranges::any_of(tasks_, [](const auto& task) { return task->may_exchange(); })) {
    return "buffers change places in it";
  }
  for (const ConditionSide* side : {&condition_.left, &condition_.right}) {
    if (!is_exact(*side)) {
      return fmt::format("the host compares numbers of type {}", name_of(side->dtype));
    }
  }
  return "";
}

bool DeviceWhile::is_profiled() const {
  return std::ranges::any_of(tasks_, [](const auto& task) { return task->is_profiled(); });
}

bool DeviceWhile::is_next() const {
  if (is_profiled()) return false;
  const std::lock_guard told(told_mutex_);
  return why_not_.empty() && trial_.next() == WhileArm::by_device;
}

void DeviceWhile::keep(std::unique_ptr<Recording> recording) {
  const std::lock_guard told(told_mutex_);
  native_ = recording ? recording->native() : 0;
  recording_ = std::move(recording);
}

void DeviceWhile::give_up(std::string why) {
  keep(nullptr);
  const std::lock_guard told(told_mutex_);
  why_not_ = std::move(why);
}

void* DeviceWhile::on_device(mesh::Buffer* buffer, bool& has_copied) {
  if (buffer == nullptr) return nullptr;
  has_copied |= buffer->would_move_to(*device_, mesh::Use::read);
  return buffer->on_device(device_, mesh::Use::read, {"while_"});
}

bool DeviceWhile::make_ready(std::int64_t most) {
  bool has_copied = false;
  // what a pass overwrites stays as it is where there is none
  for (const LoopKernel& task : tasks_) {
    for (const mesh::BufferUse& use : task->uses()) {
      if (use.use == mesh::Use::write) (void)on_device(use.buffer, has_copied);
    }
  }
  std::vector<std::uintptr_t> state;
  for (const LoopKernel& task : tasks_) has_copied |= task->make_ready(state);
  left_ = on_device(condition_.left.buffer.get(), has_copied);
  right_ = on_device(condition_.right.buffer.get(), has_copied);
  state.push_back(reinterpret_cast<std::uintptr_t>(left_));
  state.push_back(reinterpret_cast<std::uintptr_t>(right_));
  state.push_back(static_cast<std::uintptr_t>(most));
  if (state != state_) {
    keep(nullptr);
    state_ = std::move(state);
  }
  return has_copied;
}

void DeviceWhile::record(std::int64_t most) {
  if (n_recordings_++ >= most_recordings) return give_up("addresses change at each submit");
  for (const LoopKernel& task : tasks_) {
    if (task->recorder() != device_.get()) {
      return give_up(task->why_not_recorded());
    }
  }
  const RepeatCondition condition{{left_, condition_.left.dtype, condition_.left.value},
                                  {right_, condition_.right.dtype, condition_.right.value},
                                  condition_.or_equal,
                                  most};
  std::string lacks = device_->start_repeating(condition);
  if (!lacks.empty()) return give_up(std::move(lacks));
  try {
    for (const LoopKernel& task : tasks_) task->launch_ready();
  } catch (const Error& error) {
    (void)device_->stop_repeating();
    return give_up(error.what());
  } catch (...) {  // of a library that a task calls
    (void)device_->stop_repeating();
    throw;
  }
  Repeated made = device_->stop_repeating();
  if (made.recording == nullptr) return give_up(std::move(made.why_not));
  keep(std::move(made.recording));
}

std::optional<bool> DeviceWhile::run(std::int64_t n_done, std::int64_t most) {
  const std::lock_guard lock(mutex_);
  if (!why_not().empty()) return std::nullopt;
  if (most > std::numeric_limits<std::int32_t>::max()) {
    give_up("the device counts passes in 32 bits");
    return std::nullopt;
  }
  const bool has_copied = make_ready(most);
  if (!recording_) record(most);
  if (!recording_) return std::nullopt;
  const bool is_measured = !trial().is_decided();
  if (is_measured) device_->finish();
  const std::int64_t start = clock_();
  device_->repeat(*recording_, n_done);
  std::int64_t n_passes = 1;
  if (is_measured) {
    n_passes = device_->n_repeated(*recording_) - n_done;
    note(WhileArm::by_device, clock_() - start, n_passes);
  }
  for (const LoopKernel& task : tasks_) task->count_replays(n_passes);
  return has_copied;
}

void DeviceWhile::note_host(std::int64_t nanoseconds, std::int64_t n_passes) {
  note(WhileArm::by_host, nanoseconds, n_passes);
}

void DeviceWhile::note(std::size_t arm, std::int64_t nanoseconds, std::int64_t n_passes) {
  const std::lock_guard told(told_mutex_);
  std::optional<double> took;
  if (n_passes > 0) took = static_cast<double>(std::max<std::int64_t>(nanoseconds / n_passes, 1));
  trial_.note(arm, took);
}

void DeviceWhile::learn(std::size_t arm, double nanoseconds) {
  const std::lock_guard told(told_mutex_);
  for (int i = 0; i < WhileArm::n_each; ++i) trial_.note(arm, nanoseconds);
}

Trial DeviceWhile::trial() const {
  const std::lock_guard told(told_mutex_);
  return trial_;
}

std::string DeviceWhile::why_not() const {
  const std::lock_guard told(told_mutex_);
  return why_not_;
}

std::uintptr_t DeviceWhile::native() const {
  const std::lock_guard told(told_mutex_);
  return native_;
}

}  // namespace op2::runtime
