// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mesh/buffer.hpp"
#include "runtime/device_mirror.hpp"
#include "runtime/graph_task.hpp"

namespace op2::runtime {

/// @brief An action on values where loops run, by a command of a device or a call on the host. In a
/// graph of CUDA the commands are nodes.
class ValueTask : public GraphTask {
 public:
  [[nodiscard]] std::shared_ptr<Device> device() const override {
    return mirror_ ? mirror_->device() : nullptr;
  }
  [[nodiscard]] const std::vector<mesh::BufferUse>& uses() const override { return uses_; }
  [[nodiscard]] bool is_of_values() const override { return mirror_ == nullptr; }
  bool bring_to_host() override;
  bool run() override;
  [[nodiscard]] Device* recorder() override { return device().get(); }
  [[nodiscard]] std::size_t n_launches() const override { return 1; }
  bool make_ready(std::vector<std::uintptr_t>& state) override;
  void launch_ready() override;
  void count_replays(std::int64_t n) override;

 protected:
  /// @param[in] mirror Where loops run; null: on the host.
  ValueTask(std::shared_ptr<DeviceMirror> mirror, std::string what,
            std::vector<std::shared_ptr<mesh::Buffer>> buffers, std::vector<mesh::BufferUse> uses);
  /// @brief The name in errors; lives as long as the task.
  [[nodiscard]] const std::string& what() const { return what_; }

 private:
  virtual void run_on_host() = 0;
  /// @param[in] handles One for each use; null only for no bytes.
  virtual void enqueue(Device& device, const std::vector<void*>& handles) = 0;
  void count_writes();

  std::shared_ptr<DeviceMirror> mirror_;
  std::string what_;
  std::vector<std::shared_ptr<mesh::Buffer>> buffers_;  // kept alive
  std::vector<mesh::BufferUse> uses_;
  std::vector<void*> handles_;
};

/// @brief Sets all values to zero, or a few to numbers.
class FillTask final : public ValueTask {
 public:
  /// @param[in] value All bytes of the Buffer; none: zeros.
  /// @throws UsageError for more or fewer bytes, or more than Buffer::most_set_bytes.
  FillTask(std::shared_ptr<DeviceMirror> mirror, std::shared_ptr<mesh::Buffer> target,
           std::vector<std::byte> value);

 private:
  void run_on_host() override;
  void enqueue(Device& device, const std::vector<void*>& handles) override;

  mesh::Buffer* target_;
  std::vector<std::byte> value_;
};

/// @brief Copies all bytes into a Buffer of as many, laid out alike.
class CopyTask final : public ValueTask {
 public:
  /// @throws UsageError if the two differ in size or layout, or are the same.
  CopyTask(std::shared_ptr<DeviceMirror> mirror, std::shared_ptr<mesh::Buffer> target,
           std::shared_ptr<mesh::Buffer> source);

 private:
  void run_on_host() override;
  void enqueue(Device& device, const std::vector<void*>& handles) override;

  mesh::Buffer* target_;
  mesh::Buffer* source_;
};

/// @brief Gives a Buffer the values that another Buffer has on the device alone, and the other
/// Buffer undefined values: the two exchange memory, without a command. Where other code holds the
/// memory, the values are copied.
class ExchangeTask final : public GraphTask {
 public:
  /// @throws UsageError if they differ in bytes or layout, or are the same.
  ExchangeTask(std::shared_ptr<DeviceMirror> mirror, std::shared_ptr<mesh::Buffer> target,
               std::shared_ptr<mesh::Buffer> source);

  [[nodiscard]] std::shared_ptr<Device> device() const override { return mirror_->device(); }
  [[nodiscard]] const std::vector<mesh::BufferUse>& uses() const override { return uses_; }
  [[nodiscard]] bool may_exchange() const override { return true; }
  [[nodiscard]] std::pair<mesh::Buffer*, mesh::Buffer*> exchanged() const override;
  bool run() override;
  [[nodiscard]] Device* recorder() override { return mirror_->device().get(); }
  [[nodiscard]] std::size_t n_launches() const override { return has_to_copy_ ? 1 : 0; }
  bool make_ready(std::vector<std::uintptr_t>& state) override;
  void launch_ready() override;
  void count_replays(std::int64_t n) override;

 private:
  std::shared_ptr<DeviceMirror> mirror_;
  std::string what_;
  std::shared_ptr<mesh::Buffer> target_;
  std::shared_ptr<mesh::Buffer> source_;
  std::vector<mesh::BufferUse> uses_;
  std::vector<void*> handles_;
  bool is_ready_ = false;
  bool has_to_copy_ = false;
};

}  // namespace op2::runtime
