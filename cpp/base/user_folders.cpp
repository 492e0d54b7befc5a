// SPDX-License-Identifier: BSD-3-Clause
#include "base/user_folders.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace op2 {
namespace {

bool is_absolute(const std::string& path) {
  return path.starts_with('/');
}

bool may_write(const std::string& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

std::string name_of(const std::string& folder) {
  return folder.substr(folder.rfind('/') + 1);
}

/// Whether @p folder is there, or can be made, and takes files.
bool is_usable(const std::string& folder) {
  if (!is_absolute(folder) || lacks_home(folder)) return false;
  std::string there = folder;
  struct stat status {};
  while (there.size() > 1 && ::lstat(there.c_str(), &status) != 0) {
    there.resize(there.rfind('/'));
    if (there.empty()) there = "/";
  }
  return may_write(there);
}

/// A folder of the user's own in @p parent that nobody else may enter; empty if there is none.
std::string private_folder(const std::string& parent, const std::string& name) {
  const std::string folder = parent + "/" + name + "-" + std::to_string(::geteuid());
  ::mkdir(folder.c_str(), 0700);  // if it is there, its owner is looked at
  struct stat status {};
  const bool is_ours = ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                       status.st_uid == ::geteuid() && (status.st_mode & 077U) == 0;
  return is_ours && may_write(folder) ? folder : "";
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

bool lacks_home(const std::string& folder) {
  std::string home = home_directory();
  while (home.size() > 1 && home.ends_with('/')) home.pop_back();
  struct stat status {};
  return is_absolute(home) && ::stat(home.c_str(), &status) != 0 && folder.starts_with(home) &&
         (folder.size() == home.size() || folder[home.size()] == '/');
}

std::string caches_of_user() {
  std::string named = environment("XDG_CACHE_HOME");
  if (is_absolute(named)) return named;
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.cache";
}

void place_cache(const char* variable, const std::string& usual) {
  if (!environment(variable).empty() || is_usable(usual)) return;
  const std::string own = environment("PYOP2CXX_CACHE_DIR");
  if (is_usable(own)) {
    ::setenv(variable, (own + "/" + name_of(usual)).c_str(), 0);
    return;
  }
  const std::string name = "pyop2cxx-" + name_of(usual);
  for (const std::string& parent : {environment("TMPDIR"), std::string("/tmp"),
                                    std::string("/var/tmp"), std::string("/dev/shm")}) {
    if (!may_write(parent)) continue;
    if (const std::string folder = private_folder(parent, name); !folder.empty()) {
      ::setenv(variable, folder.c_str(), 0);
      return;
    }
  }
}

}  // namespace op2
