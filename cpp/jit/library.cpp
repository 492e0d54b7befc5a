// SPDX-License-Identifier: BSD-3-Clause
#include "jit/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "base/error.hpp"

namespace op2::jit {
namespace {

std::string loader_message() {
  const char* message = ::dlerror();
  return message != nullptr ? message : "no reason given";
}

/// GCC's OpenMP run-time keeps idle threads but may be unloaded with the last kernel that needs it;
/// the threads then wake in unmapped memory. Pin the run-time, so that kernels stay unloadable.
/// Finding it takes as long as loading a kernel, so that is done once, and for who has it only.
void pin_openmp_runtime(void* library) {
  static std::atomic<bool> is_pinned = false;
  if (is_pinned || ::dlsym(library, "GOMP_parallel") == nullptr) return;
  void* runtime = ::dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (runtime == nullptr) return;
  ::dlclose(runtime);
  is_pinned = true;
}

}  // namespace

Library::Library(const std::filesystem::path& path) : path_(path.string()) {
  handle_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    throw ToolchainError(fmt::format("cannot load {}: {}", path_, loader_message()), "", "", "");
  }
  pin_openmp_runtime(handle_);
}

Library::Library(Library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

Library& Library::operator=(Library&& other) noexcept {
  if (this != &other) {
    close();
    handle_ = std::exchange(other.handle_, nullptr);
    path_ = std::move(other.path_);
  }
  return *this;
}

void Library::close() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* Library::symbol(const std::string& name) const {
  ::dlerror();
  void* address = ::dlsym(handle_, name.c_str());
  if (address == nullptr) {
    throw ToolchainError(fmt::format("{} has no symbol '{}': {}", path_, name, loader_message()),
                         "", "", "");
  }
  return address;
}

}  // namespace op2::jit
