// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/device.hpp"
#include "runtime/gpu/context.hpp"

namespace op2::runtime::gpu {

/// @brief A kernel of a Program.
class Kernel final : public DeviceKernel {
 public:
  Kernel(FunctionHandle function, int max_lanes, int shared_bytes, bool waits_by_itself)
      : function_(function),
        max_lanes_(max_lanes),
        shared_bytes_(shared_bytes),
        waits_by_itself_(waits_by_itself) {}
  [[nodiscard]] int max_lanes() const override { return max_lanes_; }
  [[nodiscard]] FunctionHandle function() const { return function_; }
  /// @brief Memory of a block that launches ask for, apart from the code's own.
  [[nodiscard]] int shared_bytes() const { return shared_bytes_; }
  /// @brief Whether the kernel may be launched while the kernel before ends: see LoadedProgram.
  [[nodiscard]] bool waits_by_itself() const { return waits_by_itself_; }

 private:
  FunctionHandle function_;
  int max_lanes_;
  int shared_bytes_;
  bool waits_by_itself_;
};

/// @brief A module of machine code, unloaded with its last owner. Safe to use from several threads.
///
/// The kernels wait by themselves for the kernel before if the module defines `op2_waits`, as
/// templates/cuda/program.j2 does where the compiler's target has the instruction. The target may
/// be older than the GPU, so neither the GPU nor the source can tell. A kernel NAME for which the
/// module defines a number `op2_shared_NAME` is launched with so many bytes of a block's memory.
class LoadedProgram final : public Program {
 public:
  /// @param[in] binary A cubin, or PTX for the driver to compile.
  /// @throws ToolchainError if the GPU or the driver cannot run the binary.
  LoadedProgram(std::shared_ptr<Context> context, const std::string& binary);
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;
  ~LoadedProgram() override;

  [[nodiscard]] DeviceKernel& kernel(const std::string& name) override;
  [[nodiscard]] int resident_blocks(const std::string& name, int n_lanes) override;

 private:
  [[nodiscard]] int requested_shared_bytes(const std::string& name, FunctionHandle function) const;

  std::shared_ptr<Context> context_;
  ModuleHandle module_ = nullptr;
  bool waits_by_itself_ = false;
  std::mutex mutex_;  // guards the kernels
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace op2::runtime::gpu
