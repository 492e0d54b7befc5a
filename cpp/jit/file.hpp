// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/patience.hpp"

namespace op2::jit {

/// @brief A directory cannot hold what must be written: full, read-only, over quota, gone.
///
/// Internal to this room: the service catches it, says so once, and works from elsewhere.
class StorageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @brief Owner of one file descriptor.
class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int release();
  int fd_;
};

/// @brief The whole of an open file; nothing if reading fails.
[[nodiscard]] std::optional<std::string> read_all(int fd);

/// @brief The first @p n_bytes of an open file; nothing if reading fails, or it has fewer.
[[nodiscard]] std::optional<std::string> read_all(int fd, std::int64_t n_bytes);

/// @brief Append all of @p bytes to an open file.
/// @throws StorageError naming @p path and the system's reason.
void write_all(int fd, std::string_view bytes, const std::filesystem::path& path);

/// @brief Create @p path (it must not exist, mode 0600) with @p bytes in it.
/// @throws StorageError
void write_new_file(const std::filesystem::path& path, std::string_view bytes);

/// @brief Rename, replacing @p to in one step.
/// @throws StorageError
void replace_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// @brief Write @p bytes into a new file `<parent>/<stem>.XXXXXX` and rename that to @p to: whoever
/// reads @p to finds all of them, or what was there. Nothing is left where it fails.
/// @throws StorageError
void write_in_one_step(const std::filesystem::path& parent, std::string_view stem,
                       const std::filesystem::path& to, std::string_view bytes);

/// @brief A fresh directory (mode 0700) that disappears with everything in it.
class WorkDirectory {
 public:
  /// @brief Create `<parent>/<stem>.XXXXXX`.
  /// @throws StorageError
  WorkDirectory(const std::filesystem::path& parent, std::string_view stem);
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  WorkDirectory(WorkDirectory&& other) noexcept;
  WorkDirectory& operator=(WorkDirectory&& other) noexcept;
  ~WorkDirectory() { remove(); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// @brief Leave the directory behind: something in it is for the user to read.
  void keep() { path_.clear(); }

 private:
  void remove();
  std::filesystem::path path_;
};

/// @brief An exclusive lock between processes, on a file that exists only while it is held.
///
/// flock: the kernel releases it when the holder dies, however it dies.
class FileLock {
 public:
  /// @brief Take the lock, waiting as long as @p patience allows.
  /// @return Nothing if time ran out or the file system has no locks: the caller then goes on
  /// without, which costs a second compilation and nothing else.
  [[nodiscard]] static std::optional<FileLock> acquire(const std::filesystem::path& path,
                                                       const Patience& patience);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock() { release(); }

 private:
  FileLock(UniqueFd fd, std::filesystem::path path);
  void release();
  UniqueFd fd_;
  std::filesystem::path path_;
};

}  // namespace op2::jit
