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

/// @brief What is done to values where loops run, by one command of a device or one call on the
/// host. A graph of CUDA has what it enqueues as nodes.
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
  /// @brief What errors call it; lives as long as the task.
  [[nodiscard]] const std::string& what() const { return what_; }

 private:
  virtual void run_on_host() = 0;
  /// @param[in] handles One for each use; none is null, but those of no bytes.
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
  /// @throws UsageError if these are more or fewer bytes, or more than Buffer::most_set_bytes.
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
  /// @throws UsageError if they differ in that, or are the same.
  CopyTask(std::shared_ptr<DeviceMirror> mirror, std::shared_ptr<mesh::Buffer> target,
           std::shared_ptr<mesh::Buffer> source);

 private:
  void run_on_host() override;
  void enqueue(Device& device, const std::vector<void*>& handles) override;

  mesh::Buffer* target_;
  mesh::Buffer* source_;
};

/// @brief Gives a Buffer the values that another one has on the device alone, and that one
/// something: they change memory, which takes no command. Where somebody else holds the memory,
/// the values are copied.
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
