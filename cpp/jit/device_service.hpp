// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "jit/compile_core.hpp"
#include "jit/device_compiler.hpp"

namespace op2::jit {

/// @brief Settings of a DeviceService.
struct DeviceServiceOptions : CacheOptions {
  std::size_t max_memory_bytes = 0;  ///< bound of the binaries kept in memory
};

/// @brief A binary for a device, and the cost of getting the binary.
struct DeviceBinary {
  std::shared_ptr<const std::string> bytes;
  Origin origin = Origin::memory;
  double seconds = 0.0;  ///< inside compile()
  std::string path;      ///< of the entry on disk; empty if there is none
};

/// @brief From source text to a device's binary, by a DeviceCompiler: see CompileCore.
///
/// A binary that cannot be stored is kept in memory. Safe to use from any number of threads.
class DeviceService {
 public:
  explicit DeviceService(DeviceServiceOptions options);

  /// @brief The output of @p compiler for @p source.
  /// @param[in] compile_options Part of the key.
  /// @param[in] key_extra Everything else behind the binary: the generator's version.
  /// @throws CompilationError if the source is rejected; a copy of the source is kept.
  /// @throws ToolchainError if the compiler is missing or breaks.
  [[nodiscard]] DeviceBinary compile(DeviceCompiler& compiler, const std::string& source,
                                     const std::vector<std::string>& compile_options,
                                     const std::string& key_extra);

  [[nodiscard]] Statistics statistics() const { return core_.statistics(); }
  /// @brief Messages for the user, each message once; empties the list.
  [[nodiscard]] std::vector<std::string> take_notices() { return core_.take_notices(); }

 private:
  class Compilation;

  CompileCore<DeviceBinary> core_;
};

}  // namespace op2::jit
