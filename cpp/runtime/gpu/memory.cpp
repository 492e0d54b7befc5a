// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace op2::runtime::gpu {
namespace {

constexpr std::size_t most_named = 5;  // owners of memory that a message lists

/// Of all memory, what the pool may keep while it is free: other libraries want some, too.
constexpr std::size_t kept_fraction = 16;

std::string size_text(std::size_t n_bytes) {
  constexpr std::array<const char*, 5> units = {"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(n_bytes);
  std::size_t unit = 0;
  for (; value >= 1000.0 && unit + 1 < units.size(); ++unit) value /= 1000.0;
  return unit == 0 ? fmt::format("{} bytes", n_bytes)
                   : fmt::format("{:.1f} {}", value, units[unit]);
}

void* as_handle(DeviceAddress address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

struct Memory::Ledger {
  struct Entry {
    std::string what;
    std::size_t n_bytes;
  };

  explicit Ledger(std::shared_ptr<Context> of) : context(std::move(of)) {}

  DeviceAddress take(std::size_t n_bytes, std::string_view what);
  bool reserve(std::size_t n_bytes);
  Result try_take(DeviceAddress& address, std::size_t n_bytes) const;
  void give_back(DeviceAddress address);
  std::string describe_full(std::size_t n_bytes, std::string_view what);

  std::shared_ptr<Context> context;
  PoolHandle pool = nullptr;  // null: the driver has none
  std::mutex mutex;           // guards the following
  std::unordered_map<DeviceAddress, Entry> entries;
  std::size_t n_held = 0;
  std::size_t n_allowed = 0;  // 0: all
};

Result Memory::Ledger::try_take(DeviceAddress& address, std::size_t n_bytes) const {
  const Driver& driver = context->driver();
  if (pool == nullptr) return driver.mem_alloc(&address, n_bytes);
  const Result taken = driver.mem_alloc_async(&address, n_bytes, context->stream());
  if (taken != out_of_memory) return taken;
  // What was freed is the pool's until the work before it is done.
  const Result waited = driver.stream_synchronize(context->stream());
  if (waited != success) return waited;
  driver.mem_pool_trim_to(pool, 0);
  return driver.mem_alloc_async(&address, n_bytes, context->stream());
}

bool Memory::Ledger::reserve(std::size_t n_bytes) {
  const std::lock_guard lock(mutex);
  if (n_allowed > 0 && n_held + n_bytes > n_allowed) return false;
  n_held += n_bytes;
  return true;
}

DeviceAddress Memory::Ledger::take(std::size_t n_bytes, std::string_view what) {
  context->check_process();
  const Current current(*context);
  DeviceAddress address = 0;
  if (!reserve(n_bytes)) throw OutOfMemoryError(describe_full(n_bytes, what));
  const Result taken = try_take(address, n_bytes);
  if (taken != success) {
    const std::lock_guard lock(mutex);
    n_held -= n_bytes;
  }
  if (taken == out_of_memory) throw OutOfMemoryError(describe_full(n_bytes, what));
  context->check(taken, fmt::format("allocate {} for {}", size_text(n_bytes), what));
  const std::lock_guard lock(mutex);
  entries.insert_or_assign(address, Entry{std::string(what), n_bytes});
  return address;
}

void Memory::Ledger::give_back(DeviceAddress address) {
  {
    const std::lock_guard lock(mutex);
    const auto found = entries.find(address);
    if (found != entries.end()) {
      n_held -= found->second.n_bytes;
      entries.erase(found);
    }
  }
  if (context->is_inherited()) return;
  // Nobody can be told of a failure here, and after one or at exit there is nothing to give back.
  const Driver& driver = context->driver();
  const Current current(*context);
  if (pool != nullptr) {
    driver.mem_free_async(address, context->stream());
  } else {
    driver.mem_free(address);
  }
}

std::string Memory::Ledger::describe_full(std::size_t n_bytes, std::string_view what) {
  std::size_t n_free = 0;
  std::size_t n_total = 0;
  context->driver().mem_get_info(&n_free, &n_total);
  std::vector<Entry> largest;
  const std::lock_guard lock(mutex);
  for (const auto& [address, entry] : entries) largest.push_back(entry);
  const bool is_limited = n_allowed > 0 && n_allowed < n_total;
  if (is_limited) {
    n_total = n_allowed;
    n_free = std::min(n_free, n_allowed - std::min(n_held, n_allowed));
  }
  std::ranges::sort(largest, [](const Entry& a, const Entry& b) {
    return a.n_bytes != b.n_bytes ? a.n_bytes > b.n_bytes : a.what < b.what;
  });
  std::string owners;
  for (std::size_t i = 0; i < std::min(largest.size(), most_named); ++i) {
    owners += fmt::format("{}{} {}", i == 0 ? ": " : ", ", largest[i].what,
                          size_text(largest[i].n_bytes));
  }
  if (largest.size() > most_named) {
    owners += fmt::format(" and {} more", largest.size() - most_named);
  }
  return fmt::format(
      "{} is full: {} needs {}, {} of {}{} are free and loops hold {}{}; drop what is no longer "
      "needed, or use a smaller mesh",
      context->name(), what, size_text(n_bytes), size_text(n_free), size_text(n_total),
      is_limited ? " that init(device_memory=) allows" : "", size_text(n_held), owners);
}

Memory::Memory(std::shared_ptr<Context> context)
    : ledger_(std::make_shared<Ledger>(std::move(context))) {
  const Context& of = *ledger_->context;
  const Driver& driver = of.driver();
  int has_pools = 0;
  if (driver.mem_alloc_async == nullptr || driver.mem_free_async == nullptr ||
      driver.device_get_default_mem_pool == nullptr || driver.mem_pool_set_attribute == nullptr ||
      driver.mem_pool_trim_to == nullptr ||
      driver.device_get_attribute(&has_pools, memory_pools_supported, of.ordinal()) != success ||
      has_pools == 0) {
    return;
  }
  const Current current(of);
  PoolHandle pool = nullptr;
  if (driver.device_get_default_mem_pool(&pool, of.ordinal()) != success) return;
  std::size_t n_bytes = 0;
  of.check(driver.device_total_mem(&n_bytes, of.ordinal()), "ask for the memory's size");
  unsigned long long n_kept = n_bytes / kept_fraction;
  of.check(driver.mem_pool_set_attribute(pool, pool_release_threshold, &n_kept),
           "set up the memory pool");
  ledger_->pool = pool;
}

void Memory::limit(std::int64_t n_bytes) {
  const std::lock_guard lock(ledger_->mutex);
  ledger_->n_allowed = static_cast<std::size_t>(std::max<std::int64_t>(n_bytes, 0));
}

std::shared_ptr<void> Memory::allocate(std::int64_t n_bytes, std::string_view what) {
  const auto n_wanted = static_cast<std::size_t>(std::max<std::int64_t>(n_bytes, 1));
  const DeviceAddress address = ledger_->take(n_wanted, what);
  return {as_handle(address),
          [ledger = ledger_, address](void* /*handle*/) { ledger->give_back(address); }};
}

}  // namespace op2::runtime::gpu
