// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/flights.hpp"
#include "base/patience.hpp"
#include "base/recent.hpp"
#include "jit/compiler.hpp"
#include "jit/library.hpp"
#include "jit/notices.hpp"
#include "jit/store.hpp"

namespace op2::jit {

/// @brief Settings of one Service.
struct Options {
  std::string cache_dir;               // empty: from the environment, see cache_directory()
  bool use_disk = true;                // false: compile in a private directory, keep in memory
  std::int64_t max_disk_bytes = 0;     // bound of the cache directory
  std::size_t max_memory_entries = 0;  // bound of the memory cache
  double compile_timeout_seconds = 0;  // after which a compiler is stopped
  std::string cc;                      // empty: from the environment, see find_compiler()
  std::string cxx;                     // likewise
  InterruptCheck interrupted;          // see InterruptCheck
};

/// @brief Where a library came from.
enum class Origin { memory, disk, compiled };

/// @brief A loaded library and what it took to get it.
struct Loaded {
  std::shared_ptr<Library> library;
  Origin origin = Origin::memory;
  double seconds = 0.0;  // inside load()
  std::string path;      // of the entry on disk; empty if there is none
};

/// @brief What one Service has done so far.
struct Statistics {
  std::int64_t n_compiles = 0;
  std::int64_t n_memory_hits = 0;
  std::int64_t n_disk_hits = 0;
  std::int64_t n_waits = 0;    // loads that waited for another thread's compilation
  std::int64_t n_damaged = 0;  // entries on disk that were not what they should be
  std::int64_t n_failures = 0;
  double compile_seconds = 0.0;
  bool operator==(const Statistics&) const = default;
};

/// @brief State of the caches, for `pyop2cxx cache info`.
struct CacheInfo {
  std::string path;     // of the cache directory; empty if there is none
  std::string problem;  // why the directory is not used; empty if it is
  StoreInfo disk;
  std::int64_t n_memory_entries = 0;
};

/// @brief From source text to a loaded library: memory, then disk, then the compiler.
///
/// Single flight: of all threads and processes that want the same object at the same time, one
/// runs the compiler. Safe to use from any number of threads. Nothing this class does with the
/// disk can fail a load: what cannot be stored is compiled in a private directory and a notice says
/// why.
class Service {
 public:
  explicit Service(Options options);

  /// @brief The library that @p source compiles to.
  /// @param[in] extra_flags After the default ones, and part of the key.
  /// @param[in] key_extra Whatever else the object depends on: the generator's version.
  /// @throws CompilationError if the source is rejected, keeping a copy of it.
  /// @throws ToolchainError if there is no compiler, or it breaks.
  [[nodiscard]] Loaded load(const std::string& source, Language language,
                            const std::vector<std::string>& extra_flags,
                            const std::string& key_extra);

  /// @brief What keep() stored, now or in another process; nothing if the cache has no such entry.
  /// @param[in] suffix What kind of entry it is: short, lower case, not one that this room uses.
  /// @param[in] key Everything that the payload depends on; compared in full.
  [[nodiscard]] std::optional<std::string> recall(const std::string& suffix,
                                                  const std::string& key) const;
  /// @brief Store something small that takes long to find out, if the cache takes it. Never fails.
  void keep(const std::string& suffix, const std::string& key, const std::string& payload);

  /// @brief The compiler for @p language, found and probed at most once.
  /// @throws ToolchainError
  [[nodiscard]] const HostCompiler& compiler(Language language);
  /// @brief Run it with other arguments: see ask_compiler(), also for what is thrown.
  /// @param[in] compiles Whether to count it as a compilation.
  std::string run(Language language, const std::vector<std::string>& arguments, bool compiles);

  [[nodiscard]] Statistics statistics() const;
  [[nodiscard]] CacheInfo info() const;
  /// @brief What the user should be told, each message once; empties the list.
  [[nodiscard]] std::vector<std::string> take_notices();
  /// @brief Empty the memory cache and the cache directory. Loaded libraries stay usable.
  void clear();
  /// @brief Bring the cache directory below its bound now.
  void evict();

 private:
  struct Request;
  Loaded load_or_build(const Request& request);
  std::optional<Loaded> load_from_disk(const Request& request);
  std::optional<Loaded> build_in_store(const Request& request);
  Loaded build_in_private(const Request& request);
  std::filesystem::path run_compiler(const Request& request, const CompilePlace& place);
  template <class Action>
  auto counted(const Action& action) -> decltype(action());
  HostCompiler stored_probe(Language language, const std::vector<std::string>& command);
  bool is_store_usable();
  bool stop_writing();  // whether this call was the first
  void count(std::int64_t Statistics::*counter);
  [[nodiscard]] Patience patience() const;

  Options options_;
  Store store_;
  Notices notices_;
  std::mutex probe_mutex_;    // held while a compiler is probed
  mutable std::mutex mutex_;  // guards everything below; never held while waiting
  Recent<std::shared_ptr<Library>> memory_;
  Flights<Loaded> flights_;
  std::map<Language, HostCompiler> compilers_;  // never removed: references are handed out
  Statistics statistics_;
  bool is_writable_ = true;  // until the first failure to write
};

}  // namespace op2::jit
