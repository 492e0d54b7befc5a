// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/device_compiler.hpp"
#include "runtime/opencl/api.hpp"
#include "runtime/opencl/context.hpp"

namespace op2::jit::opencl {

/// @brief The compiler inside the driver of a device.
class Compiler : public DeviceCompiler {
 public:
  Compiler(std::shared_ptr<const runtime::opencl::Api> api,
           const runtime::opencl::FoundDevice& device);

  [[nodiscard]] std::string identity() const override { return identity_; }
  [[nodiscard]] std::string suffix() const override { return ".cl"; }
  [[nodiscard]] std::string compile(const std::string& source,
                                    const std::vector<std::string>& options) override;

 private:
  std::shared_ptr<const runtime::opencl::Api> api_;
  runtime::opencl::FoundDevice device_;
  std::string identity_;
  std::shared_ptr<runtime::opencl::DeviceContext> context_;
};

/// @brief The compiler of a device.
/// @param[in] device The number in runtime::opencl::list_devices().
/// @param[in] folders Ignored: the compiler is in the driver.
/// @throws ToolchainError, UsageError as runtime::opencl::open_device().
[[nodiscard]] std::shared_ptr<DeviceCompiler> make_compiler(
    const std::string& device, const std::vector<std::string>& folders);

}  // namespace op2::jit::opencl
