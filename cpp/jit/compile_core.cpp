// SPDX-License-Identifier: BSD-3-Clause
#include "jit/compile_core.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "jit/entry.hpp"

namespace op2::jit {

namespace fs = std::filesystem;

CompileCache::CompileCache(CacheOptions options)
    : options_(std::move(options)),
      store_(cache_directory(options_.cache_dir), options_.max_disk_bytes) {}

Patience CompileCache::patience() const {
  return {options_.compile_timeout_seconds, options_.interrupted};
}

std::string CompileCache::problem() const {
  return options_.use_disk ? store_.problem().value_or("") : "the disk cache is switched off";
}

bool CompileCache::is_usable() {
  if (!options_.use_disk) return false;
  const std::optional<std::string> problem = store_.problem();
  if (problem) notices_.give(*problem + ". Until then every process compiles its kernels anew");
  return !problem;
}

std::string CompileCache::write(const Wanted& wanted, const std::string& payload) {
  store_.write(payload + entry_tail(payload, wanted.key), wanted.digest, wanted.suffix);
  return store_.path_of(wanted.digest, wanted.suffix).string();
}

void CompileCache::keep(const std::string& suffix, const std::string& key,
                        const std::string& payload) {
  if (!problem().empty()) return;
  try {
    write({key, digest(key), suffix}, payload);
  } catch (const StorageError&) {
    // It is found out again next time. If nothing can be written, the first compilation says so.
  }
}

std::optional<std::string> CompileCache::recall(const std::string& suffix,
                                                const std::string& key) const {
  if (!problem().empty()) return std::nullopt;
  Lookup found = store_.find(digest(key), suffix, key);
  if (found.state != Lookup::State::hit) return std::nullopt;
  return std::move(found.payload);
}

std::string CompileCache::keep_source(const Wanted& wanted, const std::string& suffix,
                                      const std::string& text) {
  if (!is_usable()) return "";
  try {
    store_.write(text, wanted.digest, suffix);
    return store_.path_of(wanted.digest, suffix).string();
  } catch (const StorageError&) {
    return "";
  }
}

Statistics CompileCache::statistics() const {
  const std::scoped_lock guard(mutex_);
  return statistics_;
}

void CompileCache::count(std::int64_t Statistics::*counter) {
  const std::scoped_lock guard(mutex_);
  ++(statistics_.*counter);
}

std::optional<std::string> CompileCache::read(const Wanted& wanted) {
  Lookup found = store_.find(wanted.digest, wanted.suffix, wanted.key);
  if (found.state == Lookup::State::damaged) {
    count(&Statistics::n_damaged);
    ::unlink(store_.path_of(wanted.digest, wanted.suffix).c_str());
  }
  if (found.state != Lookup::State::hit) return std::nullopt;
  return std::move(found.payload);
}

bool CompileCache::is_writable() const {
  const std::scoped_lock guard(mutex_);
  return is_writable_;
}

void CompileCache::stop_writing(const StorageError& error) {
  {
    const std::scoped_lock guard(mutex_);
    if (!std::exchange(is_writable_, false)) return;
  }
  notices_.give(
      fmt::format("the cache directory {} takes no new entries ({}); kernels compiled from now on "
                  "are lost when this process ends. Make room there, or set PYOP2CXX_CACHE_DIR to "
                  "another directory of your own",
                  store_.directory().string(), error.what()));
}

}  // namespace op2::jit
