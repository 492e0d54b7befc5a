// SPDX-License-Identifier: BSD-3-Clause
#include "base/trust.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace op2 {
namespace {

constexpr mode_t rights = 07777U;

/// The name of a user and the number, as far as the system knows.
std::string user(uid_t number) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  const int failure = ::getpwuid_r(number, &entry, text.data(), text.size(), &found);
  if (failure != 0 || found == nullptr) return fmt::format("user {}", number);
  return fmt::format("user {} ({})", number, found->pw_name);
}

/// Whether a group has the name of this user and no other member, as many systems give each user.
bool is_private(gid_t number) {
  passwd own{};
  group entry{};
  passwd* me = nullptr;
  group* found = nullptr;
  std::array<char, 4096> own_text{};
  std::array<char, 16384> text{};
  if (::getpwuid_r(::geteuid(), &own, own_text.data(), own_text.size(), &me) != 0 || !me) {
    return false;
  }
  if (::getgrgid_r(number, &entry, text.data(), text.size(), &found) != 0 || !found) return false;
  if (std::strcmp(me->pw_name, found->gr_name) != 0) return false;
  for (char** one = found->gr_mem; *one != nullptr; ++one) {
    if (std::strcmp(*one, me->pw_name) != 0) return false;
  }
  return true;
}

bool others_may_write(const struct stat& status, Trust trust) {
  if ((status.st_mode & S_IWOTH) != 0) return true;
  if ((status.st_mode & S_IWGRP) == 0) return false;
  return trust == Trust::own || !is_private(status.st_gid);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// The folder above @p path in which everyone may replace names; empty if there is none.
std::string open_parent(std::string path) {
  while (path.size() > 1) {
    path = parent_of(path);
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) continue;
    if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) return path;
  }
  return "";
}

}  // namespace

std::string why_untrusted(const std::string& path, std::string_view what, Trust trust) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return fmt::format("cannot look at {} {}: {}", what, path, std::strerror(errno));
  }
  const bool is_admins = trust == Trust::provided && status.st_uid == 0;
  if (status.st_uid != ::geteuid() && !is_admins) {
    return fmt::format(
        "{} {} belongs to {}, and this is {}; code of others would run with your rights: "
        "copy what you trust to a place of your own",
        what, path, user(status.st_uid), user(::geteuid()));
  }
  if (others_may_write(status, trust)) {
    return fmt::format(
        "others may write to {} {} of {} (mode {:o}), and their code would run with your "
        "rights: 'chmod go-w {}' mends this, if nobody has changed anything",
        what, path, user(status.st_uid), status.st_mode & rights, path);
  }
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  for (const std::string& one : {path, std::string(real ? real.get() : path.c_str())}) {
    const std::string open = open_parent(one);
    if (open.empty() || ::stat(open.c_str(), &status) != 0) continue;
    return fmt::format(
        "everyone may replace {} {}, as everyone may write to the folder {} of {} (mode {:o}): "
        "'chmod o-w {}' or 'chmod +t {}' mends this",
        what, path, open, user(status.st_uid), status.st_mode & rights, open, open);
  }
  return "";
}

}  // namespace op2
