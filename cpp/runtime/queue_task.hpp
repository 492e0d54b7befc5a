// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mesh/buffer.hpp"
#include "runtime/device_mirror.hpp"
#include "runtime/value_tasks.hpp"

namespace op2::runtime {

/// @brief Values used by a call of a library, and whether the call writes them.
using QueueUses = std::vector<std::pair<std::shared_ptr<mesh::Buffer>, bool>>;

/// @brief A call of a vendor's library, such as cuBLAS, by a function of the program. The function
/// enqueues its work on the given queue. While launches are recorded the queue is the recording's:
/// the work becomes nodes, and the function is not called again.
class QueueTask final : public ValueTask {
 public:
  /// @brief Takes the vendor's handle of the queue, none on the host, and addresses in the order of
  /// the values. On a device the function must wait for nothing.
  using Function = std::function<void(std::optional<std::uintptr_t> queue,
                                      const std::vector<std::uintptr_t>& addresses)>;

  /// @brief Whether a device has queues known to libraries.
  [[nodiscard]] static bool is_possible(DeviceMirror& mirror);

  /// @param[in] mirror Where loops run; null: on the host, where the work is done when the function
  /// returns.
  QueueTask(std::shared_ptr<DeviceMirror> mirror, std::string what, const QueueUses& values,
            Function function);

  /// @brief No: the function is the program's, and may take long.
  [[nodiscard]] bool is_of_values() const override { return false; }

 private:
  void run_on_host() override;
  /// @throws UnsupportedError if the device has no queues for libraries.
  void enqueue(Device& device, const std::vector<void*>& handles) override;

  Function function_;
};

}  // namespace op2::runtime
