// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace op2::jit {

/// @brief A compiler inside the process that makes code for one device.
///
/// Implemented in jit/<vendor>. Safe to use from several threads at the same time.
class DeviceCompiler {
 public:
  DeviceCompiler() = default;
  DeviceCompiler(const DeviceCompiler&) = delete;
  DeviceCompiler& operator=(const DeviceCompiler&) = delete;
  virtual ~DeviceCompiler() = default;

  /// @brief Canonical text of everything besides source and options that changes the binary:
  /// compiler and version, the device or architecture, the driver.
  [[nodiscard]] virtual std::string identity() const = 0;

  /// @brief The ending of source files, with the dot: ".cl".
  [[nodiscard]] virtual std::string suffix() const = 0;

  /// @brief The input of runtime::Device::load().
  /// @throws CompilationError with the compiler's log as stderr_text() if the source is rejected;
  /// source_path() is empty then, because the service keeps the source.
  /// @throws ToolchainError if the compiler is missing or breaks.
  [[nodiscard]] virtual std::string compile(const std::string& source,
                                            const std::vector<std::string>& options) = 0;
};

/// @brief Makes a compiler for devices of a vendor.
/// @param[in] device A device, or a kind of devices: "sm_90"; the vendor's adaptor explains the
/// form.
/// @param[in] folders Where packages keep the compiler, after the usual places.
/// @throws ToolchainError if there is no compiler, or the compiler makes no code for @p device.
using MakeCompiler = std::shared_ptr<DeviceCompiler> (*)(const std::string& device,
                                                         const std::vector<std::string>& folders);

/// @brief The compiler of a vendor of runtime::vendors().
/// @throws ToolchainError as MakeCompiler does, and if this program has no compiler for the vendor.
[[nodiscard]] std::shared_ptr<DeviceCompiler> make_device_compiler(
    std::string_view vendor, const std::string& device, const std::vector<std::string>& folders);

/// @brief Set the maker of compilers for a vendor, before main().
/// @return true
bool register_compiler(std::string_view vendor, MakeCompiler make);

/// @brief The error of compile() for a rejected source.
/// @param[in] compiler "NVRTC". @param[in] command The options. @param[in] log The compiler's
/// output.
[[nodiscard]] CompilationError rejected(const std::string& compiler, const std::string& command,
                                        const std::string& log);

/// @brief The error of compile() for a broken compiler: @p why.
[[nodiscard]] ToolchainError broke(const std::string& compiler, const std::string& why,
                                   const std::string& command, const std::string& log);

}  // namespace op2::jit
