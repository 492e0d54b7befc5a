// SPDX-License-Identifier: BSD-3-Clause
#include "base/user_folders.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace op2 {
namespace {

namespace fs = std::filesystem;

bool may_write(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder, ignored) &&
         ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

/// Whether @p folder is there, or can be made, and takes files.
bool is_usable(const fs::path& folder) {
  if (folder.empty() || lacks_home(folder)) return false;
  fs::path there = folder;
  std::error_code ignored;
  while (there.has_relative_path() && !fs::exists(fs::symlink_status(there, ignored))) {
    there = there.parent_path();
  }
  return may_write(there);
}

/// A folder of the user's own in @p parent that nobody else may enter; empty if there is none.
fs::path private_folder(const fs::path& parent, std::string_view name) {
  const fs::path folder = parent / (std::string(name) + "-" + std::to_string(::geteuid()));
  ::mkdir(folder.c_str(), 0700);  // if it is there, its owner is looked at
  struct stat status {};
  const bool is_ours = ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                       status.st_uid == ::geteuid() && (status.st_mode & 077U) == 0;
  return is_ours && may_write(folder) ? folder : fs::path();
}

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string home_directory() {
  std::string home = environment("HOME");
  if (!home.empty()) return home;
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  if (::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found) != 0) return "";
  return found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "";
}

bool lacks_home(const fs::path& folder) {
  const fs::path home = fs::path(home_directory()).lexically_normal();
  const fs::path normal = folder.lexically_normal();
  std::error_code ignored;
  return home.is_absolute() && !fs::exists(home, ignored) &&
         std::ranges::mismatch(home, normal).in1 == home.end();
}

fs::path caches_of_user() {
  const fs::path named = environment("XDG_CACHE_HOME");
  if (named.is_absolute()) return named;
  const fs::path home = environment("HOME");
  return home.empty() ? fs::path() : home / ".cache";
}

void place_cache(const char* variable, const fs::path& usual) {
  if (!environment(variable).empty() || is_usable(usual)) return;
  const fs::path own = environment("PYOP2CXX_CACHE_DIR");
  if (own.is_absolute() && is_usable(own)) {
    ::setenv(variable, (own / usual.filename()).c_str(), 0);
    return;
  }
  const std::string name = "pyop2cxx-" + usual.filename().string();
  for (const fs::path& parent : {fs::path(environment("TMPDIR")), fs::path("/tmp"),
                                 fs::path("/var/tmp"), fs::path("/dev/shm")}) {
    if (!may_write(parent)) continue;
    if (const fs::path folder = private_folder(parent, name); !folder.empty()) {
      ::setenv(variable, folder.c_str(), 0);
      return;
    }
  }
}

}  // namespace op2
