// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/patience.hpp"

namespace op2::jit {

/// @brief A directory cannot hold a new file: full, read-only, over quota, gone.
///
/// Internal to this room: the service catches the error, reports once, and works in another place.
class StorageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @brief Owner of a file descriptor.
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

/// @brief The first @p n_bytes of an open file; nothing if reading fails, or the file is shorter.
[[nodiscard]] std::optional<std::string> read_all(int fd, std::int64_t n_bytes);

/// @brief Append all of @p bytes to an open file.
/// @throws StorageError naming @p path and the system's reason.
void write_all(int fd, std::string_view bytes, const std::filesystem::path& path);

/// @brief Create @p path (not existing before, mode 0600) with @p bytes as content.
/// @throws StorageError
void write_new_file(const std::filesystem::path& path, std::string_view bytes);

/// @brief Rename, replacing @p to in one step.
/// @throws StorageError
void replace_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// @brief Write @p bytes into a new file `<parent>/<stem>.XXXXXX` and rename the file to @p to: a
/// reader of @p to finds all of them, or the old content. After a failure nothing is left.
/// @throws StorageError
void write_in_one_step(const std::filesystem::path& parent, std::string_view stem,
                       const std::filesystem::path& to, std::string_view bytes);

/// @brief A fresh directory (mode 0700) that disappears with all content.
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
  /// @brief Leave the directory behind: a file inside is for the user to read.
  void keep() { path_.clear(); }

 private:
  void remove();
  std::filesystem::path path_;
};

/// @brief An exclusive lock between processes, on a file that exists only while the lock is held.
///
/// flock: the kernel releases the lock when the holder dies, however the holder dies.
class FileLock {
 public:
  /// @brief Take the lock, waiting as long as @p patience allows.
  /// @return Nothing if time ran out or the file system has no locks: the caller then goes on
  /// without a lock, at the cost of a second compilation and nothing else.
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
