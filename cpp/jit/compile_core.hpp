// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/flights.hpp"
#include "base/patience.hpp"
#include "base/recent.hpp"
#include "jit/file.hpp"
#include "jit/notices.hpp"
#include "jit/store.hpp"

namespace op2::jit {

/// @brief Common settings of all compile services.
struct CacheOptions {
  std::string cache_dir;               ///< empty: from the environment, see cache_directory()
  bool use_disk = true;                ///< false: keep results in memory only
  std::int64_t max_disk_bytes = 0;     ///< bound of the cache directory
  double compile_timeout_seconds = 0;  ///< for a compiler, and for another process that compiles
  InterruptCheck interrupted;          ///< see InterruptCheck
};

/// @brief Where something came from.
enum class Origin { memory, disk, compiled };

/// @brief Counters of a service.
struct Statistics {
  std::int64_t n_compiles = 0;
  std::int64_t n_memory_hits = 0;
  std::int64_t n_disk_hits = 0;
  std::int64_t n_waits = 0;    // requests that waited for another thread's compilation
  std::int64_t n_damaged = 0;  // damaged entries on disk
  std::int64_t n_failures = 0;
  double compile_seconds = 0.0;
  bool operator==(const Statistics&) const = default;
};

/// @brief A request to a service, and its place in the cache.
struct Wanted {
  std::string key;     ///< everything that the result depends on; compared in full
  std::string digest;  ///< of the key
  std::string suffix;  ///< of the entry
};

/// @brief The common part of compile services of all compilers, whatever the results: the disk,
/// messages for the user, counters. Safe to use from any number of threads.
class CompileCache {
 public:
  explicit CompileCache(CacheOptions options);

  [[nodiscard]] Store& store() { return store_; }
  [[nodiscard]] const Store& store() const { return store_; }
  [[nodiscard]] Patience patience() const;

  /// @brief Why the disk is not used; empty: used.
  [[nodiscard]] std::string problem() const;
  /// @brief Whether the disk is used; if not, the user gets the reason.
  [[nodiscard]] bool is_usable();

  /// @brief Store a small result that can be found again after a failure. Never fails.
  void keep(const std::string& suffix, const std::string& key, const std::string& payload);
  /// @brief The value stored by keep(), now or in another process.
  [[nodiscard]] std::optional<std::string> recall(const std::string& suffix,
                                                  const std::string& key) const;
  /// @brief Store @p text beside the missing entry, for the user to read.
  /// @return The path; empty if the text could not be kept.
  [[nodiscard]] std::string keep_source(const Wanted& wanted, const std::string& suffix,
                                        const std::string& text);
  /// @brief Write an entry. @return The path. @throws StorageError
  std::string write(const Wanted& wanted, const std::string& payload);

  [[nodiscard]] Statistics statistics() const;
  /// @brief Give the user a message, once.
  void tell(const std::string& message) { notices_.give(message); }
  /// @brief Messages for the user, each message once; empties the list.
  [[nodiscard]] std::vector<std::string> take_notices() { return notices_.take(); }

  /// @brief Run an action counted as a compilation, and measure the time, after a failure, too.
  template <class Action>
  auto counted(const Action& action) -> decltype(action()) {
    const auto start = Clock::now();
    const auto count_it = [this, start] {
      const std::scoped_lock guard(mutex_);
      ++statistics_.n_compiles;
      statistics_.compile_seconds += seconds_since(start);
    };
    try {
      auto done = action();
      count_it();
      return done;
    } catch (...) {
      count_it();
      throw;
    }
  }

 protected:
  void count(std::int64_t Statistics::*counter);
  /// The entry on disk; a damaged entry is counted and removed.
  [[nodiscard]] std::optional<std::string> read(const Wanted& wanted);
  [[nodiscard]] bool is_writable() const;
  /// Write nothing any more, and tell the user why.
  void stop_writing(const StorageError& error);

  const CacheOptions options_;
  Store store_;
  Notices notices_;
  mutable std::mutex mutex_;  // guards everything below; never held while waiting
  Statistics statistics_;
  bool is_writable_ = true;  // until the first failure to write
};

/// @brief From a request to a compiler's result: memory, then disk, then the compiler.
///
/// Single flight: of all threads and processes with the same request at the same time, one
/// compiles. No action on the disk can fail a request: results that cannot be stored are made
/// elsewhere, and a notice gives the reason.
/// @tparam Made Has `origin`, `seconds` and `path`, of the entry on disk; empty if there is none.
template <class Made>
class CompileCore : public CompileCache {
 public:
  /// @brief The steps that depend on the compiler, for a single request.
  class Steps {
   public:
    Steps() = default;
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;
    virtual ~Steps() = default;
    /// @brief The content of an entry; nothing if of no use here.
    [[nodiscard]] virtual std::optional<Made> from_disk(const Wanted& wanted, std::string payload,
                                                        const std::string& path) = 0;
    /// @brief Compile, and write the entry. @throws StorageError if writing fails.
    [[nodiscard]] virtual Made build_in_store(const Wanted& wanted) = 0;
    /// @brief Compile, without the cache directory.
    [[nodiscard]] virtual Made build_apart(const Wanted& wanted) = 0;
  };

  /// @param[in] most, weight Of the results in memory: see Recent.
  template <class... Weight>
  CompileCore(CacheOptions options, std::size_t most, Weight... weight)
      : CompileCache(std::move(options)), memory_(most, weight...), flights_(mutex_) {}

  /// @throws Error any error of the compiler.
  [[nodiscard]] Made get(Wanted& wanted, Steps& steps) {
    const auto start = Clock::now();
    const auto known = [&]() -> std::optional<Made> {
      const Made* made = memory_.find(wanted.key);
      if (made == nullptr) return std::nullopt;
      ++statistics_.n_memory_hits;
      std::optional<Made> found = *made;
      found->origin = Origin::memory;
      return found;
    };
    const auto make = [&] {
      wanted.digest = digest(wanted.key);
      try {
        return find_or_build(wanted, steps);
      } catch (const Error&) {
        count(&Statistics::n_failures);
        throw;
      }
    };
    Made made = flights_.join(
        wanted.key, known, [this] { ++statistics_.n_waits; }, make,
        [&](const Made& one) { memory_.insert(wanted.key, one); }, options_.interrupted);
    made.seconds = seconds_since(start);
    return made;
  }

  [[nodiscard]] std::size_t n_in_memory() const {
    const std::scoped_lock guard(mutex_);
    return memory_.size();
  }
  void clear_memory() {
    const std::scoped_lock guard(mutex_);
    memory_.clear();
  }

 private:
  Made find_or_build(const Wanted& wanted, Steps& steps) {
    if (!is_usable()) return steps.build_apart(wanted);
    if (std::optional<Made> found = find_on_disk(wanted, steps)) return *std::move(found);
    if (!is_writable()) return steps.build_apart(wanted);
    const std::optional<FileLock> lock = store_.lock(wanted.digest, patience());
    // The holder of the lock until now was probably compiling the same.
    if (std::optional<Made> found = find_on_disk(wanted, steps)) return *std::move(found);
    try {
      if (lock) store_.sweep(wanted.digest);
      Made built = steps.build_in_store(wanted);
      store_.make_room();
      return built;
    } catch (const StorageError& error) {
      stop_writing(error);
    }
    return steps.build_apart(wanted);
  }

  std::optional<Made> find_on_disk(const Wanted& wanted, Steps& steps) {
    std::optional<std::string> payload = read(wanted);
    if (!payload) return std::nullopt;
    const std::string path = store_.path_of(wanted.digest, wanted.suffix).string();
    std::optional<Made> found = steps.from_disk(wanted, *std::move(payload), path);
    if (found) count(&Statistics::n_disk_hits);
    return found;
  }

  Recent<Made> memory_;
  Flights<Made> flights_;
};

}  // namespace op2::jit
