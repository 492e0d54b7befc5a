// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace op2 {

/// @brief Run @p body(begin, end, thread) over [0, n) in at most @p n_threads contiguous chunks.
///
/// Plain threads rather than OpenMP: the core then needs no OpenMP run-time, and a fork after plan
/// building stays safe. The first exception of any chunk is rethrown here.
template <class Body>
void parallel_for(int n_threads, std::int64_t n, const Body& body, std::int64_t grain = 4096) {
  const std::int64_t wanted = (n + grain - 1) / grain;
  const int chunks = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max(n_threads, 1)));
  const auto begin_of = [n, chunks](int chunk) { return n * chunk / chunks; };
  if (chunks == 1) {
    body(std::int64_t{0}, n, 0);
    return;
  }
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(chunks));
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(chunks));
  const auto run = [&body, &failures, &begin_of](int chunk) {
    try {
      body(begin_of(chunk), begin_of(chunk + 1), chunk);
    } catch (...) {
      failures[static_cast<std::size_t>(chunk)] = std::current_exception();
    }
  };
  for (int chunk = 1; chunk < chunks; ++chunk) threads.emplace_back(run, chunk);
  run(0);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace op2
