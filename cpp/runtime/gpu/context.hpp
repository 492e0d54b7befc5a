// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/gpu/driver.hpp"

namespace op2::runtime::gpu {

/// @brief A GPU's primary context and the only stream of all commands.
///
/// CuPy and PyTorch use the primary context, too, so addresses can be exchanged. The stream waits
/// for the legacy default stream and the other way round: work of those libraries is ordered with
/// loops without further calls.
class Context {
 public:
  /// @param[in] index Of the GPU, as the driver counts.
  /// @throws UsageError if there is no such GPU. @throws ExecutionError if it cannot be used.
  Context(std::shared_ptr<const Driver> driver, int index);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  /// Never throws and never waits: the driver may have shut down before.
  ~Context();

  [[nodiscard]] const Driver& driver() const { return *driver_; }
  [[nodiscard]] StreamHandle stream() const { return stream_; }
  [[nodiscard]] DeviceOrdinal ordinal() const { return ordinal_; }
  /// @brief The GPU's name in messages: "cuda device 0 (NVIDIA H200)".
  [[nodiscard]] const std::string& name() const { return name_; }

  /// @brief Whether this process inherited the context from its parent: a context works in the
  /// parent only.
  [[nodiscard]] bool is_inherited() const;
  /// @throws ExecutionError in a child process, with the remedy.
  void check_process() const;
  /// @throws ExecutionError if @p result is not success: "cannot <doing> on <name>: <words>".
  void check(Result result, std::string_view doing) const;

 private:
  std::shared_ptr<const Driver> driver_;
  std::int64_t n_forks_;
  std::string name_;
  DeviceOrdinal ordinal_ = 0;
  ContextHandle handle_ = nullptr;
  StreamHandle stream_ = nullptr;

  friend class Current;
};

/// @brief Makes a Context current on the calling thread for a scope, and restores the thread
/// afterwards.
class Current {
 public:
  explicit Current(const Context& context);
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current();

 private:
  const Driver& driver_;
  bool is_pushed_ = false;
};

}  // namespace op2::runtime::gpu
