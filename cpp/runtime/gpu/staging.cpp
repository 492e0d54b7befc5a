// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/staging.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/parallel.hpp"
#include "runtime/host/threads.hpp"

namespace op2::runtime::gpu {
namespace {

constexpr int most_threads = 8;  // more do not fill a bus faster
constexpr std::int64_t least_bytes_a_thread = std::int64_t{2} << 20;

}  // namespace

Staging::Staging(std::shared_ptr<Context> context)
    : context_(std::move(context)), n_threads_(std::min(available_threads(), most_threads)) {}

Staging::~Staging() {
  if (context_->is_inherited()) return;
  const Driver& driver = context_->driver();
  const Current current(*context_);
  for (const Chunk& chunk : chunks_) {
    if (chunk.done != nullptr) {
      driver.event_synchronize(chunk.done);
      driver.event_destroy(chunk.done);
    }
    if (chunk.memory != nullptr) driver.mem_free_host(chunk.memory);
  }
}

void Staging::copy_in_parallel(void* to, const void* from, std::size_t n_bytes) const {
  const auto body = [to, from](std::int64_t begin, std::int64_t end, int /*thread*/) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<std::size_t>(end - begin));
  };
  parallel_for(n_threads_, static_cast<std::int64_t>(n_bytes), body, least_bytes_a_thread);
}

Result Staging::prepare() {
  const Driver& driver = context_->driver();
  for (Chunk& chunk : chunks_) {
    if (chunk.memory == nullptr) {
      const Result taken = driver.mem_host_alloc(&chunk.memory, chunk_bytes, 0);
      if (taken != success) return taken;
    }
    if (chunk.done == nullptr) {
      const Result made = driver.event_create(&chunk.done, event_disable_timing);
      if (made != success) return made;
    }
  }
  return success;
}

Result Staging::upload(DeviceAddress to, const void* from, std::size_t n_bytes) {
  const std::lock_guard lock(mutex_);
  Result result = prepare();
  const Driver& driver = context_->driver();
  std::size_t i = 0;
  for (std::size_t begin = 0; begin < n_bytes && result == success; begin += chunk_bytes, ++i) {
    const Chunk& chunk = chunks_[i % n_chunks];
    const std::size_t n = std::min(chunk_bytes, n_bytes - begin);
    result = driver.event_synchronize(chunk.done);  // an event never recorded is done
    if (result != success) break;
    copy_in_parallel(chunk.memory, static_cast<const char*>(from) + begin, n);
    result = driver.memcpy_htod_async(to + begin, chunk.memory, n, context_->stream());
    if (result == success) result = driver.event_record(chunk.done, context_->stream());
  }
  return result;
}

Result Staging::drain(void* to, std::size_t begin, std::size_t n_bytes) {
  const Chunk& chunk = chunks_[begin / chunk_bytes % n_chunks];
  const Result waited = context_->driver().event_synchronize(chunk.done);
  if (waited != success) return waited;
  copy_in_parallel(static_cast<char*>(to) + begin, chunk.memory,
                   std::min(chunk_bytes, n_bytes - begin));
  return success;
}

Result Staging::download(void* to, DeviceAddress from, std::size_t n_bytes) {
  const std::lock_guard lock(mutex_);
  Result result = prepare();
  const Driver& driver = context_->driver();
  constexpr std::size_t ahead = chunk_bytes * n_chunks;  // what may be under way
  std::size_t drained = 0;
  for (std::size_t begin = 0; begin < n_bytes && result == success; begin += chunk_bytes) {
    if (begin >= ahead) {
      result = drain(to, drained, n_bytes);
      drained += chunk_bytes;
      if (result != success) break;
    }
    const Chunk& chunk = chunks_[begin / chunk_bytes % n_chunks];
    result = driver.memcpy_dtoh_async(chunk.memory, from + begin,
                                      std::min(chunk_bytes, n_bytes - begin), context_->stream());
    if (result == success) result = driver.event_record(chunk.done, context_->stream());
  }
  for (; drained < n_bytes && result == success; drained += chunk_bytes) {
    result = drain(to, drained, n_bytes);
  }
  return result;
}

}  // namespace op2::runtime::gpu
