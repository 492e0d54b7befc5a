// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/queue_task.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace op2::runtime {
namespace {

std::vector<std::shared_ptr<mesh::Buffer>> buffers_of(const QueueUses& values) {
  std::vector<std::shared_ptr<mesh::Buffer>> buffers;
  for (const auto& [buffer, writes] : values) buffers.push_back(buffer);
  return buffers;
}

std::vector<mesh::BufferUse> uses_of_values(const QueueUses& values) {
  std::vector<mesh::BufferUse> uses;
  for (const auto& [buffer, writes] : values) {
    uses.push_back({buffer.get(), writes ? mesh::Use::read_write : mesh::Use::read});
  }
  return uses;
}

std::vector<std::uintptr_t> addresses_of(const std::vector<void*>& handles) {
  std::vector<std::uintptr_t> addresses;
  for (void* handle : handles) addresses.push_back(reinterpret_cast<std::uintptr_t>(handle));
  return addresses;
}

}  // namespace

bool QueueTask::is_possible(DeviceMirror& mirror) {
  return mirror.device()->command_stream() != 0;
}

QueueTask::QueueTask(std::shared_ptr<DeviceMirror> mirror, std::string what,
                     const QueueUses& values, Function function)
    : ValueTask(std::move(mirror), std::move(what), buffers_of(values), uses_of_values(values)),
      function_(std::move(function)) {}

void QueueTask::run_on_host() {
  std::vector<void*> handles;
  for (const mesh::BufferUse& use : uses()) handles.push_back(use.buffer->data());
  function_(std::nullopt, addresses_of(handles));
}

void QueueTask::enqueue(Device& device, const std::vector<void*>& handles) {
  const bool is_lent = device.lend_queue(
      what(), [&](std::uintptr_t queue) { function_(queue, addresses_of(handles)); });
  if (is_lent) return;
  throw UnsupportedError(
      fmt::format("{}: {} has no queue that libraries know", what(), device.name()));
}

}  // namespace op2::runtime
