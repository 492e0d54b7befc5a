// SPDX-License-Identifier: BSD-3-Clause
#include "libs/known.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/error.hpp"

namespace op2::libs {
namespace {

struct AllLibraries {
  std::mutex mutex;
  std::map<std::string, LibraryTable> tables;
};

/// Filled before main() and later. Never destroyed: libraries of other units may go later.
AllLibraries& all_libraries() {
  static AllLibraries& all = *new AllLibraries;
  return all;
}

std::map<std::string, LibraryTable> tables_now() {
  AllLibraries& all = all_libraries();
  const std::lock_guard lock(all.mutex);
  return all.tables;
}

LibraryPointer opened(const LibraryTable& table, std::vector<std::string> files) {
  if (!table.files.empty()) files.insert(files.end(), table.files.begin(), table.files.end());
  return table.open(files);
}

/// The first line of an error says which library is missing.
std::string first_line(const Error& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

/// For the first library that can use it. The last error is the reason if none can.
NamedLibrary from_file(const std::map<std::string, LibraryTable>& tables, const std::string& file) {
  std::vector<std::string> reasons;
  for (const auto& [name, table] : tables) {
    if (table.files.empty()) continue;
    try {
      return {name, table.open({file})};
    } catch (const ToolchainError& error) {
      reasons.emplace_back(error.what());
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, table] : tables) names.push_back(name);
  throw ToolchainError(fmt::format("there is no library '{}': {}; by name there are: {}", file,
                                   fmt::join(reasons, "; "), fmt::join(names, ", ")),
                       "", "", "");
}

}  // namespace

std::string VectorLibrary::veto_dot(const exec::Column& /*x*/, const exec::Column& /*y*/) const {
  return "operation: the library has no dot";
}

exec::Scalar VectorLibrary::dot(const exec::Column& /*x*/, const exec::Column& /*y*/,
                                bool /*conjugate*/) const {
  throw InternalError(path() + " has no dot");
}

std::string VectorLibrary::veto_axpy(const exec::Column& /*alpha*/, const exec::Column& /*x*/,
                                     const exec::Column& /*y*/) const {
  return "operation: the library has no axpy";
}

void VectorLibrary::axpy(const exec::Column& /*alpha*/, const exec::Column& /*x*/,
                         const exec::Column& /*y*/) const {
  throw InternalError(path() + " has no axpy");
}

KnownLibrary::KnownLibrary(LibraryTable table) : name_(table.name) {
  AllLibraries& all = all_libraries();
  const std::lock_guard lock(all.mutex);
  if (all.tables.try_emplace(name_, std::move(table)).second) return;
  throw UsageError(fmt::format("there is a library '{}' already; pass another name", name_));
}

KnownLibrary::~KnownLibrary() {
  AllLibraries& all = all_libraries();
  const std::lock_guard lock(all.mutex);
  all.tables.erase(name_);
}

std::vector<std::string> known_libraries() {
  std::vector<std::string> names;
  for (const auto& [name, table] : tables_now()) names.push_back(name);
  return names;
}

OpenedLibraries open_libraries(const std::string& wanted, const std::vector<std::string>& before) {
  const std::map<std::string, LibraryTable> tables = tables_now();
  OpenedLibraries made;
  if (wanted != "auto") {
    const auto found = tables.find(wanted);
    made.libraries.push_back(found == tables.end()
                                 ? from_file(tables, wanted)
                                 : NamedLibrary{wanted, opened(found->second, before)});
    return made;
  }
  for (const auto& [name, table] : tables) {
    try {
      made.libraries.push_back({name, opened(table, before)});
    } catch (const ToolchainError& error) {
      made.missing.push_back(fmt::format("library '{}': {}", name, first_line(error)));
    }
  }
  return made;
}

}  // namespace op2::libs
