// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/flights.hpp"
#include "base/recent.hpp"
#include "jit/device_compiler.hpp"
#include "jit/notices.hpp"
#include "jit/service.hpp"
#include "jit/store.hpp"

namespace op2::jit {

/// @brief Settings of a DeviceService.
struct DeviceServiceOptions {
  std::string cache_dir;               ///< empty: from the environment, see cache_directory()
  bool use_disk = true;                ///< false: keep binaries in memory only
  std::int64_t max_disk_bytes = 0;     ///< bound of the cache directory
  std::size_t max_memory_bytes = 0;    ///< bound of the binaries kept in memory
  double compile_timeout_seconds = 0;  ///< how long to wait for another process that compiles
  InterruptCheck interrupted;          ///< see InterruptCheck
};

/// @brief A binary for a device and what it took to get it.
struct DeviceBinary {
  std::shared_ptr<const std::string> bytes;
  Origin origin = Origin::memory;
  double seconds = 0.0;  ///< inside compile()
  std::string path;      ///< of the entry on disk; empty if there is none
};

/// @brief From source text to a device's binary: memory, then disk, then the compiler.
///
/// Single flight, within the process and between processes that share a cache directory. Safe to
/// use from any number of threads. Nothing it does with the disk can fail a compilation: a binary
/// that cannot be stored is kept in memory and a notice says why.
class DeviceService {
 public:
  explicit DeviceService(DeviceServiceOptions options);

  /// @brief What @p compiler makes of @p source.
  /// @param[in] compile_options Part of the key.
  /// @param[in] key_extra Whatever else the binary depends on: the generator's version.
  /// @throws CompilationError if the source is rejected, keeping a copy of it.
  /// @throws ToolchainError if the compiler is missing or breaks.
  [[nodiscard]] DeviceBinary compile(DeviceCompiler& compiler, const std::string& source,
                                     const std::vector<std::string>& compile_options,
                                     const std::string& key_extra);

  [[nodiscard]] Statistics statistics() const;
  /// @brief What the user should be told, each message once; empties the list.
  [[nodiscard]] std::vector<std::string> take_notices();
  /// @brief Forget the binaries in memory.
  void clear_memory();

 private:
  struct Request;

  DeviceBinary find_or_build(const Request& request);
  std::optional<DeviceBinary> find_on_disk(const Request& request);
  std::string store(const Request& request, const std::string& binary);
  std::string build(const Request& request);
  std::string keep_source(const Request& request);
  bool is_store_usable();
  void count(std::int64_t Statistics::*counter);

  DeviceServiceOptions options_;
  Store store_;
  Notices notices_;
  mutable std::mutex mutex_;  // guards everything below; never held while waiting
  Recent<std::shared_ptr<const std::string>> recent_;
  Flights<DeviceBinary> flights_;
  Statistics statistics_;
};

}  // namespace op2::jit
