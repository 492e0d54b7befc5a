// SPDX-License-Identifier: BSD-3-Clause
#include "jit/device_service.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "base/canonical.hpp"
#include "base/clock.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "jit/entry.hpp"
#include "jit/file.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view binary_suffix = "bin";

std::string key_of(const DeviceCompiler& compiler, const std::string& source,
                   const std::vector<std::string>& options, const std::string& extra) {
  Canonical key;
  key.open("device binary").text(source).text(extra).text(compiler.identity()).open("options");
  for (const std::string& option : options) key.text(option);
  return key.close().close().str();
}

}  // namespace

struct DeviceService::Request {
  DeviceCompiler* compiler;
  const std::string* source;
  const std::vector<std::string>* options;
  std::string key;
  std::string digest;
};

DeviceService::DeviceService(DeviceServiceOptions options)
    : options_(std::move(options)),
      store_(cache_directory(options_.cache_dir), options_.max_disk_bytes),
      recent_(options_.max_memory_bytes,
              [](const std::shared_ptr<const std::string>& bytes) { return bytes->size(); }),
      flights_(mutex_) {}

void DeviceService::count(std::int64_t Statistics::*counter) {
  const std::scoped_lock guard(mutex_);
  ++(statistics_.*counter);
}

std::vector<std::string> DeviceService::take_notices() {
  return notices_.take();
}

Statistics DeviceService::statistics() const {
  const std::scoped_lock guard(mutex_);
  return statistics_;
}

void DeviceService::clear_memory() {
  const std::scoped_lock guard(mutex_);
  recent_.clear();
}

bool DeviceService::is_store_usable() {
  if (!options_.use_disk) return false;
  const std::optional<std::string> problem = store_.problem();
  if (problem) notices_.give(*problem + ". Until then every process compiles its kernels anew");
  return !problem;
}

DeviceBinary DeviceService::compile(DeviceCompiler& compiler, const std::string& source,
                                    const std::vector<std::string>& compile_options,
                                    const std::string& key_extra) {
  const auto start = Clock::now();
  Request request{&compiler, &source, &compile_options,
                  key_of(compiler, source, compile_options, key_extra), ""};
  const auto known = [&]() -> std::optional<DeviceBinary> {
    const std::shared_ptr<const std::string>* bytes = recent_.find(request.key);
    if (bytes == nullptr) return std::nullopt;
    ++statistics_.n_memory_hits;
    return DeviceBinary{*bytes, Origin::memory, 0.0, ""};
  };
  const auto make = [&] {
    request.digest = digest(request.key);
    try {
      return find_or_build(request);
    } catch (const Error&) {
      count(&Statistics::n_failures);
      throw;
    }
  };
  DeviceBinary binary = flights_.join(
      request.key, known, [this] { ++statistics_.n_waits; }, make,
      [&](const DeviceBinary& made) { recent_.insert(request.key, made.bytes); },
      options_.interrupted);
  binary.seconds = seconds_since(start);
  return binary;
}

DeviceBinary DeviceService::find_or_build(const Request& request) {
  const auto wrap = [](std::string bytes) {
    return std::make_shared<const std::string>(std::move(bytes));
  };
  if (!is_store_usable()) return {wrap(build(request)), Origin::compiled, 0.0, ""};
  if (std::optional<DeviceBinary> found = find_on_disk(request)) return *std::move(found);
  const Patience patience{options_.compile_timeout_seconds, options_.interrupted};
  const std::optional<FileLock> lock = store_.lock(request.digest, patience);
  // Whoever held the lock until now was probably compiling just this.
  if (std::optional<DeviceBinary> found = find_on_disk(request)) return *std::move(found);
  if (lock) store_.sweep(request.digest);
  std::string binary = build(request);
  const std::string path = store(request, binary);
  return {wrap(std::move(binary)), Origin::compiled, 0.0, path};
}

std::optional<DeviceBinary> DeviceService::find_on_disk(const Request& request) {
  Lookup found = store_.find(request.digest, binary_suffix, request.key);
  const fs::path path = store_.path_of(request.digest, binary_suffix);
  if (found.state == Lookup::State::damaged) {
    count(&Statistics::n_damaged);
    ::unlink(path.c_str());
  }
  if (found.state != Lookup::State::hit) return std::nullopt;
  count(&Statistics::n_disk_hits);
  return DeviceBinary{std::make_shared<const std::string>(std::move(found.payload)), Origin::disk,
                      0.0, path.string()};
}

std::string DeviceService::store(const Request& request, const std::string& binary) {
  try {
    const WorkDirectory work = store_.work(request.digest);
    const fs::path file = work.path() / binary_suffix;
    write_new_file(file, binary + entry_tail(binary, request.key));
    store_.publish(file, request.digest, binary_suffix);
    store_.make_room();
    return store_.path_of(request.digest, binary_suffix).string();
  } catch (const StorageError& error) {
    notices_.give(
        fmt::format("the cache directory {} takes no new entries ({}); kernels compiled from "
                    "now on are lost when this process ends. Make room there, or set "
                    "PYOP2CXX_CACHE_DIR to another directory of your own",
                    store_.directory().string(), error.what()));
    return "";
  }
}

std::string DeviceService::build(const Request& request) {
  const auto start = Clock::now();
  const auto count_it = [this, start] {
    const std::scoped_lock guard(mutex_);
    ++statistics_.n_compiles;
    statistics_.compile_seconds += seconds_since(start);
  };
  try {
    std::string binary = request.compiler->compile(*request.source, *request.options);
    count_it();
    return binary;
  } catch (const CompilationError& error) {
    count_it();
    const std::string kept = keep_source(request);
    throw CompilationError(fmt::format("{}\n  source: {}", error.what(), kept), error.command(),
                           error.stderr_text(), kept);
  } catch (...) {
    count_it();
    throw;
  }
}

/// The source is for the user to read; where nothing can be kept, the error goes without.
std::string DeviceService::keep_source(const Request& request) {
  if (request.digest.empty() || !is_store_usable()) return "";
  try {
    const std::string suffix = "failed" + request.compiler->suffix();
    const WorkDirectory work = store_.work(request.digest);
    write_new_file(work.path() / suffix, *request.source);
    store_.publish(work.path() / suffix, request.digest, suffix);
    return store_.path_of(request.digest, suffix).string();
  } catch (const StorageError&) {
    return "";
  }
}

}  // namespace op2::jit
