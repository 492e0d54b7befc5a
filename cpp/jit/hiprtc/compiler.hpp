// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/device_compiler.hpp"
#include "jit/gpu/library.hpp"

namespace op2::jit::hiprtc {

/// @brief Find AMD's run-time compiler, with NVRTC's functions by other names.
/// @param[in] candidates See VendorLibrary. @throws ToolchainError if there is none.
[[nodiscard]] gpu::Library load_library(const std::vector<std::string>& candidates);

/// @brief HIP C++ to machine code for one kind of GPUs, or for the GPU of the thread, found by
/// hipRTC.
class Compiler final : public DeviceCompiler {
 public:
  /// @param[in] device A kind of GPUs: "gfx90a". Or any other text, to tell GPUs apart in keys of
  /// caches: then the code is for the GPU of the thread.
  Compiler(gpu::Library library, std::string device);

  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] std::string suffix() const override { return ".hip"; }
  [[nodiscard]] std::string compile(const std::string& source,
                                    const std::vector<std::string>& options) override;

 private:
  gpu::Library library_;
  std::string device_;
};

/// @brief The compiler for a GPU. @throws ToolchainError if there is no hipRTC.
/// @param[in] device See Compiler.
/// @param[in] folders Not looked at: no package has hipRTC.
[[nodiscard]] std::shared_ptr<DeviceCompiler> make_compiler(
    const std::string& device, const std::vector<std::string>& folders);

}  // namespace op2::jit::hiprtc
