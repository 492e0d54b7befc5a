// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/program.hpp"
#include "mesh/device.hpp"

namespace op2::runtime {

/// @brief What a device says of itself.
struct DeviceInfo {
  std::string backend;   ///< that reaches it: "opencl", "cuda"
  std::string platform;  ///< OpenCL's platform; "CUDA"
  std::string name;
  std::string driver;      ///< version
  std::string capability;  ///< "sm_90", "OpenCL C 1.2"
  std::int64_t memory_bytes = 0;
  std::int64_t shared_bytes = 0;  ///< of one block
  int n_units = 0;                ///< multiprocessors, compute units
  int max_lanes = 0;              ///< of one block
  int warp = 0;                   ///< lanes that can exchange registers; 0: none
  bool float64 = false;
  bool is_cpu = false;
};

using exec::DeviceKernel;
using exec::Grid;
using exec::LaunchArgument;
using exec::Program;

/// @brief A device that runs kernels, in the order in which they are launched.
class Device : public mesh::Device {
 public:
  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// @brief Load what the backend's compiler made for this device.
  [[nodiscard]] virtual std::shared_ptr<Program> load(const std::string& binary) = 0;

  /// @brief Enqueue a kernel; waits for nothing.
  /// @param[in] loop Named in the error that a fault raises at the next wait; must outlive it.
  virtual void launch(DeviceKernel& kernel, const Grid& grid,
                      std::span<const LaunchArgument> arguments, const std::string& loop) = 0;
};

}  // namespace op2::runtime
