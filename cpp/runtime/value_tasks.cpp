// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/value_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace op2::runtime {

ValueTask::ValueTask(std::shared_ptr<DeviceMirror> mirror, std::string what,
                     std::vector<std::shared_ptr<mesh::Buffer>> buffers,
                     std::vector<mesh::BufferUse> uses)
    : mirror_(std::move(mirror)),
      what_(std::move(what)),
      buffers_(std::move(buffers)),
      uses_(std::move(uses)),
      handles_(uses_.size()) {}

bool ValueTask::run() {
  if (mirror_ == nullptr) {
    const bool has_copied = bring_to_host();
    count_writes();
    run_on_host();
    return has_copied;
  }
  std::vector<std::uintptr_t> state;
  const bool has_copied = make_ready(state);
  launch_ready();
  return has_copied;
}

bool ValueTask::bring_to_host() {
  return mesh::bring_to_host(uses_, {what_});
}

bool ValueTask::make_ready(std::vector<std::uintptr_t>& state) {
  const bool has_copied =
      mirror_->coherence().to_device(mirror_->device(), uses_, handles_, {what_});
  count_writes();
  for (void* handle : handles_) state.push_back(reinterpret_cast<std::uintptr_t>(handle));
  return has_copied;
}

void ValueTask::launch_ready() {
  enqueue(*mirror_->device(), handles_);
}

void ValueTask::count_replays(std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) count_writes();
}

void ValueTask::count_writes() {
  for (const mesh::BufferUse& use : uses_) {
    if (use.use != mesh::Use::read) use.buffer->increment_version();
  }
}

// Fills

FillTask::FillTask(std::shared_ptr<DeviceMirror> mirror, std::shared_ptr<mesh::Buffer> target,
                   std::vector<std::byte> value)
    : ValueTask(std::move(mirror), fmt::format("set {}", target->what()), {target},
                {{target.get(), mesh::Use::write}}),
      target_(target.get()),
      value_(std::move(value)) {
  const bool is_zero =
      std::ranges::all_of(value_, [](const std::byte one) { return one == std::byte{}; });
  if (is_zero) value_.clear();
  const auto n_bytes = static_cast<std::int64_t>(value_.size());
  if (n_bytes == 0) return;
  if (n_bytes != target->n_bytes() || n_bytes % 4 != 0 || n_bytes > mesh::Buffer::most_set_bytes) {
    throw UsageError(fmt::format("{} has {} bytes; they cannot be set to those of {}",
                                 target->what(), target->n_bytes(), n_bytes));
  }
}

void FillTask::run_on_host() {
  if (value_.empty()) {
    std::memset(target_->data(), 0, static_cast<std::size_t>(target_->n_bytes()));
  } else {
    std::memcpy(target_->data(), value_.data(), value_.size());
  }
}

void FillTask::enqueue(Device& device, const std::vector<void*>& handles) {
  if (target_->n_bytes() == 0) return;
  if (value_.empty()) {
    device.zero(handles[0], 0, target_->n_bytes());
  } else {
    device.set(handles[0], value_);
  }
}

// Copies

namespace {

void check_alike(const mesh::Buffer& target, const mesh::Buffer& source) {
  if (&target == &source || target.n_bytes() != source.n_bytes() ||
      target.layout() != source.layout()) {
    throw UsageError(
        fmt::format("{} and {} are laid out differently", target.what(), source.what()));
  }
}

}  // namespace

CopyTask::CopyTask(std::shared_ptr<DeviceMirror> mirror, std::shared_ptr<mesh::Buffer> target,
                   std::shared_ptr<mesh::Buffer> source)
    : ValueTask(std::move(mirror), fmt::format("copy {}", source->what()), {target, source},
                {{target.get(), mesh::Use::write}, {source.get(), mesh::Use::read}}),
      target_(target.get()),
      source_(source.get()) {
  check_alike(*target_, *source_);
}

void CopyTask::run_on_host() {
  std::memmove(target_->data(), source_->data(), static_cast<std::size_t>(target_->n_bytes()));
}

void CopyTask::enqueue(Device& device, const std::vector<void*>& handles) {
  if (target_->n_bytes() > 0) device.copy(handles[0], 0, handles[1], 0, target_->n_bytes());
}

// Exchanges

ExchangeTask::ExchangeTask(std::shared_ptr<DeviceMirror> mirror,
                           std::shared_ptr<mesh::Buffer> target,
                           std::shared_ptr<mesh::Buffer> source)
    : mirror_(std::move(mirror)),
      what_(fmt::format("exchange {}", target->what())),
      target_(std::move(target)),
      source_(std::move(source)),
      uses_{{target_.get(), mesh::Use::read_write}, {source_.get(), mesh::Use::read_write}},
      handles_(2) {
  check_alike(*target_, *source_);
}

std::pair<mesh::Buffer*, mesh::Buffer*> ExchangeTask::exchanged() const {
  if (has_to_copy_ || !is_ready_) return {};
  return {target_.get(), source_.get()};
}

bool ExchangeTask::run() {
  std::vector<std::uintptr_t> state;
  const bool has_copied = make_ready(state);
  launch_ready();
  return has_copied;
}

bool ExchangeTask::make_ready(std::vector<std::uintptr_t>& state) {
  has_to_copy_ = target_->n_bytes() > 0 && !target_->exchange_on_device(*source_);
  is_ready_ = true;
  state.push_back(has_to_copy_ ? 1 : 0);
  if (!has_to_copy_) return false;
  const std::vector<mesh::BufferUse> uses{{target_.get(), mesh::Use::write},
                                          {source_.get(), mesh::Use::read}};
  const bool has_copied =
      mirror_->coherence().to_device(mirror_->device(), uses, handles_, {what_});
  target_->increment_version();
  for (void* handle : handles_) state.push_back(reinterpret_cast<std::uintptr_t>(handle));
  return has_copied;
}

void ExchangeTask::launch_ready() {
  if (has_to_copy_) {
    mirror_->device()->copy(handles_[0], 0, handles_[1], 0, target_->n_bytes());
  }
}

void ExchangeTask::count_replays(std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) target_->increment_version();
}

}  // namespace op2::runtime
