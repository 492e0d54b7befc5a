// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/program.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"

namespace op2::runtime::gpu {
namespace {

bool is_verdict_on_code(Result result) {
  return result == invalid_image || result == no_binary_for_gpu || result == invalid_ptx ||
         result == unsupported_ptx_version;
}

}  // namespace

LoadedProgram::LoadedProgram(std::shared_ptr<Context> context, const std::string& binary)
    : context_(std::move(context)) {
  context_->check_process();
  const Driver& driver = context_->driver();
  const Current current(*context_);
  const Result loaded = driver.module_load_data(&module_, binary.c_str());
  if (is_verdict_on_code(loaded)) {
    int version = 0;
    driver.driver_get_version(&version);
    throw ToolchainError(
        fmt::format("{} does not take the compiled loop ({}); {}", context_->name(),
                    describe(driver, loaded), driver.vendor.advice_on_code(version)),
        "", "", "");
  }
  context_->check(loaded, "load a compiled loop");
  DeviceAddress mark = 0;
  std::size_t n_bytes = 0;
  waits_by_itself_ = driver.module_get_global(&mark, &n_bytes, module_, "op2_waits") == success;
}

LoadedProgram::~LoadedProgram() {
  if (context_->is_inherited()) return;
  const Current current(*context_);
  // The last launch may still run. After a fault neither call does anything.
  context_->driver().stream_synchronize(context_->stream());
  context_->driver().module_unload(module_);
}

DeviceKernel& LoadedProgram::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return *known->second;
  context_->check_process();
  const Driver& driver = context_->driver();
  const Current current(*context_);
  FunctionHandle function = nullptr;
  const Result found = driver.module_get_function(&function, module_, name.c_str());
  if (found == not_found) {
    throw InternalError(fmt::format("the compiled loop has no kernel '{}'", name));
  }
  context_->check(found, fmt::format("find kernel '{}'", name));
  int max_lanes = 0;
  context_->check(driver.func_get_attribute(&max_lanes, function_max_threads_per_block, function),
                  fmt::format("ask for the block size of kernel '{}'", name));
  const int shared_bytes = requested_shared_bytes(name, function);
  auto kernel = std::make_unique<Kernel>(function, max_lanes, shared_bytes, waits_by_itself_);
  return *kernels_.emplace(name, std::move(kernel)).first->second;
}

int LoadedProgram::requested_shared_bytes(const std::string& name, FunctionHandle function) const {
  const Driver& driver = context_->driver();
  DeviceAddress number = 0;
  std::size_t n_bytes = 0;
  const std::string symbol = "op2_shared_" + name;
  if (driver.module_get_global(&number, &n_bytes, module_, symbol.c_str()) != success) return 0;
  int shared_bytes = 0;
  const std::string asked = fmt::format("ask for the memory of kernel '{}'", name);
  context_->check(
      driver.memcpy_dtoh_async(&shared_bytes, number, sizeof shared_bytes, context_->stream()),
      asked);
  context_->check(driver.stream_synchronize(context_->stream()), asked);
  if (driver.func_set_attribute == nullptr) return shared_bytes;
  context_->check(
      driver.func_set_attribute(function, function_requested_shared_bytes, shared_bytes),
      fmt::format("give {} bytes of memory to each block of kernel '{}'", shared_bytes, name));
  return shared_bytes;
}

int LoadedProgram::resident_blocks(const std::string& name, int n_lanes) {
  const auto& asked = static_cast<Kernel&>(kernel(name));
  const Driver& driver = context_->driver();
  if (driver.resident_blocks == nullptr) return 0;
  const Current current(*context_);
  int n = 0;
  context_->check(driver.resident_blocks(&n, asked.function(), n_lanes,
                                         static_cast<std::size_t>(asked.shared_bytes())),
                  fmt::format("ask how many blocks of kernel '{}' are resident", name));
  return n;
}

}  // namespace op2::runtime::gpu
