// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/copy_rate.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace op2::runtime {

double measure_copy_rate(mesh::Device& device, std::int64_t n_bytes, int n_copies) {
  using Clock = std::chrono::steady_clock;
  const std::shared_ptr<void> from = device.allocate(n_bytes, "the copy to be timed");
  const std::shared_ptr<void> to = device.allocate(n_bytes, "the copy to be timed");
  device.zero(from.get(), 0, n_bytes);
  device.copy(to.get(), 0, from.get(), 0, n_bytes);
  device.finish();
  double best = 0.0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < n_copies; ++i) device.copy(to.get(), 0, from.get(), 0, n_bytes);
    device.finish();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, 2.0 * static_cast<double>(n_bytes) * n_copies / seconds);
  }
  return best;
}

}  // namespace op2::runtime
