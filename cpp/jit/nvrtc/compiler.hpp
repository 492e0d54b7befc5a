// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/device_compiler.hpp"
#include "jit/gpu/library.hpp"

namespace op2::jit::nvrtc {

/// @brief CUDA C++ to machine code for one architecture; needs no GPU.
///
/// For a GPU newer than NVRTC the output is PTX of the newest known architecture, compiled by the
/// driver when the program is loaded. The same holds where NVRTC's own assembler might compute
/// wrong values (see with_signs_kept()).
class Compiler final : public DeviceCompiler {
 public:
  /// @param[in] architecture "sm_90".
  /// @throws ToolchainError if NVRTC no longer makes code for @p architecture.
  Compiler(std::shared_ptr<const gpu::Library> library, const std::string& architecture);

  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] std::string suffix() const override { return ".cu"; }
  [[nodiscard]] std::string compile(const std::string& source,
                                    const std::vector<std::string>& options) override;

  /// @brief The target of the code: "sm_90", or "compute_100" for PTX.
  [[nodiscard]] const std::string& target() const { return target_; }

 private:
  std::shared_ptr<const gpu::Library> library_;
  std::string target_;
  bool makes_ptx_ = false;
  bool loses_signs_ = false;  // the assembler does
};

/// @brief The compiler for one architecture, without need of a GPU.
/// @param[in] architecture "sm_90".
/// @param[in] folders Where packages keep NVRTC, after the usual places.
/// @throws ToolchainError if there is no NVRTC, or NVRTC does not make code for @p architecture.
[[nodiscard]] std::shared_ptr<DeviceCompiler> make_compiler(
    const std::string& architecture, const std::vector<std::string>& folders);

}  // namespace op2::jit::nvrtc
