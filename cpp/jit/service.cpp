// SPDX-License-Identifier: BSD-3-Clause
#include "jit/service.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/abi.h"
#include "base/canonical.hpp"
#include "base/error.hpp"
#include "jit/entry.hpp"
#include "jit/file.hpp"
#include "jit/probe.hpp"
#include "jit/process.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;

const std::string object_suffix = "so";
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
    if (!tool_complaint(error.what()).empty()) throw;
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

/// Compiles one source, in the store or in a private directory.
class Service::Compilation final : public CompileCore<Loaded>::Steps {
 public:
  Compilation(CompileCore<Loaded>& core, const HostCompiler& compiler, const std::string& source,
              const std::vector<std::string>& extra_flags)
      : core_(core), compiler_(compiler), source_(source), extra_flags_(extra_flags) {}

  std::optional<Loaded> from_disk(const Wanted& /*wanted*/, std::string /*payload*/,
                                  const std::string& path) override {
    try {
      return Loaded{std::make_shared<Library>(path), Origin::disk, 0.0, path};
    } catch (const ToolchainError&) {
      // Deleted since it was read, or it needs a library this machine lacks: compile it here.
      return std::nullopt;
    }
  }

  Loaded build_in_store(const Wanted& wanted) override {
    Store& store = core_.store();
    const WorkDirectory work = store.work(wanted.digest);
    const std::string kept = "failed" + source_suffix(compiler_.language);
    const CompilePlace place{work.path(), store.path_of(wanted.digest, kept)};
    const fs::path object = run_compiler(place);
    seal(object, wanted.key);
    store.publish(object, wanted.digest, wanted.suffix);
    const fs::path path = store.path_of(wanted.digest, wanted.suffix);
    return {load_compiled(path, compiler_, place), Origin::compiled, 0.0, path};
  }

  Loaded build_apart(const Wanted& /*wanted*/) override {
    std::string reasons;
    for (const fs::path& parent : temporary_parents()) {
      if (is_mounted_noexec(parent)) {
        reasons += fmt::format("\n  {}: mounted noexec", parent.string());
        continue;
      }
      try {
        return build_below(parent);
      } catch (const StorageError& error) {
        reasons += fmt::format("\n  {}: {}", parent.string(), error.what());
      }
    }
    throw ToolchainError("no directory to compile in; make room, or set TMPDIR. Tried:" + reasons,
                         "", "", "");
  }

 private:
  /// The directory is gone as soon as the object is loaded, so that even a killed process leaves no
  /// files.
  Loaded build_below(const fs::path& parent) {
    WorkDirectory work(parent, "pyop2cxx");
    const CompilePlace place{work.path(), source_path(compiler_, work.path())};
    try {
      const fs::path object = run_compiler(place);
      return {load_compiled(object, compiler_, place), Origin::compiled, 0.0, ""};
    } catch (const CompilationError&) {
      work.keep();  // the error names the source
      throw;
    }
  }

  fs::path run_compiler(const CompilePlace& place) {
    return core_.counted(
        [&] { return compile(compiler_, source_, extra_flags_, place, core_.patience()); });
  }

  CompileCore<Loaded>& core_;
  const HostCompiler& compiler_;
  const std::string& source_;
  const std::vector<std::string>& extra_flags_;
};

Service::Service(Options options)
    : cc_(std::move(options.cc)),
      cxx_(std::move(options.cxx)),
      core_(CacheOptions(options), options.max_memory_entries) {}

CacheInfo Service::info() const {
  CacheInfo info;
  info.path = core_.store().directory().string();
  info.problem = core_.problem();
  if (info.problem.empty()) info.disk = core_.store().info();
  return info;
}

void Service::clear() {
  if (core_.is_usable()) core_.store().clear();
  core_.clear_memory();
}

const HostCompiler& Service::compiler(Language language) {
  const std::scoped_lock probing(probe_mutex_);
  {
    const std::scoped_lock guard(mutex_);
    const auto known = compilers_.find(language);
    if (known != compilers_.end()) return known->second;
  }
  const std::vector<std::string> command =
      find_compiler(language, language == Language::c ? cc_ : cxx_);
  HostCompiler probed = stored_probe(language, command);
  if (const std::string old = why_old(probed); !old.empty()) core_.tell(old);
  const std::scoped_lock guard(mutex_);
  return compilers_.emplace(language, std::move(probed)).first->second;
}

HostCompiler Service::stored_probe(Language language, const std::vector<std::string>& command) {
  const std::string key = probe_key(language, command);
  const bool may_store = !key.empty() && core_.is_usable();
  if (may_store) {
    if (const auto found = recall(probe_suffix, key)) return read_probe(*found, language, command);
  }
  HostCompiler probed = probe_compiler(language, command, core_.patience());
  if (may_store) keep(probe_suffix, key, write_probe(probed));
  return probed;
}

Loaded Service::load(const std::string& source, Language language,
                     const std::vector<std::string>& extra_flags, const std::string& key_extra) {
  const HostCompiler& asked = compiler(language);
  Canonical key;
  key.open("binary").number(OP2_ABI_VERSION).text(source).text(key_extra);
  key.text(compiler_identity(asked, extra_flags)).close();
  Wanted wanted{key.str(), "", object_suffix};
  Compilation compilation(core_, asked, source, extra_flags);
  return core_.get(wanted, compilation);
}

std::string Service::run(Language language, const std::vector<std::string>& arguments,
                         bool compiles) {
  const HostCompiler& asked = compiler(language);
  const auto ask = [&] { return ask_compiler(asked, arguments, core_.patience()); };
  return compiles ? core_.counted(ask) : ask();
}

}  // namespace op2::jit
