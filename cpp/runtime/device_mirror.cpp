// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/device_mirror.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace op2::runtime {

DeviceMirror::DeviceMirror(std::shared_ptr<Device> device,
                           std::shared_ptr<mesh::Coherence> coherence)
    : device_(std::move(device)), coherence_(std::move(coherence)), meter_(device_) {}

std::shared_ptr<void> DeviceMirror::map(const std::shared_ptr<const mesh::MapTable>& map,
                                        const mesh::TransferCause& cause) {
  return find_or_upload(map, map->values(), map->n_bytes(), map->version(), "a Map", cause);
}

std::shared_ptr<void> DeviceMirror::array(const std::shared_ptr<const void>& owner,
                                          const void* data, std::int64_t n_bytes,
                                          const mesh::TransferCause& cause) {
  return find_or_upload(owner, data, n_bytes, 0, "a plan", cause);
}

std::size_t DeviceMirror::n_arrays() const {
  const std::scoped_lock guard(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(
      entries_, [](const auto& entry) { return !entry.second.memory.expired(); }));
}

std::shared_ptr<void> DeviceMirror::find_or_upload(const std::shared_ptr<const void>& owner,
                                                   const void* data, std::int64_t n_bytes,
                                                   std::int64_t version, std::string_view what,
                                                   const mesh::TransferCause& cause) {
  if (data == nullptr || n_bytes == 0) return nullptr;
  const std::scoped_lock guard(mutex_);
  Entry& entry = entries_[data];
  const bool is_same =
      entry.owner.lock() == owner && entry.version == version && entry.n_bytes == n_bytes;
  std::shared_ptr<void> memory = is_same ? entry.memory.lock() : nullptr;
  if (memory) return memory;
  const auto start = std::chrono::steady_clock::now();
  memory = device_->allocate(n_bytes, what);
  device_->upload(memory.get(), 0, data, n_bytes);
  const auto spent = std::chrono::steady_clock::now() - start;
  coherence_->record(*device_, mesh::Direction::to_device, what, n_bytes,
                     std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count(), cause);
  entry = {owner, version, n_bytes, memory};
  forget_the_dead();
  return memory;
}

void DeviceMirror::forget_the_dead() {
  if (entries_.size() < n_entries_to_sweep_) return;
  std::erase_if(entries_, [](const auto& entry) { return entry.second.memory.expired(); });
  n_entries_to_sweep_ = 2 * entries_.size() + 64;
}

}  // namespace op2::runtime
