// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Measured choices for programs: the files written by `pyop2cxx tune` and `build --tuned`.
namespace op2::api {

/// @brief A measured loop.
struct TunedEntry {
  std::string key;  ///< of the loop, on a kind of device
  std::string way;  ///< strategy, lanes and numbers, as CompiledLoop::way
  int size = 0;     ///< bits of the number of elements
  double us = 0;
  double rule_us = 0;
};

/// @brief The measurements of a device.
struct TunedFile {
  std::string backend;
  std::string device;
  std::vector<TunedEntry> entries;
};

/// @brief An answer about a loop.
struct TunedAnswer {
  const TunedEntry* entry = nullptr;
  std::string_view level;  ///< "exact", "size", "device"
};

/// @brief All files of a folder, or a single file.
class Tuned {
 public:
  Tuned() = default;
  /// @brief Read the files. Anything wrong with a file is a line in problems().
  explicit Tuned(const std::string& path);

  /// @brief What is known about a loop: of the device first, then of other devices; the nearest
  /// size.
  [[nodiscard]] std::optional<TunedAnswer> find(std::string_view backend, std::string_view device,
                                                std::string_view key,
                                                std::int64_t n_elements) const;

  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] bool is_empty() const { return files_.empty(); }

 private:
  void add(const std::string& path);

  std::vector<TunedFile> files_;
  std::vector<std::string> problems_;
};

/// @brief Name of the host's processor, in files of the tuner: the model, or on ARM, where the
/// system names none, the architecture with the numbers of implementer and part, as "aarch64 0x41
/// 0xd0c".
[[nodiscard]] std::string processor_name();

/// @brief The same, from a text as in /proc/cpuinfo and the name of the architecture.
[[nodiscard]] std::string processor_name(const std::string& cpuinfo, const std::string& machine);

}  // namespace op2::api
