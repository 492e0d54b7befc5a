// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/nvtx.hpp"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace op2::runtime {
namespace {

// The part of NVTX 3 that is used here: names and numbers are the vendor's. A tool is handed a
// function that finds tables; in these it replaces the functions it wants to have called.

using Function = void (*)();
using Table = Function**;

constexpr std::uint32_t callbacks_table = 1;
constexpr int core_module = 1;
constexpr std::size_t range_push = 9;
constexpr std::size_t range_pop = 11;
constexpr std::size_t n_core_functions = 16;

std::array<Function, n_core_functions> functions = {};
std::array<Function*, n_core_functions> slots = {};

int find_module(int module, Table* table, unsigned* n_functions) {
  if (module != core_module) return 0;
  for (std::size_t i = 1; i < n_core_functions; ++i) slots[i] = &functions[i];
  if (table != nullptr) *table = slots.data();
  if (n_functions != nullptr) *n_functions = n_core_functions;
  return 1;
}

struct Callbacks {
  std::size_t n_bytes = sizeof(Callbacks);
  int (*find)(int, Table*, unsigned*) = find_module;
};

const void* find_table(std::uint32_t which) {
  static const Callbacks callbacks;
  return which == callbacks_table ? &callbacks : nullptr;
}

struct Tool {
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
};

/// Never unloaded: a tool may keep threads.
Tool find_tool() {
  using Initialize = int (*)(const void* (*)(std::uint32_t));
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr) return {};
  void* library = ::dlopen(path, RTLD_LAZY);
  if (library == nullptr) return {};
  const auto start = reinterpret_cast<Initialize>(::dlsym(library, "InitializeInjectionNvtx2"));
  if (start == nullptr || start(find_table) == 0) return {};
  const Tool found{reinterpret_cast<int (*)(const char*)>(functions[range_push]),
                   reinterpret_cast<int (*)()>(functions[range_pop])};
  return found.push != nullptr && found.pop != nullptr ? found : Tool{};
}

const Tool& tool() {
  static const Tool found = find_tool();
  return found;
}

}  // namespace

NamedRange::NamedRange(const char* name) {
  if (tool().push != nullptr) tool().push(name);
}

NamedRange::~NamedRange() {
  if (tool().pop != nullptr) tool().pop();
}

}  // namespace op2::runtime
