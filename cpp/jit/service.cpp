// SPDX-License-Identifier: BSD-3-Clause
#include "jit/service.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/abi.h"
#include "base/canonical.hpp"
#include "base/clock.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "jit/entry.hpp"
#include "jit/file.hpp"
#include "jit/probe.hpp"
#include "jit/process.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view object_suffix = "so";
const std::string probe_suffix = "probe";

/// Turn the finished file @p path into a cache entry of @p key, readable by its owner only.
void seal(const fs::path& path, const std::string& key) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
  const std::optional<std::string> payload = fd ? read_all(fd.get()) : std::nullopt;
  if (!payload || ::fchmod(fd.get(), 0600) != 0) {
    throw StorageError(fmt::format("cannot read {} back", path.string()));
  }
  write_all(fd.get(), entry_tail(*payload, key), path);
}

/// Directories to compile in when the cache cannot be used; each is only ever the parent of a
/// private one (mode 0700).
std::vector<fs::path> temporary_parents() {
  std::vector<fs::path> parents;
  const auto add_from = [&parents](const char* name) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') parents.emplace_back(value);
  };
  add_from("TMPDIR");
  parents.insert(parents.end(), {"/tmp", "/var/tmp", "/dev/shm"});
  add_from("XDG_RUNTIME_DIR");
  return parents;
}

/// The library of a fresh object; one that does not load is the source's fault, like any other
/// that does not link.
std::shared_ptr<Library> load_compiled(const fs::path& object, const HostCompiler& compiler,
                                       const CompilePlace& place) {
  try {
    return std::make_shared<Library>(object);
  } catch (const ToolchainError& error) {
    ::unlink(object.c_str());
    const std::string source = keep_source(compiler, place);
    throw CompilationError(fmt::format("a compiled loop does not load; does it call a function "
                                       "that no library defines?\n  source: {}\n{}",
                                       source, error.what()),
                           shell_text(compiler.command), error.what(), source);
  }
}

bool is_mounted_noexec(const fs::path& directory) {
  struct statvfs system {};
  return ::statvfs(directory.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0;
}

}  // namespace

struct Service::Request {
  std::string source;
  const HostCompiler* compiler = nullptr;
  std::vector<std::string> extra_flags;
  std::string key;
  std::string digest;
};

Service::Service(Options options)
    : options_(std::move(options)),
      store_(cache_directory(options_.cache_dir), options_.max_disk_bytes),
      memory_(options_.max_memory_entries),
      flights_(mutex_) {}

Patience Service::patience() const {
  return {options_.compile_timeout_seconds, options_.interrupted};
}

void Service::count(std::int64_t Statistics::*counter) {
  const std::scoped_lock guard(mutex_);
  ++(statistics_.*counter);
}

std::vector<std::string> Service::take_notices() {
  return notices_.take();
}

Statistics Service::statistics() const {
  const std::scoped_lock guard(mutex_);
  return statistics_;
}

CacheInfo Service::info() const {
  CacheInfo info;
  info.path = store_.directory().string();
  if (options_.use_disk) {
    info.problem = store_.problem().value_or("");
  } else {
    info.problem = "the disk cache is switched off";
  }
  if (info.problem.empty()) info.disk = store_.info();
  const std::scoped_lock guard(mutex_);
  info.n_memory_entries = static_cast<std::int64_t>(memory_.size());
  return info;
}

void Service::clear() {
  if (is_store_usable()) store_.clear();
  const std::scoped_lock guard(mutex_);
  memory_.clear();
}

void Service::evict() {
  if (is_store_usable()) store_.evict();
}

bool Service::is_store_usable() {
  if (!options_.use_disk) return false;
  const std::optional<std::string> problem = store_.problem();
  if (problem) {
    notices_.give(*problem + ". Until then every process compiles its kernels anew");
  }
  return !problem;
}

const HostCompiler& Service::compiler(Language language) {
  const std::scoped_lock probing(probe_mutex_);
  {
    const std::scoped_lock guard(mutex_);
    const auto known = compilers_.find(language);
    if (known != compilers_.end()) return known->second;
  }
  const bool is_c = language == Language::c;
  const std::vector<std::string> command =
      find_compiler(language, is_c ? options_.cc : options_.cxx);
  HostCompiler probed = stored_probe(language, command);
  const std::scoped_lock guard(mutex_);
  return compilers_.emplace(language, std::move(probed)).first->second;
}

HostCompiler Service::stored_probe(Language language, const std::vector<std::string>& command) {
  const std::string key = probe_key(language, command);
  const bool may_store = !key.empty() && is_store_usable();
  if (may_store) {
    if (const auto found = recall(probe_suffix, key)) return read_probe(*found, language, command);
  }
  HostCompiler probed = probe_compiler(language, command, patience());
  if (may_store) keep(probe_suffix, key, write_probe(probed));
  return probed;
}

std::optional<std::string> Service::recall(const std::string& suffix,
                                           const std::string& key) const {
  if (!options_.use_disk || store_.problem()) return std::nullopt;
  Lookup found = store_.find(digest(key), suffix, key);
  if (found.state != Lookup::State::hit) return std::nullopt;
  return std::move(found.payload);
}

void Service::keep(const std::string& suffix, const std::string& key, const std::string& payload) {
  if (!options_.use_disk || store_.problem()) return;
  try {
    const std::string name = digest(key);
    const WorkDirectory work = store_.work(name);
    const fs::path file = work.path() / suffix;
    write_new_file(file, payload + entry_tail(payload, key));
    store_.publish(file, name, suffix);
  } catch (const StorageError&) {
    // It is found out again next time. If nothing can be written, the first compilation says so.
  }
}

Loaded Service::load(const std::string& source, Language language,
                     const std::vector<std::string>& extra_flags, const std::string& key_extra) {
  const auto start = Clock::now();
  Request request{source, &compiler(language), extra_flags, "", ""};
  Canonical key;
  key.open("binary").number(OP2_ABI_VERSION).text(source).text(key_extra);
  key.text(compiler_identity(*request.compiler, extra_flags)).close();
  request.key = key.str();

  const auto known = [&]() -> std::optional<Loaded> {
    const std::shared_ptr<Library>* library = memory_.find(request.key);
    if (library == nullptr) return std::nullopt;
    ++statistics_.n_memory_hits;
    return Loaded{*library, Origin::memory, 0.0, (*library)->path()};
  };
  const auto make = [&] {
    request.digest = digest(request.key);
    try {
      return load_or_build(request);
    } catch (const Error&) {
      count(&Statistics::n_failures);
      throw;
    }
  };
  Loaded loaded = flights_.join(
      request.key, known, [this] { ++statistics_.n_waits; }, make,
      [&](const Loaded& made) { memory_.insert(request.key, made.library); }, options_.interrupted);
  loaded.seconds = seconds_since(start);
  return loaded;
}

Loaded Service::load_or_build(const Request& request) {
  if (!is_store_usable()) return build_in_private(request);
  if (std::optional<Loaded> found = load_from_disk(request)) return *std::move(found);
  if (std::optional<Loaded> built = build_in_store(request)) return *std::move(built);
  return build_in_private(request);
}

std::optional<Loaded> Service::load_from_disk(const Request& request) {
  const Lookup found = store_.find(request.digest, object_suffix, request.key);
  const fs::path path = store_.path_of(request.digest, object_suffix);
  if (found.state == Lookup::State::damaged) {
    count(&Statistics::n_damaged);
    ::unlink(path.c_str());
  }
  if (found.state != Lookup::State::hit) return std::nullopt;
  try {
    auto library = std::make_shared<Library>(path);
    count(&Statistics::n_disk_hits);
    return Loaded{std::move(library), Origin::disk, 0.0, path.string()};
  } catch (const ToolchainError&) {
    // Deleted since it was read, or it needs a library this machine lacks: compile it here.
    return std::nullopt;
  }
}

std::optional<Loaded> Service::build_in_store(const Request& request) {
  {
    const std::scoped_lock guard(mutex_);
    if (!is_writable_) return std::nullopt;
  }
  const std::optional<FileLock> lock = store_.lock(request.digest, patience());
  // Whoever held the lock until now was probably compiling just this.
  if (std::optional<Loaded> found = load_from_disk(request)) return found;
  try {
    if (lock) store_.sweep(request.digest);
    const WorkDirectory work = store_.work(request.digest);
    const std::string kept = "failed" + source_suffix(request.compiler->language);
    const CompilePlace place{work.path(), store_.path_of(request.digest, kept)};
    const fs::path object = run_compiler(request, place);
    seal(object, request.key);
    store_.publish(object, request.digest, object_suffix);
    const fs::path path = store_.path_of(request.digest, object_suffix);
    Loaded loaded{load_compiled(path, *request.compiler, place), Origin::compiled, 0.0, path};
    store_.make_room();
    return loaded;
  } catch (const StorageError& error) {
    if (stop_writing()) {
      notices_.give(
          fmt::format("the cache directory {} takes no new entries ({}); kernels compiled from "
                      "now on are lost when this process ends. Make room there, or set "
                      "PYOP2CXX_CACHE_DIR to another directory of your own",
                      store_.directory().string(), error.what()));
    }
    return std::nullopt;
  }
}

bool Service::stop_writing() {
  const std::scoped_lock guard(mutex_);
  return std::exchange(is_writable_, false);
}

Loaded Service::build_in_private(const Request& request) {
  std::string reasons;
  for (const fs::path& parent : temporary_parents()) {
    if (is_mounted_noexec(parent)) {
      reasons += fmt::format("\n  {}: mounted noexec", parent.string());
      continue;
    }
    try {
      // Gone as soon as the object is loaded, so that even a killed process leaves no files.
      WorkDirectory work(parent, "pyop2cxx");
      const CompilePlace place{work.path(), source_path(*request.compiler, work.path())};
      try {
        const fs::path object = run_compiler(request, place);
        return {load_compiled(object, *request.compiler, place), Origin::compiled, 0.0, ""};
      } catch (const CompilationError&) {
        work.keep();  // the error names the source
        throw;
      }
    } catch (const StorageError& error) {
      reasons += fmt::format("\n  {}: {}", parent.string(), error.what());
    }
  }
  throw ToolchainError("no directory to compile in; make room, or set TMPDIR. Tried:" + reasons, "",
                       "", "");
}

template <class Action>
auto Service::counted(const Action& action) -> decltype(action()) {
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

fs::path Service::run_compiler(const Request& request, const CompilePlace& place) {
  return counted([&] {
    return compile(*request.compiler, request.source, request.extra_flags, place, patience());
  });
}

std::string Service::run(Language language, const std::vector<std::string>& arguments,
                         bool compiles) {
  const HostCompiler& asked = compiler(language);
  const auto ask = [&] { return ask_compiler(asked, arguments, patience()); };
  return compiles ? counted(ask) : ask();
}

}  // namespace op2::jit
