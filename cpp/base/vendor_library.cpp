// SPDX-License-Identifier: BSD-3-Clause
#include "base/vendor_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

namespace op2 {
namespace {

std::string loader_message() {
  const char* message = ::dlerror();
  return message != nullptr ? message : "no reason given";
}

std::string path_of(void* handle, const std::string& candidate) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return candidate;
  return map->l_name != nullptr && *map->l_name != '\0' ? map->l_name : candidate;
}

}  // namespace

VendorLibrary::VendorLibrary(std::string_view what, const std::vector<std::string>& candidates,
                             std::string_view install)
    : what_(what), install_(install) {
  std::string refusals;
  for (const std::string& candidate : candidates) {
    ::dlerror();
    handle_ = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      path_ = path_of(handle_, candidate);
      return;
    }
    refusals += fmt::format("\n  {}", loader_message());
  }
  throw ToolchainError(fmt::format("{} was not found; {}. Looked for:{}", what_, install_,
                                   refusals.empty() ? " nothing" : refusals),
                       "", "", "");
}

void* VendorLibrary::find(const char* symbol) const {
  return ::dlsym(handle_, symbol);
}

void* VendorLibrary::require_address(const char* symbol) const {
  ::dlerror();
  void* address = ::dlsym(handle_, symbol);
  if (address == nullptr) {
    throw ToolchainError(fmt::format("{} at {} is too old, it has no {}: {}; {}", what_, path_,
                                     symbol, loader_message(), install_),
                         "", "", "");
  }
  return address;
}

}  // namespace op2
