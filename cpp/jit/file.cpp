// SPDX-License-Identifier: BSD-3-Clause
#include "jit/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

namespace op2::jit {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view action, const fs::path& path, int error) {
  throw StorageError(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(error)));
}

/// Whether @p path still names the open file: a previous holder removes it before unlocking.
bool names_same_file(const fs::path& path, int fd) {
  struct stat by_path {};
  struct stat by_fd {};
  return ::stat(path.c_str(), &by_path) == 0 && ::fstat(fd, &by_fd) == 0 &&
         by_path.st_ino == by_fd.st_ino && by_path.st_dev == by_fd.st_dev;
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int UniqueFd::release() {
  return std::exchange(fd_, -1);
}

std::optional<std::string> read_all(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return std::nullopt;
  return read_all(fd, status.st_size);
}

std::optional<std::string> read_all(int fd, std::int64_t n_bytes) {
  std::string bytes(static_cast<std::size_t>(std::max<std::int64_t>(n_bytes, 0)), '\0');
  std::size_t n_done = 0;
  while (n_done < bytes.size()) {
    const ssize_t n =
        ::pread(fd, bytes.data() + n_done, bytes.size() - n_done, static_cast<off_t>(n_done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    n_done += static_cast<std::size_t>(n);
  }
  return bytes;
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void write_new_file(const fs::path& path, std::string_view bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) fail("create", path, errno);
  write_all(fd.get(), bytes, path);
}

void replace_file(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("replace", to, errno);
}

void write_in_one_step(const fs::path& parent, std::string_view stem, const fs::path& to,
                       std::string_view bytes) {
  std::string path = (parent / fmt::format("{}.XXXXXX", stem)).string();
  const UniqueFd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd) fail("create a file in", parent, errno);
  try {
    write_all(fd.get(), bytes, path);
    replace_file(path, to);
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
}

WorkDirectory::WorkDirectory(const fs::path& parent, std::string_view stem) {
  std::string pattern = (parent / fmt::format("{}.XXXXXX", stem)).string();
  if (::mkdtemp(pattern.data()) == nullptr) fail("create a directory in", parent, errno);
  path_ = pattern;
}

WorkDirectory::WorkDirectory(WorkDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

WorkDirectory& WorkDirectory::operator=(WorkDirectory&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

void WorkDirectory::remove() {
  std::error_code ignored;  // what cannot be removed now is swept by whoever needs the room
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

FileLock::FileLock(UniqueFd fd, fs::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

FileLock::FileLock(FileLock&& other) noexcept
    : fd_(std::move(other.fd_)), path_(std::move(other.path_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    release();
    fd_ = std::move(other.fd_);
    path_ = std::move(other.path_);
  }
  return *this;
}

void FileLock::release() {
  if (!fd_) return;
  // Before the lock goes: it also frees the name from a child forked meanwhile (and not exec'd),
  // which shares the open file and would hold its lock for as long as it lives.
  ::unlink(path_.c_str());
  fd_.reset();
}

std::optional<FileLock> FileLock::acquire(const fs::path& path, const Patience& patience) {
  using std::chrono::milliseconds;
  milliseconds pause(1);
  Wait wait(patience);
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return std::nullopt;
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      if (names_same_file(path, fd.get())) return FileLock(std::move(fd), path);
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return std::nullopt;
    if (!wait.goes_on()) return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(8));
  }
}

}  // namespace op2::jit
