// SPDX-License-Identifier: BSD-3-Clause
#include "base/forks.hpp"

#include <pthread.h>

#include <atomic>

namespace op2 {
namespace {

// State of the process, not of any object in it: a fork copies it, and the handler may only touch
// what is safe after fork.
std::atomic<std::int64_t> n_forks = 0;

void after_fork_in_child() {
  n_forks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::int64_t forks_so_far() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, after_fork_in_child);
  static_cast<void>(registered);
  return n_forks.load(std::memory_order_relaxed);
}

}  // namespace op2
