// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/prepared_loop.hpp"

namespace op2::runtime {

/// @brief Loops that are ready, run one after the other without anybody between them.
class Sequence {
 public:
  explicit Sequence(std::vector<std::shared_ptr<PreparedLoop>> loops);

  /// @brief Run all loops, @p n_times. Enqueues them where loops run on a device.
  /// @return Whether values were copied between host and devices; see PreparedLoop::run().
  /// @throws As PreparedLoop::run(): what comes behind has not run then.
  bool run(std::int64_t n_times);

  [[nodiscard]] std::size_t size() const { return loops_.size(); }

 private:
  std::vector<std::shared_ptr<PreparedLoop>> loops_;
};

}  // namespace op2::runtime
