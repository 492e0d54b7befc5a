// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/device_compiler.hpp"
#include "jit/opencl/api.hpp"

namespace op2::jit::opencl {

/// @brief The compiler inside the driver of one device.
class Compiler : public DeviceCompiler {
 public:
  Compiler(std::shared_ptr<const Api> api, const FoundDevice& device);

  [[nodiscard]] std::string identity() const override { return identity_; }
  [[nodiscard]] std::string suffix() const override { return ".cl"; }
  [[nodiscard]] std::string compile(const std::string& source,
                                    const std::vector<std::string>& options) override;

 private:
  std::shared_ptr<const Api> api_;
  FoundDevice device_;
  std::string identity_;
  Owned<Context> context_;
};

/// @brief The log of the last build of @p program.
[[nodiscard]] std::string build_log(const Api& api, ProgramId program, DeviceId device);

}  // namespace op2::jit::opencl
