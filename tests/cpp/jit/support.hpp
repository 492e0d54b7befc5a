// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/service.hpp"

namespace op2::jit::testing {

/// A directory that disappears with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = "/tmp/op2-test.XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// An environment variable, set or (nullopt) unset for the scope.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    set(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { set(old_); }

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  std::string name_;
  std::optional<std::string> old_;
};

/// Root may do everything; tests of permissions are for somebody who may not.
class AsOrdinaryUser {
 public:
  AsOrdinaryUser() : uid_(::geteuid()) {
    if (uid_ == 0 && ::seteuid(65534) != 0) std::abort();
  }
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;
  ~AsOrdinaryUser() {
    if (::seteuid(uid_) != 0) std::abort();
  }

 private:
  ScopedVariable no_ccache_{"CCACHE_DISABLE", "1"};  // its directory is somebody else's
  uid_t uid_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A stand-in for a compiler: @p body is shell text that runs for real compilations only, before
/// the system's compiler takes over.
inline std::string write_compiler(const std::filesystem::path& path, const std::string& body) {
  write_file(path, "#!/bin/sh\ncase \"$*\" in *-shared*)\n" + body + "\n;; esac\nexec cc \"$@\"\n");
  ::chmod(path.c_str(), 0700);
  return path.string();
}

/// Options for tests: the cache in @p directory, bounds that do not matter.
inline Options options_in(const std::filesystem::path& directory, const std::string& cc = "cc") {
  Options options;
  options.cache_dir = directory.string();
  options.max_disk_bytes = 1 << 30;
  options.max_memory_entries = 100;
  options.compile_timeout_seconds = 60.0;
  options.cc = cc;
  options.cxx = "c++";
  return options;
}

/// A source whose function `value` returns @p value.
inline std::string source_of(int value) {
  return "int value(void) { return " + std::to_string(value) + "; }\n";
}

inline int call_value(const Loaded& loaded) {
  return reinterpret_cast<int (*)()>(loaded.library->symbol("value"))();
}

/// Files of one kind in a cache directory.
inline std::vector<std::filesystem::path> files_with(const std::filesystem::path& directory,
                                                     const std::string& extension) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  return found;
}

/// Nothing half-made: no work directory, no lock.
inline bool is_tidy(const std::filesystem::path& directory) {
  return files_with(directory, ".lock").empty() && (!std::filesystem::exists(directory / "work") ||
                                                    std::filesystem::is_empty(directory / "work"));
}

}  // namespace op2::jit::testing
