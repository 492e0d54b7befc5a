// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "jit/file.hpp"

namespace op2::jit {

/// @brief The cache directory to use: @p option, else `PYOP2CXX_CACHE_DIR`, else
/// `$XDG_CACHE_HOME/pyop2cxx`, else `~/.cache/pyop2cxx`.
/// @return An absolute path, or an empty one if none of these is set and the user has no home.
[[nodiscard]] std::filesystem::path cache_directory(const std::string& option);

/// @brief The content of a cache directory.
struct StoreInfo {
  std::int64_t n_entries = 0;  // compiled objects
  std::int64_t n_bytes = 0;    // of all files of the cache
};

/// @brief Result of looking for an entry.
struct Lookup {
  enum class State { hit, absent, damaged };
  State state = State::absent;
  std::string payload;
};

/// @brief A directory of cache entries, shared with other threads and processes at any time.
///
/// Files are named `<digest>.<suffix>`. Entries appear and are replaced by rename only, are never
/// changed in place, and may be deleted by anyone at any moment: a process with a mapped entry
/// keeps the mapping, a process about to load the entry compiles anew.
class Store {
 public:
  Store(std::filesystem::path directory, std::int64_t max_bytes);

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] std::filesystem::path path_of(std::string_view digest,
                                              std::string_view suffix) const;

  /// @brief Create a missing directory (mode 0700), and check whether code inside may be trusted
  /// and run: ours, writable by nobody else, not mounted noexec.
  /// @return The problem and the remedy; nothing if all is well.
  [[nodiscard]] std::optional<std::string> problem() const;

  /// @brief Read and verify an entry; a hit counts as a use for eviction.
  [[nodiscard]] Lookup find(std::string_view digest, std::string_view suffix,
                            std::string_view key) const;

  /// @brief Lock @p digest against other threads and processes.
  [[nodiscard]] std::optional<FileLock> lock(std::string_view digest,
                                             const Patience& patience) const;

  /// @brief A private directory on the same file system to prepare an entry in.
  /// @throws StorageError
  [[nodiscard]] WorkDirectory work(std::string_view digest) const;

  /// @brief Put a file with @p bytes into the cache.
  /// @throws StorageError
  void write(std::string_view bytes, std::string_view digest, std::string_view suffix);

  /// @brief Remove the remains of killed processes at @p digest; the caller holds the lock.
  void sweep(std::string_view digest) const;

  /// @brief Move a finished file into the cache.
  /// @throws StorageError
  void publish(const std::filesystem::path& finished, std::string_view digest,
               std::string_view suffix);

  /// @brief evict() if this process has published a sixteenth of the bound since its last eviction,
  /// or nobody has evicted for an hour: reading a large directory after every compilation would
  /// cost more than the compilation's own overhead.
  void make_room();

  /// @brief Delete the entries used longest ago until the cache is below its bound, and the remains
  /// of killed processes.
  void evict();

  /// @brief Delete every file of the cache, and nothing else in the directory.
  void clear();

  [[nodiscard]] StoreInfo info() const;

 private:
  [[nodiscard]] std::filesystem::path work_folder() const;
  [[nodiscard]] bool eviction_due() const;
  void sweep_orphans() const;

  std::filesystem::path directory_;
  std::int64_t max_bytes_;
  std::atomic<std::int64_t> n_bytes_since_eviction_ = 0;  // published by this process
};

}  // namespace op2::jit
