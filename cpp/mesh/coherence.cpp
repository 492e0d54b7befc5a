// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/coherence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fingerprint.hpp"
#include "mesh/buffer.hpp"

namespace op2::mesh {
namespace {

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

bool overlap(const Memory& a, const Memory& b) {
  return a.begin < b.begin + b.n_bytes && b.begin < a.begin + a.n_bytes;
}

bool contains(const Memory& outer, const Memory& inner) {
  return outer.begin <= inner.begin && inner.begin + inner.n_bytes <= outer.begin + outer.n_bytes;
}

std::string cause_of(const TransferCause& cause) {
  return cause.argument < 0 ? std::string(cause.where)
                            : fmt::format("{}: arg {}", cause.where, cause.argument);
}

DeviceCopy& valid_copy(Memory& memory) {
  for (DeviceCopy& copy : memory.copies) {
    if (copy.is_valid) return copy;
  }
  throw InternalError("values that are valid nowhere");
}

std::uint64_t fingerprint_of(const Memory& memory) {
  return fingerprint({memory.begin, static_cast<std::size_t>(memory.n_bytes)});
}

void invalidate_copies(Memory& memory) {
  memory.is_zero = false;
  for (DeviceCopy& copy : memory.copies) copy.is_valid = false;
}

/// All copies of this range, and of all that overlap it, are out of date. Overlapping values that
/// were newer lie within this range by now, so they are overwritten too.
void outdate_copies(Memory& memory) {
  invalidate_copies(memory);
  for (Memory* other : memory.overlapping) {
    invalidate_copies(*other);
    other->host_is_valid = true;
    other->witness.reset();
  }
}

/// Whether a use needs no copy, no memory, no mark and no look.
bool is_settled(Memory& memory, const Device& device, Use use) {
  if (!is_valid_on(memory, device) || has_unseen_reads(memory)) return false;
  if (use == Use::read) return true;
  return !memory.host_is_valid && memory.copies.size() == 1 && memory.overlapping.empty();
}

}  // namespace

DeviceCopy* find_copy(Memory& memory, const Device& device) {
  for (DeviceCopy& copy : memory.copies) {
    if (copy.device.get() == &device) return &copy;
  }
  return nullptr;
}

bool is_valid_on(Memory& memory, const Device& device) {
  const DeviceCopy* copy = find_copy(memory, device);
  return copy != nullptr && copy->is_valid;
}

Memory* newer_on_device(Memory& memory) {
  if (!memory.host_is_valid) return &memory;
  for (Memory* other : memory.overlapping) {
    if (!other->host_is_valid) return other;
  }
  return nullptr;
}

bool overwrite_needs_copy(const Memory& memory) {
  return std::any_of(memory.overlapping.begin(), memory.overlapping.end(),
                     [&memory](const Memory* other) {
                       return !other->host_is_valid && !contains(memory, *other);
                     });
}

bool host_needs_copy(Memory& memory, Use use) {
  return use == Use::write ? overwrite_needs_copy(memory) : newer_on_device(memory) != nullptr;
}

bool device_needs_copy(Memory& memory, const Device& device, Use use) {
  if (use == Use::write) return overwrite_needs_copy(memory);
  return !is_valid_on(memory, device) && !memory.is_zero;
}

void mark_written_on_host(Memory& memory) {
  outdate_copies(memory);
  memory.host_is_valid = true;
  memory.witness.reset();
}

void mark_written_on_device(Memory& memory, const Device& device) {
  outdate_copies(memory);
  memory.host_is_valid = false;
  find_copy(memory, device)->is_valid = true;
  memory.n_reads = 0;
  take_witness(memory);
}

void take_witness(Memory& memory) {
  if (!memory.is_watched || memory.witness) return;
  if (std::ranges::any_of(memory.copies, &DeviceCopy::is_valid)) {
    memory.witness = fingerprint_of(memory);
  }
}

bool has_unseen_reads(const Memory& memory) {
  return memory.n_reads != 0 && !std::has_single_bit(memory.n_reads);
}

bool is_written_in_vain(const Memory& memory) {
  return memory.witness && fingerprint_of(memory) != *memory.witness;
}

DeviceCopy& ensure_copy(Memory& memory, const std::shared_ptr<Device>& device,
                        std::string_view what) {
  if (DeviceCopy* copy = find_copy(memory, *device)) return *copy;
  return memory.copies.emplace_back(
      DeviceCopy{device, device->allocate(memory.n_bytes, what), false});
}

bool Coherence::to_device(const std::shared_ptr<Device>& device, std::span<const BufferUse> uses,
                          std::span<void*> handles, const TransferCause& cause) {
  const std::lock_guard lock(mutex_);
  bool all_settled = !watches_all();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    Buffer& buffer = *uses[i].buffer;
    handles[i] = nullptr;
    if (buffer.n_bytes_ == 0) continue;
    if (buffer.memory_ == nullptr || !is_settled(*buffer.memory_, *device, uses[i].use)) {
      all_settled = false;
      break;
    }
    handles[i] = find_copy(*buffer.memory_, *device)->memory.get();
  }
  if (!all_settled) return settle_on_device(device, uses, handles, cause);
  for (const BufferUse& use : uses) {
    if (use.buffer->n_bytes_ > 0) use.buffer->memory_->n_reads = 0;
  }
  return false;
}

bool Coherence::settle_on_device(const std::shared_ptr<Device>& device,
                                 std::span<const BufferUse> uses, std::span<void*> handles,
                                 const TransferCause& cause) {
  bool copies = false;
  for (const BufferUse& use : uses) {
    if (use.buffer->n_bytes_ == 0) continue;
    Memory& memory = attached(*use.buffer);
    if (watches_all() || !is_settled(memory, *device, use.use)) check_witness(*use.buffer, cause);
    if (!device_needs_copy(memory, *device, use.use)) continue;
    copies = true;
    check_allowed(*device, Direction::to_device, use.buffer->what_, memory.n_bytes,
                  {cause.where, use.argument, cause.is_explicit});
  }
  check_overlaps(uses, cause.where);
  make_copies(device, uses, cause.where);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Buffer& buffer = *uses[i].buffer;
    handles[i] = nullptr;
    if (buffer.n_bytes_ == 0) continue;
    const TransferCause mine{cause.where, uses[i].argument, cause.is_explicit};
    DeviceCopy& copy = *find_copy(*buffer.memory_, *device);
    handles[i] = copy.memory.get();
    if (uses[i].use == Use::write) {
      clean_before_overwrite(buffer, mine);
    } else if (!copy.is_valid) {
      clean(buffer, mine);
      upload(buffer, copy, mine);
    }
  }
  for (const BufferUse& use : uses) {
    if (use.buffer->n_bytes_ == 0) continue;
    use.buffer->memory_->n_reads = 0;
    if (use.use != Use::read) mark_written_on_device(*use.buffer->memory_, *device);
  }
  return copies;
}

bool Coherence::to_host(std::span<const BufferUse> uses, const TransferCause& cause) {
  const std::lock_guard lock(mutex_);
  bool copies = false;
  for (const BufferUse& use : uses) {
    if (!keeps(*use.buffer)) continue;
    Memory& memory = attached(*use.buffer);
    if (use.use == Use::read) {
      check_before_reading(*use.buffer, cause);
    } else {
      check_witness(*use.buffer, cause);
    }
    if (!host_needs_copy(memory, use.use)) continue;
    copies = true;
    Memory* newer = newer_on_device(memory);
    check_allowed(*valid_copy(*newer).device, Direction::to_host, use.buffer->what_, newer->n_bytes,
                  {cause.where, use.argument, cause.is_explicit});
  }
  for (const BufferUse& use : uses) {
    if (!keeps(*use.buffer)) continue;
    const TransferCause mine{cause.where, use.argument, cause.is_explicit};
    if (use.use == Use::write) {
      clean_before_overwrite(*use.buffer, mine);
    } else {
      clean(*use.buffer, mine);
    }
  }
  for (const BufferUse& use : uses) {
    if (!keeps(*use.buffer)) continue;
    Memory& memory = *use.buffer->memory_;
    if (use.use == Use::read) {
      take_witness(memory);
      for (Memory* other : memory.overlapping) take_witness(*other);
    } else {
      mark_written_on_host(memory);
    }
  }
  return copies;
}

void Coherence::check_before_reading(const Buffer& buffer, const TransferCause& cause) {
  Memory& memory = *buffer.memory_;
  bool looks = false;
  const auto note = [&looks](Memory& one) {
    if (!one.witness) return;
    ++one.n_reads;
    looks = looks || !has_unseen_reads(one);
  };
  note(memory);
  for (Memory* other : memory.overlapping) note(*other);
  if (looks) check_witness(buffer, cause);
}

void Coherence::check_witness(const Buffer& buffer, const TransferCause& cause) {
  Memory& memory = *buffer.memory_;
  Memory* found = nullptr;
  const auto look = [this, &found](Memory& one) {
    if (found != nullptr || !one.witness) return;
    ++n_looks_;
    if (is_written_in_vain(one)) found = &one;
  };
  look(memory);
  for (Memory* other : memory.overlapping) look(*other);
  if (found == nullptr) return;
  if (found->host_is_valid) download(buffer, *found, {cause.where, cause.argument, true});
  found->witness = fingerprint_of(*found);
  throw UsageError(fmt::format(
      "{}: {}: somebody wrote into its values on the host after a device had taken them, through "
      "an array from before: a part of 'data' that was kept, a memoryview of it, or the array that "
      "it was made from. The device never saw it, and it is undone. Ask for 'data' again after the "
      "loop, and write through that",
      cause.where, found->what));
}

void Coherence::watch_all(bool is_on) {
  const std::lock_guard lock(mutex_);
  watches_all_ = is_on;
  if (!is_on) return;
  for (auto& [begin, memory] : ranges_) {
    memory->is_watched = true;
    take_witness(*memory);
  }
}

std::vector<std::string> Coherence::written_in_vain() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (auto& [begin, memory] : ranges_) {
    if (!is_written_in_vain(*memory)) continue;
    found.push_back(memory->what);
    memory->witness = fingerprint_of(*memory);
  }
  return found;
}

void Coherence::check_allowed(const Device& device, Direction direction, std::string_view what,
                              std::int64_t n_bytes, const TransferCause& cause) const {
  if (!is_strict || cause.is_explicit) return;
  const bool up = direction == Direction::to_device;
  throw TransferError(fmt::format(
      "{}: {} is valid on {} only and is wanted on {}, but init(strict_residency=True) allows no "
      "implicit copy (of {} bytes); move it before, by its {}()",
      cause_of(cause), what, up ? "the host" : device.name(), up ? device.name() : "the host",
      n_bytes, up ? "to_device" : "to_host"));
}

void Coherence::record(const Device& device, Direction direction, std::string_view what,
                       std::int64_t n_bytes, std::int64_t nanoseconds, const TransferCause& cause) {
  Transfer transfer;
  transfer.direction = direction;
  transfer.is_explicit = cause.is_explicit;
  transfer.argument = cause.argument;
  transfer.what = what;
  transfer.cause = cause.where;
  transfer.device = device.name();
  transfer.n_bytes = n_bytes;
  transfer.nanoseconds = nanoseconds;
  transfers_.record(std::move(transfer));
  if (!trace_->is_on()) return;
  const std::string way = direction == Direction::to_device ? " to the device" : " to the host";
  trace_->add(
      {std::string(what) + way, "copy", "host", trace_clock() - nanoseconds, nanoseconds, n_bytes});
}

void Coherence::check_overlaps(std::span<const BufferUse> uses, std::string_view where) {
  for (const BufferUse& writer : uses) {
    if (writer.use == Use::read || writer.buffer->n_bytes_ == 0) continue;
    const Memory& memory = *writer.buffer->memory_;
    if (memory.overlapping.empty()) continue;
    for (const BufferUse& other : uses) {
      const auto& others = memory.overlapping;
      if (std::find(others.begin(), others.end(), other.buffer->memory_) == others.end()) continue;
      throw UnsupportedError(fmt::format(
          "{}: arg {}: {} is written and shares a part of its memory, or all of it in another "
          "layout, with arg {}: {}; on a device each has a copy of its own. Use Dats that do not "
          "overlap, or that lie over the same values",
          where, writer.argument, writer.buffer->what_, other.argument, other.buffer->what_));
    }
  }
}

void Coherence::make_copies(const std::shared_ptr<Device>& device, std::span<const BufferUse> uses,
                            std::string_view where) {
  std::vector<const Buffer*> made;
  const auto lacks = [&device](const BufferUse& use) {
    return use.buffer->n_bytes_ > 0 && find_copy(*use.buffer->memory_, *device) == nullptr;
  };
  try {
    for (const BufferUse& use : uses) {
      if (!lacks(use)) continue;
      ensure_copy(*use.buffer->memory_, device, use.buffer->what_);
      made.push_back(use.buffer);
    }
  } catch (const OutOfMemoryError& error) {
    for (const Buffer* buffer : made) buffer->memory_->copies.pop_back();
    std::int64_t n_bytes = 0;
    std::vector<std::string> missing;
    std::set<const Memory*> seen;
    for (const BufferUse& use : uses) {
      if (!lacks(use) || !seen.insert(use.buffer->memory_).second) continue;
      n_bytes += use.buffer->n_bytes_;
      missing.push_back(fmt::format("{} {} bytes", use.buffer->what_, use.buffer->n_bytes_));
    }
    throw OutOfMemoryError(
        fmt::format("{}: {}. It needs {} more bytes there: {}. Nothing was changed. Values kept as "
                    "float32 with "
                    "compute='float64' take half of the bytes, and a host backend, such as "
                    "'openmp', takes none",
                    where, error.what(), n_bytes, fmt::join(missing, ", ")));
  }
}

void Coherence::upload(const Buffer& buffer, DeviceCopy& copy, const TransferCause& cause) {
  Memory& memory = *buffer.memory_;
  Device& device = *copy.device;
  if (memory.is_zero) {
    device.zero(copy.memory.get(), 0, memory.n_bytes);
  } else {
    const std::int64_t start = now();
    if (memory.layout.is_soa) {
      const auto columns =
          std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(memory.n_bytes));
      rows_to_columns(columns.get(), memory.begin, buffer.n_rows(), memory.layout, n_threads);
      device.upload(copy.memory.get(), 0, columns.get(), memory.n_bytes);
    } else {
      device.upload(copy.memory.get(), 0, memory.begin, memory.n_bytes);
    }
    record(device, Direction::to_device, buffer.what_, memory.n_bytes, now() - start, cause);
  }
  copy.is_valid = true;
  take_witness(memory);
}

void Coherence::download(const Buffer& buffer, Memory& memory, const TransferCause& cause) {
  memory.witness.reset();
  const DeviceCopy& copy = valid_copy(memory);
  const std::int64_t start = now();
  if (memory.layout.is_soa) {
    const auto columns =
        std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(memory.n_bytes));
    copy.device->download(columns.get(), copy.memory.get(), 0, memory.n_bytes);
    const std::int64_t n_rows = memory.n_bytes / (memory.layout.dim * memory.layout.item_bytes);
    columns_to_rows(memory.begin, columns.get(), n_rows, memory.layout, n_threads);
  } else {
    copy.device->download(memory.begin, copy.memory.get(), 0, memory.n_bytes);
  }
  record(*copy.device, Direction::to_host, buffer.what_, memory.n_bytes, now() - start, cause);
  memory.host_is_valid = true;
}

void Coherence::clean(const Buffer& buffer, const TransferCause& cause) {
  while (Memory* newer = newer_on_device(*buffer.memory_)) download(buffer, *newer, cause);
}

void Coherence::clean_before_overwrite(const Buffer& buffer, const TransferCause& cause) {
  for (Memory* other : buffer.memory_->overlapping) {
    if (!other->host_is_valid && !contains(*buffer.memory_, *other)) {
      download(buffer, *other, cause);
    }
  }
}

bool Coherence::keeps(const Buffer& buffer) const {
  return buffer.n_bytes_ > 0 && buffer.coherence_.get() == this;
}

Memory& Coherence::attached(Buffer& buffer) {
  if (buffer.memory_ != nullptr) return *buffer.memory_;
  if (!keeps(buffer)) throw InternalError("a Buffer of no or another Coherence on a device");
  const auto [first, last] = ranges_.equal_range(address_of(buffer.data_));
  for (auto entry = first; entry != last; ++entry) {
    Memory& known = *entry->second;
    if (known.n_bytes == buffer.n_bytes_ && known.layout == buffer.layout_) {
      ++known.n_buffers;
      buffer.memory_ = &known;
      return known;
    }
  }
  auto made = std::make_unique<Memory>();
  made->begin = static_cast<std::byte*>(buffer.data_);
  made->n_bytes = buffer.n_bytes_;
  made->layout = buffer.layout_;
  made->n_buffers = 1;
  made->what = buffer.what_;
  made->is_watched = watches_all();
  made->overlapping = ranges_overlapping(*made);
  made->is_zero = buffer.zero_version_ == buffer.version_ && made->overlapping.empty();
  for (Memory* other : made->overlapping) {
    other->overlapping.push_back(made.get());
    other->is_zero = false;
  }
  longest_ = std::max(longest_, static_cast<std::uintptr_t>(made->n_bytes));
  buffer.memory_ = made.get();
  is_active_ = true;
  return *ranges_.emplace(address_of(buffer.data_), std::move(made))->second;
}

std::vector<Memory*> Coherence::ranges_overlapping(const Memory& memory) const {
  std::vector<Memory*> found;
  const std::uintptr_t begin = address_of(memory.begin);
  const auto last = ranges_.lower_bound(begin + static_cast<std::uintptr_t>(memory.n_bytes));
  for (auto entry = ranges_.lower_bound(begin - std::min(begin, longest_)); entry != last;
       ++entry) {
    if (overlap(*entry->second, memory)) found.push_back(entry->second.get());
  }
  return found;
}

void Coherence::detach(Buffer& buffer) {
  Memory* memory = std::exchange(buffer.memory_, nullptr);
  if (memory == nullptr || --memory->n_buffers > 0) return;
  for (Memory* other : memory->overlapping) std::erase(other->overlapping, memory);
  const auto [first, last] = ranges_.equal_range(address_of(memory->begin));
  ranges_.erase(std::find_if(first, last,
                             [memory](const auto& entry) { return entry.second.get() == memory; }));
}

}  // namespace op2::mesh
