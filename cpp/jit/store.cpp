// SPDX-License-Identifier: BSD-3-Clause
#include "jit/store.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "base/trust.hpp"
#include "base/user_folders.hpp"
#include "jit/entry.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digest_length = 32;
constexpr std::string_view lock_suffix = "lock";
constexpr std::string_view stamp_name = "last-eviction";
constexpr std::string_view work_name = "work";
constexpr std::time_t eviction_interval_s = 3600;
// Uses of an entry within this time count as one: noting each would take as long as reading it.
constexpr std::time_t use_interval_s = 60;

/// One file or directory of the cache.
struct Item {
  fs::path path;
  std::string digest;
  std::string suffix;
  std::int64_t n_bytes = 0;
  timespec used{};
};

bool is_digest(std::string_view text) {
  return text.size() == digest_length &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Everything in @p directory that this room named; files of anybody else are not ours to touch.
std::vector<Item> items_in(const fs::path& directory) {
  std::vector<Item> items;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), &::closedir);
  if (!stream) return items;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name(entry->d_name);
    if (name.size() < digest_length + 2 || name[digest_length] != '.') continue;
    if (!is_digest(name.substr(0, digest_length))) continue;
    struct stat status {};
    if (::fstatat(::dirfd(stream.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;  // gone meanwhile
    }
    items.push_back({directory / name, std::string(name.substr(0, digest_length)),
                     std::string(name.substr(digest_length + 1)), status.st_size, status.st_mtim});
  }
  return items;
}

bool is_lock(const Item& item) {
  return item.suffix == lock_suffix;
}

/// Create @p directory and its missing parents, each mode 0700.
int make_directories(const fs::path& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || !directory.has_relative_path()) return errno;
  if (const int failure = make_directories(directory.parent_path())) return failure;
  return ::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

std::string why_unusable(const fs::path& directory, const struct stat& status) {
  if (!S_ISDIR(status.st_mode)) {
    return fmt::format("the cache directory {} is not a directory", directory.string());
  }
  const std::string reason =
      op2::why_untrusted(directory.string(), "the cache directory", Trust::own);
  if (!reason.empty()) return reason;
  struct stat work {};
  const fs::path inside = directory / work_name;
  if (::lstat(inside.c_str(), &work) == 0 && !S_ISDIR(work.st_mode)) {
    return fmt::format("{} in the cache directory is no directory but a link or a file; remove it",
                       inside.string());
  }
  struct statvfs system {};
  if (::statvfs(directory.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0) {
    return fmt::format("the cache directory {} lies on a file system mounted noexec",
                       directory.string());
  }
  return "";
}

}  // namespace

fs::path cache_directory(const std::string& option) {
  if (!option.empty()) return fs::absolute(option);
  const std::string chosen = environment("PYOP2CXX_CACHE_DIR");
  if (!chosen.empty()) return fs::absolute(chosen);
  // The XDG specification: a relative path is invalid and ignored.
  const fs::path xdg = environment("XDG_CACHE_HOME");
  if (xdg.is_absolute()) return xdg / "pyop2cxx";
  const fs::path home = home_directory();
  return home.is_absolute() ? home / ".cache" / "pyop2cxx" : fs::path();
}

Store::Store(fs::path directory, std::int64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

fs::path Store::path_of(std::string_view digest, std::string_view suffix) const {
  return directory_ / fmt::format("{}.{}", digest, suffix);
}

std::optional<std::string> Store::problem() const {
  constexpr std::string_view advice =
      "set PYOP2CXX_CACHE_DIR (or cache_dir=) to a directory of your own with mode 700";
  if (directory_.empty()) {
    return fmt::format("no cache directory: neither HOME nor XDG_CACHE_HOME is set; {}", advice);
  }
  struct stat status {};
  if (::stat(directory_.c_str(), &status) != 0) {
    int failure = errno;  // looking for the home directory sets it, too
    if (failure == ENOENT && lacks_home(directory_.string())) {
      return fmt::format(
          "cannot use the cache directory {}: the home directory {} is not there; {}",
          directory_.string(), home_directory(), advice);
    }
    if (failure == ENOENT) failure = make_directories(directory_);
    if (failure == 0 && ::stat(directory_.c_str(), &status) != 0) failure = errno;
    if (failure != 0) {
      return fmt::format("cannot use the cache directory {}: {}; {}", directory_.string(),
                         std::strerror(failure), advice);
    }
  }
  const std::string reason = why_unusable(directory_, status);
  if (reason.empty()) return std::nullopt;
  return fmt::format("{}; {}", reason, advice);
}

Lookup Store::find(std::string_view digest, std::string_view suffix, std::string_view key) const {
  const UniqueFd fd(::open(path_of(digest, suffix).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return {};
  struct stat status {};
  const bool is_ours = ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!is_ours) return {Lookup::State::damaged, ""};
  std::optional<std::string> file = read_all(fd.get(), status.st_size);
  if (!file) return {Lookup::State::damaged, ""};
  const std::optional<std::string_view> payload = entry_payload(*file, key);
  if (!payload) return {Lookup::State::damaged, ""};
  if (std::time(nullptr) - status.st_mtime > use_interval_s) {
    ::futimens(fd.get(), nullptr);  // fails harmlessly on a read-only file system
  }
  file->resize(payload->size());
  return {Lookup::State::hit, *std::move(file)};
}

std::optional<FileLock> Store::lock(std::string_view digest, const Patience& patience) const {
  return FileLock::acquire(path_of(digest, lock_suffix), patience);
}

fs::path Store::work_folder() const {
  const fs::path parent = directory_ / work_name;
  ::mkdir(parent.c_str(), 0700);  // if it fails, creating something inside says why
  return parent;
}

WorkDirectory Store::work(std::string_view digest) const {
  return {work_folder(), digest};
}

void Store::write(std::string_view bytes, std::string_view digest, std::string_view suffix) {
  write_in_one_step(work_folder(), digest, path_of(digest, suffix), bytes);
  n_bytes_since_eviction_ += static_cast<std::int64_t>(bytes.size());
}

void Store::sweep(std::string_view digest) const {
  std::error_code ignored;
  for (const Item& item : items_in(directory_ / work_name)) {
    if (item.digest == digest) fs::remove_all(item.path, ignored);
  }
}

void Store::sweep_orphans() const {
  for (const Item& item : items_in(directory_ / work_name)) {
    // Whoever is alive and at work holds the lock.
    if (const std::optional<FileLock> held = lock(item.digest, Patience{})) sweep(item.digest);
  }
  for (const Item& item : items_in(directory_)) {
    if (is_lock(item)) (void)lock(item.digest, Patience{});  // dropping a lock removes its file
  }
}

bool Store::eviction_due() const {
  if (n_bytes_since_eviction_ > max_bytes_ / 16) return true;
  struct stat stamp {};
  return ::stat((directory_ / stamp_name).c_str(), &stamp) != 0 ||
         std::time(nullptr) - stamp.st_mtime > eviction_interval_s;
}

void Store::publish(const fs::path& finished, std::string_view digest, std::string_view suffix) {
  std::error_code ignored;
  const auto n_bytes = static_cast<std::int64_t>(fs::file_size(finished, ignored));
  replace_file(finished, path_of(digest, suffix));
  n_bytes_since_eviction_ += n_bytes;
}

void Store::make_room() {
  if (eviction_due()) evict();
}

void Store::evict() {
  n_bytes_since_eviction_ = 0;
  const fs::path stamp = directory_ / stamp_name;
  const UniqueFd fd(::open(stamp.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd) ::futimens(fd.get(), nullptr);
  sweep_orphans();

  std::vector<Item> items = items_in(directory_);
  std::erase_if(items, is_lock);
  std::ranges::sort(items, [](const Item& a, const Item& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  std::int64_t n_bytes = 0;
  for (const Item& item : items) n_bytes += item.n_bytes;
  // Some way below the bound, so that the next entry does not start the next eviction.
  const std::int64_t goal = n_bytes > max_bytes_ ? max_bytes_ - max_bytes_ / 10 : n_bytes;
  for (const Item& item : items) {
    if (n_bytes <= goal) break;
    ::unlink(item.path.c_str());
    n_bytes -= item.n_bytes;
  }
}

void Store::clear() {
  sweep_orphans();
  for (const Item& item : items_in(directory_)) {
    if (!is_lock(item)) ::unlink(item.path.c_str());
  }
}

StoreInfo Store::info() const {
  StoreInfo info;
  for (const Item& item : items_in(directory_)) {
    if (is_lock(item)) continue;
    info.n_bytes += item.n_bytes;
    info.n_entries += item.suffix == "so" || item.suffix == "bin" ? 1 : 0;
  }
  return info;
}

}  // namespace op2::jit
