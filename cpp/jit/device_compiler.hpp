// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace op2::jit {

/// @brief A compiler that lives in this process and makes code for one device.
///
/// Implemented in jit/<vendor>. Safe to use from several threads at the same time.
class DeviceCompiler {
 public:
  DeviceCompiler() = default;
  DeviceCompiler(const DeviceCompiler&) = delete;
  DeviceCompiler& operator=(const DeviceCompiler&) = delete;
  virtual ~DeviceCompiler() = default;

  /// @brief Canonical text of everything besides source and options that changes the binary:
  /// which compiler and its version, the device or architecture, the driver.
  [[nodiscard]] virtual std::string identity() const = 0;

  /// @brief What files with its sources are called, with the dot: ".cl".
  [[nodiscard]] virtual std::string suffix() const = 0;

  /// @brief What runtime::Device::load() takes.
  /// @throws CompilationError with the compiler's log as stderr_text() if it rejects the source;
  /// its source_path() is empty, keeping the source is the service's business.
  /// @throws ToolchainError if the compiler is missing or breaks.
  [[nodiscard]] virtual std::string compile(const std::string& source,
                                            const std::vector<std::string>& options) = 0;
};

/// @brief Makes a compiler for devices of a vendor.
/// @param[in] device Which device, or which kind of them: "sm_90"; the vendor's adaptor says how.
/// @param[in] folders Where packages keep the compiler, after the usual places.
/// @throws ToolchainError if there is no compiler, or it makes no code for that.
using MakeCompiler = std::shared_ptr<DeviceCompiler> (*)(const std::string& device,
                                                         const std::vector<std::string>& folders);

/// @brief The compiler of a vendor of runtime::vendors().
/// @throws ToolchainError as MakeCompiler does, and if this program has none for that vendor.
[[nodiscard]] std::shared_ptr<DeviceCompiler> make_device_compiler(
    std::string_view vendor, const std::string& device, const std::vector<std::string>& folders);

/// @brief Says what makes compilers for a vendor, before main().
/// @return true
bool register_compiler(std::string_view vendor, MakeCompiler make);

/// @brief What compile() throws of a source that was rejected.
/// @param[in] compiler "NVRTC". @param[in] command What it was told. @param[in] log What it says.
[[nodiscard]] CompilationError rejected(const std::string& compiler, const std::string& command,
                                        const std::string& log);

/// @brief What compile() throws if the compiler breaks: @p why.
[[nodiscard]] ToolchainError broke(const std::string& compiler, const std::string& why,
                                   const std::string& command, const std::string& log);

}  // namespace op2::jit
