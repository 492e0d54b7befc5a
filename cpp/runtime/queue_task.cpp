// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/queue_task.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace op2::runtime {

bool QueueTask::is_possible(DeviceMirror& mirror) {
  static const std::string what = "a question for queues";  // outlives the device's work
  return mirror.device()->lend_queue(what, [](std::uintptr_t /*queue*/) {});
}

QueueTask::QueueTask(std::shared_ptr<DeviceMirror> mirror, std::string what, QueueUses values,
                     Function function)
    : mirror_(std::move(mirror)),
      what_(std::move(what)),
      values_(std::move(values)),
      function_(std::move(function)),
      handles_(values_.size()) {
  for (const auto& [buffer, writes] : values_) {
    uses_.push_back({buffer.get(), writes ? mesh::Use::read_write : mesh::Use::read});
  }
}

bool QueueTask::run() {
  if (mirror_ != nullptr) {
    std::vector<std::uintptr_t> state;
    const bool has_copied = make_ready(state);
    launch_ready();
    return has_copied;
  }
  const bool has_copied = mesh::bring_to_host(uses_, {what_});
  for (std::size_t i = 0; i < values_.size(); ++i) handles_[i] = values_[i].first->data();
  count_writes();
  function_(std::nullopt, addresses());
  return has_copied;
}

bool QueueTask::make_ready(std::vector<std::uintptr_t>& state) {
  const bool has_copied =
      mirror_->coherence().to_device(mirror_->device(), uses_, handles_, {what_});
  count_writes();
  for (const std::uintptr_t address : addresses()) state.push_back(address);
  return has_copied;
}

void QueueTask::launch_ready() {
  const bool is_lent = mirror_->device()->lend_queue(
      what_, [this](std::uintptr_t queue) { function_(queue, addresses()); });
  if (is_lent) return;
  throw UnsupportedError(
      fmt::format("{}: {} has no queue that libraries know", what_, mirror_->device()->name()));
}

void QueueTask::count_replays(std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) count_writes();
}

void QueueTask::count_writes() {
  for (const mesh::BufferUse& use : uses_) {
    if (use.use != mesh::Use::read) use.buffer->increment_version();
  }
}

std::vector<std::uintptr_t> QueueTask::addresses() const {
  std::vector<std::uintptr_t> found;
  for (void* handle : handles_) found.push_back(reinterpret_cast<std::uintptr_t>(handle));
  return found;
}

}  // namespace op2::runtime
