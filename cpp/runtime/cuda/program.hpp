// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/cuda/context.hpp"
#include "runtime/device.hpp"

namespace op2::runtime::cuda {

/// @brief A kernel of a Program.
class Kernel final : public DeviceKernel {
 public:
  Kernel(FunctionHandle function, int max_lanes) : function_(function), max_lanes_(max_lanes) {}
  [[nodiscard]] int max_lanes() const override { return max_lanes_; }
  [[nodiscard]] FunctionHandle function() const { return function_; }

 private:
  FunctionHandle function_;
  int max_lanes_;
};

/// @brief A module of machine code, unloaded with its last owner. Safe to use from several threads.
class LoadedProgram final : public Program {
 public:
  /// @param[in] binary A cubin, or PTX that the driver compiles.
  /// @throws ToolchainError if this GPU or driver cannot run it.
  LoadedProgram(std::shared_ptr<Context> context, const std::string& binary);
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;
  ~LoadedProgram() override;

  [[nodiscard]] DeviceKernel& kernel(const std::string& name) override;

 private:
  std::shared_ptr<Context> context_;
  ModuleHandle module_ = nullptr;
  std::mutex mutex_;  // guards the kernels
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace op2::runtime::cuda
