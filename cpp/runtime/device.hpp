// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

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

/// @brief How many blocks of how many lanes run a kernel.
struct Grid {
  std::int64_t n_blocks = 1;
  int n_lanes = 1;
};

/// @brief An argument of a kernel: the handle of memory (null: a null pointer), or a number (C's
/// long).
using LaunchArgument = std::variant<void*, std::int64_t>;

/// @brief A function of a Program that the host can launch.
class DeviceKernel {
 public:
  DeviceKernel() = default;
  DeviceKernel(const DeviceKernel&) = delete;
  DeviceKernel& operator=(const DeviceKernel&) = delete;
  virtual ~DeviceKernel() = default;

  /// @brief The most lanes a block may have, as registers allow.
  [[nodiscard]] virtual int max_lanes() const = 0;
};

/// @brief Code loaded onto a device.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  /// @brief The kernel called @p name; lives as long as the Program.
  /// @throws InternalError if there is none.
  [[nodiscard]] virtual DeviceKernel& kernel(const std::string& name) = 0;
};

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
