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

#include "jit/compile_core.hpp"
#include "jit/compiler.hpp"
#include "jit/library.hpp"
#include "jit/store.hpp"

namespace op2::jit {

/// @brief Settings of a Service.
struct Options : CacheOptions {
  std::size_t max_memory_entries = 0;  ///< bound of the memory cache
  std::string cc;                      ///< empty: from the environment, see find_compiler()
  std::string cxx;                     ///< likewise
};

/// @brief A loaded library, and the cost of getting the library.
struct Loaded {
  std::shared_ptr<Library> library;
  Origin origin = Origin::memory;
  double seconds = 0.0;  // inside load()
  std::string path;      // of the entry on disk; empty if there is none
};

/// @brief State of the caches, for `pyop2cxx cache info`.
struct CacheInfo {
  std::string path;     // of the cache directory; empty if there is none
  std::string problem;  // why the directory is not used; empty: used
  StoreInfo disk;
};

/// @brief From source text to a loaded library, by the compilers of the host: see CompileCore.
///
/// Sources that cannot be stored are compiled in a private directory. Safe to use from any number
/// of threads.
class Service {
 public:
  explicit Service(Options options);

  /// @brief The library compiled from @p source.
  /// @param[in] extra_flags After the default ones, and part of the key.
  /// @param[in] key_extra Everything else behind the object: the generator's version.
  /// @throws CompilationError if the source is rejected; a copy of the source is kept.
  /// @throws ToolchainError if there is no compiler, or the compiler breaks.
  [[nodiscard]] Loaded load(const std::string& source, Language language,
                            const std::vector<std::string>& extra_flags,
                            const std::string& key_extra);

  /// @brief The value stored by keep(), now or in another process; nothing if the cache has no
  /// entry.
  /// @param[in] suffix The kind of entry: short, lower case, not in use by this room.
  /// @param[in] key Everything that the payload depends on; compared in full.
  [[nodiscard]] std::optional<std::string> recall(const std::string& suffix,
                                                  const std::string& key) const {
    return core_.recall(suffix, key);
  }
  /// @brief Store a small result that takes long to find, if the cache takes the entry. Never
  /// fails.
  void keep(const std::string& suffix, const std::string& key, const std::string& payload) {
    core_.keep(suffix, key, payload);
  }

  /// @brief The compiler for @p language, found and probed at most once.
  /// @throws ToolchainError
  [[nodiscard]] const HostCompiler& compiler(Language language);
  /// @brief Run the compiler with other arguments: see ask_compiler(), also for exceptions.
  /// @param[in] compiles Whether to count the run as a compilation.
  std::string run(Language language, const std::vector<std::string>& arguments, bool compiles);

  [[nodiscard]] Statistics statistics() const { return core_.statistics(); }
  [[nodiscard]] CacheInfo info() const;
  /// @brief Messages for the user, each message once; empties the list.
  [[nodiscard]] std::vector<std::string> take_notices() { return core_.take_notices(); }
  /// @brief Empty the memory cache and the cache directory. Loaded libraries stay usable.
  void clear();

 private:
  class Compilation;

  HostCompiler stored_probe(Language language, const std::vector<std::string>& command);

  const std::string cc_;
  const std::string cxx_;
  CompileCore<Loaded> core_;
  std::mutex probe_mutex_;                      // held while a compiler is probed
  std::mutex mutex_;                            // guards the members below
  std::map<Language, HostCompiler> compilers_;  // never removed: references are handed out
};

}  // namespace op2::jit
