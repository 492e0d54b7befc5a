// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace op2::jit {

/// @brief A shared object in this process; unloaded with its last owner.
///
/// Shared (std::shared_ptr) between the memory cache and every Executable of the object, so
/// evicting an entry never takes the code from under a running loop.
class Library {
 public:
  /// @brief Load @p path privately (RTLD_LOCAL) with every symbol resolved now (RTLD_NOW).
  /// @throws ToolchainError with the loader's message.
  explicit Library(const std::filesystem::path& path);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;
  ~Library() { close(); }

  /// @brief Address of the exported @p name.
  /// @throws ToolchainError if the object has no symbol of this name.
  [[nodiscard]] void* symbol(const std::string& name) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void close();
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace op2::jit
