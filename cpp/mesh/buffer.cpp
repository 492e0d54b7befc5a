// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/error.hpp"

namespace op2::mesh {
namespace {

/// One column is the same in either layout, and may be shared with what has the other.
Layout canonical(Layout layout) {
  if (layout.dim == 1 || !layout.is_soa) return {};
  return layout;
}

}  // namespace

Buffer::Buffer(std::shared_ptr<Coherence> coherence, std::string what, Layout layout)
    : coherence_(std::move(coherence)),
      what_(std::move(what)),
      layout_(canonical(layout)),
      row_bytes_(std::int64_t{layout.dim} * layout.item_bytes) {}

Buffer::~Buffer() {
  if (memory_ == nullptr) return;
  const std::lock_guard lock(coherence_->mutex_);
  coherence_->detach(*this);
}

std::int64_t Buffer::n_rows() const {
  return row_bytes_ == 0 ? 0 : n_bytes_ / row_bytes_;
}

void Buffer::reset(void* data, std::int64_t n_bytes, bool is_zero) {
  release(/*is_kept=*/false);
  data_ = data;
  n_bytes_ = n_bytes;
  zero_version_ = is_zero ? version_ : -1;
}

bool Buffer::release(bool is_kept) {
  bool is_in_vain = false;
  if (memory_ != nullptr) {
    const std::lock_guard lock(coherence_->mutex_);
    is_in_vain = is_written_in_vain(*memory_);
    const bool is_last = memory_->n_buffers == 1;
    const bool is_seen = is_kept || !memory_->overlapping.empty();
    if (is_last && is_seen && !memory_->host_is_valid) {
      coherence_->clean(*this, {"end of its life", -1, true});
    }
    coherence_->detach(*this);
  }
  data_ = nullptr;
  n_bytes_ = 0;
  return is_in_vain;
}

bool Buffer::on_host(Use use, const TransferCause& cause) {
  if (!is_tracked()) return false;
  const BufferUse only{this, use, cause.argument};
  return coherence_->to_host({&only, 1}, cause);
}

void* Buffer::on_device(const std::shared_ptr<Device>& device, Use use,
                        const TransferCause& cause) {
  if (coherence_ == nullptr) throw InternalError("a Buffer without a Coherence has no devices");
  const BufferUse only{this, use, cause.argument};
  std::array<void*, 1> handle{};
  coherence_->to_device(device, {&only, 1}, handle, cause);
  return handle[0];
}

bool Buffer::would_move_to(const Device& device, Use use) {
  if (coherence_ == nullptr || n_bytes_ == 0) return false;
  const std::lock_guard lock(coherence_->mutex_);
  return device_needs_copy(coherence_->attached(*this), device, use);
}

bool Buffer::would_move_to_host(Use use) {
  if (!is_tracked() || n_bytes_ == 0) return false;
  const std::lock_guard lock(coherence_->mutex_);
  return host_needs_copy(coherence_->attached(*this), use);
}

Where Buffer::where() {
  if (data_ == nullptr) return Where::neither;
  if (!is_tracked() || n_bytes_ == 0) return Where::host;
  const std::lock_guard lock(coherence_->mutex_);
  Memory& memory = coherence_->attached(*this);
  bool on_device = false;
  for (const DeviceCopy& copy : memory.copies) on_device = on_device || copy.is_valid;
  if (newer_on_device(memory) != nullptr) return Where::device;
  return on_device ? Where::both : Where::host;
}

bool Buffer::is_valid_on(const Device& device) {
  if (!is_tracked()) return false;
  const std::lock_guard lock(coherence_->mutex_);
  return memory_ != nullptr && mesh::is_valid_on(*memory_, device);
}

std::shared_ptr<void> Buffer::memory_on(const Device& device) {
  if (!is_tracked()) return nullptr;
  const std::lock_guard lock(coherence_->mutex_);
  const DeviceCopy* copy = memory_ == nullptr ? nullptr : find_copy(*memory_, device);
  return copy == nullptr ? nullptr : copy->memory;
}

void Buffer::watch(bool is_on) {
  if (!is_tracked() || n_bytes_ == 0) return;
  const std::lock_guard lock(coherence_->mutex_);
  if (memory_ == nullptr) return;
  memory_->is_watched = is_on || coherence_->watches_all();
  if (!memory_->is_watched) memory_->witness.reset();
  take_witness(*memory_);
}

void Buffer::adopt(const std::shared_ptr<Device>& device, std::shared_ptr<void> memory) {
  if (coherence_ == nullptr) throw InternalError("a Buffer without a Coherence has no devices");
  if (n_bytes_ == 0) return;
  const std::lock_guard lock(coherence_->mutex_);
  Memory& mine = coherence_->attached(*this);
  coherence_->clean_before_overwrite(*this, {"adopt", -1, true});
  std::erase_if(mine.copies, [&device](const DeviceCopy& copy) { return copy.device == device; });
  mine.copies.push_back({device, std::move(memory), true});
  mark_written_on_device(mine, *device);
}

bool Buffer::has_copies() {
  if (!is_tracked()) return false;
  const std::lock_guard lock(coherence_->mutex_);
  return memory_ != nullptr && !memory_->copies.empty();
}

bool Buffer::zero_on_device() {
  if (!is_tracked()) return false;
  const std::lock_guard lock(coherence_->mutex_);
  if (memory_ == nullptr || overwrite_needs_copy(*memory_)) return false;
  for (DeviceCopy& copy : memory_->copies) {
    if (!copy.is_valid) continue;
    copy.device->zero(copy.memory.get(), 0, n_bytes_);
    mark_written_on_device(*memory_, *copy.device);
    return true;
  }
  return false;
}

void Buffer::set_on_device(const std::shared_ptr<Device>& device,
                           std::span<const std::byte> value) {
  const auto n_bytes = static_cast<std::int64_t>(value.size());
  if (n_bytes != n_bytes_ || n_bytes % 4 != 0 || n_bytes == 0 || n_bytes > most_set_bytes) {
    throw UsageError(fmt::format("{} has {} bytes; {} bytes cannot go with commands into all of it",
                                 what_, n_bytes_, n_bytes));
  }
  const std::lock_guard lock(coherence_->mutex_);
  Memory& mine = coherence_->attached(*this);
  const DeviceCopy& copy = ensure_copy(mine, device, what_);
  device->set(copy.memory.get(), value);
  mine.witness.reset();
  std::memcpy(data_, value.data(), value.size());
  mark_written_on_device(mine, *device);
  mine.host_is_valid = true;
}

bool Buffer::copy_on_device(Buffer& source) {
  if (!is_tracked() || source.layout_ != layout_ || source.n_bytes_ != n_bytes_) return false;
  const std::lock_guard lock(coherence_->mutex_);
  if (source.memory_ == nullptr || !source.memory_->overlapping.empty()) return false;
  Memory& mine = coherence_->attached(*this);
  if (source.memory_ == &mine || overwrite_needs_copy(mine)) return false;
  for (const DeviceCopy& from : source.memory_->copies) {
    const bool is_here = find_copy(mine, *from.device) != nullptr;
    if (!from.is_valid || !(is_here || !source.memory_->host_is_valid)) continue;
    const DeviceCopy& to = ensure_copy(mine, from.device, what_);
    from.device->copy(to.memory.get(), 0, from.memory.get(), 0, n_bytes_);
    mark_written_on_device(mine, *from.device);
    return true;
  }
  return false;
}

bool Buffer::exchange_on_device(Buffer& source) {
  if (!is_tracked() || source.layout_ != layout_ || source.n_bytes_ != n_bytes_) return false;
  const std::lock_guard lock(coherence_->mutex_);
  if (source.memory_ == nullptr || source.memory_->host_is_valid) return false;
  Memory& theirs = *source.memory_;
  Memory& mine = coherence_->attached(*this);
  if (&theirs == &mine || overwrite_needs_copy(mine)) return false;
  const auto from = std::ranges::find_if(theirs.copies, &DeviceCopy::is_valid);
  if (from == theirs.copies.end() || !theirs.overlapping.empty()) return false;
  DeviceCopy& to = ensure_copy(mine, from->device, what_);
  if (to.memory.use_count() > 1 || mine.n_buffers > 1 || !mine.overlapping.empty()) return false;
  std::swap(to.memory, from->memory);
  mark_written_on_device(mine, *from->device);
  ++version_;
  return true;
}

bool bring_to_host(std::span<const BufferUse> uses, const TransferCause& cause) {
  for (const BufferUse& use : uses) {
    Coherence* const coherence = use.buffer->coherence_.get();
    if (coherence != nullptr) return coherence->is_active() && coherence->to_host(uses, cause);
  }
  return false;
}

}  // namespace op2::mesh
