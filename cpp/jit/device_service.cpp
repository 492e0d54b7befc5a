// SPDX-License-Identifier: BSD-3-Clause
#include "jit/device_service.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/canonical.hpp"
#include "base/error.hpp"

namespace op2::jit {
namespace {

std::string key_of(const DeviceCompiler& compiler, const std::string& source,
                   const std::vector<std::string>& options, const std::string& extra) {
  Canonical key;
  key.open("device binary").text(source).text(extra).text(compiler.identity()).open("options");
  for (const std::string& option : options) key.text(option);
  return key.close().close().str();
}

}  // namespace

/// Compiles one source, in this process; afterwards it is written to the store.
class DeviceService::Compilation final : public CompileCore<DeviceBinary>::Steps {
 public:
  Compilation(CompileCore<DeviceBinary>& core, DeviceCompiler& compiler, const std::string& source,
              const std::vector<std::string>& options)
      : core_(core), compiler_(compiler), source_(source), options_(options) {}

  std::optional<DeviceBinary> from_disk(const Wanted& /*wanted*/, std::string payload,
                                        const std::string& path) override {
    return DeviceBinary{std::make_shared<const std::string>(std::move(payload)), Origin::disk, 0.0,
                        path};
  }

  DeviceBinary build_in_store(const Wanted& wanted) override {
    build(wanted);
    return {built_, Origin::compiled, 0.0, core_.write(wanted, *built_)};
  }

  DeviceBinary build_apart(const Wanted& wanted) override {
    if (built_ == nullptr) build(wanted);  // else it could not be stored
    return {built_, Origin::compiled, 0.0, ""};
  }

 private:
  void build(const Wanted& wanted) {
    try {
      built_ = std::make_shared<const std::string>(
          core_.counted([&] { return compiler_.compile(source_, options_); }));
    } catch (const CompilationError& error) {
      const std::string kept = core_.keep_source(wanted, "failed" + compiler_.suffix(), source_);
      throw CompilationError(fmt::format("{}\n  source: {}", error.what(), kept), error.command(),
                             error.stderr_text(), kept);
    }
  }

  CompileCore<DeviceBinary>& core_;
  DeviceCompiler& compiler_;
  const std::string& source_;
  const std::vector<std::string>& options_;
  std::shared_ptr<const std::string> built_;
};

DeviceService::DeviceService(DeviceServiceOptions options)
    : core_(CacheOptions(options), options.max_memory_bytes,
            [](const DeviceBinary& binary) { return binary.bytes->size(); }) {}

DeviceBinary DeviceService::compile(DeviceCompiler& compiler, const std::string& source,
                                    const std::vector<std::string>& compile_options,
                                    const std::string& key_extra) {
  Wanted wanted{key_of(compiler, source, compile_options, key_extra), "", "bin"};
  Compilation compilation(core_, compiler, source, compile_options);
  return core_.get(wanted, compilation);
}

}  // namespace op2::jit
