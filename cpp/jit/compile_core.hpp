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

/// @brief Settings that all compile services have.
struct CacheOptions {
  std::string cache_dir;               ///< empty: from the environment, see cache_directory()
  bool use_disk = true;                ///< false: keep what is made in memory only
  std::int64_t max_disk_bytes = 0;     ///< bound of the cache directory
  double compile_timeout_seconds = 0;  ///< of a compiler, and of another process that compiles
  InterruptCheck interrupted;          ///< see InterruptCheck
};

/// @brief Where something came from.
enum class Origin { memory, disk, compiled };

/// @brief What one service has done so far.
struct Statistics {
  std::int64_t n_compiles = 0;
  std::int64_t n_memory_hits = 0;
  std::int64_t n_disk_hits = 0;
  std::int64_t n_waits = 0;    // requests that waited for another thread's compilation
  std::int64_t n_damaged = 0;  // entries on disk that were not what they should be
  std::int64_t n_failures = 0;
  double compile_seconds = 0.0;
  bool operator==(const Statistics&) const = default;
};

/// @brief What is wanted of a service, and where it is in the cache.
struct Wanted {
  std::string key;     ///< everything that it depends on; compared in full
  std::string digest;  ///< of the key
  std::string suffix;  ///< of its entry
};

/// @brief What compile services of all compilers share, whatever it is that they make: the disk,
/// what the user is told, counters. Safe to use from any number of threads.
class CompileCache {
 public:
  explicit CompileCache(CacheOptions options);

  [[nodiscard]] Store& store() { return store_; }
  [[nodiscard]] const Store& store() const { return store_; }
  [[nodiscard]] Patience patience() const;

  /// @brief Why the disk is not used; empty: it is.
  [[nodiscard]] std::string problem() const;
  /// @brief Whether it is used; the user is told why not.
  [[nodiscard]] bool is_usable();

  /// @brief Store something small that is found out again if that fails. Never fails.
  void keep(const std::string& suffix, const std::string& key, const std::string& payload);
  /// @brief What keep() stored, now or in another process.
  [[nodiscard]] std::optional<std::string> recall(const std::string& suffix,
                                                  const std::string& key) const;
  /// @brief Store @p text beside the entry that it did not become, for the user to read.
  /// @return Its path; empty if it could not be kept.
  [[nodiscard]] std::string keep_source(const Wanted& wanted, const std::string& suffix,
                                        const std::string& text);
  /// @brief Write an entry. @return Its path. @throws StorageError
  std::string write(const Wanted& wanted, const std::string& payload);

  [[nodiscard]] Statistics statistics() const;
  /// @brief What the user should be told, each message once; empties the list.
  [[nodiscard]] std::vector<std::string> take_notices() { return notices_.take(); }

  /// @brief Do what counts as a compilation, and measure it, whether it fails or not.
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
  /// What the disk has; a damaged entry is counted and removed.
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

/// @brief From what is wanted to what a compiler makes of it: memory, then disk, then the compiler.
///
/// Single flight: of all threads and processes that want the same at the same time, one compiles.
/// Nothing that is done with the disk can fail a request: what cannot be stored is made apart, and
/// a notice says why.
/// @tparam Made Has `origin`, `seconds` and `path`, of the entry on disk; empty if there is none.
template <class Made>
class CompileCore : public CompileCache {
 public:
  /// @brief The steps that depend on the compiler, for one request.
  class Steps {
   public:
    Steps() = default;
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;
    virtual ~Steps() = default;
    /// @brief What an entry holds; nothing if that is of no use here.
    [[nodiscard]] virtual std::optional<Made> from_disk(const Wanted& wanted, std::string payload,
                                                        const std::string& path) = 0;
    /// @brief Compile, and write the entry. @throws StorageError if it cannot be written.
    [[nodiscard]] virtual Made build_in_store(const Wanted& wanted) = 0;
    /// @brief Compile, without the cache directory.
    [[nodiscard]] virtual Made build_apart(const Wanted& wanted) = 0;
  };

  /// @param[in] most, weight Of what is kept in memory: see Recent.
  template <class... Weight>
  CompileCore(CacheOptions options, std::size_t most, Weight... weight)
      : CompileCache(std::move(options)), memory_(most, weight...), flights_(mutex_) {}

  /// @throws Error whatever the compiler has to say.
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
    // Whoever held the lock until now was probably compiling just this.
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
