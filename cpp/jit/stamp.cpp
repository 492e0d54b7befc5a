// SPDX-License-Identifier: BSD-3-Clause
#include "jit/stamp.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/digest.hpp"

namespace op2::jit {
namespace {

using Listing = std::unique_ptr<DIR, int (*)(DIR*)>;

struct Stamped {
  std::string name;
  std::array<std::int64_t, 3> about{};  // bytes; seconds and nanoseconds of the last change
};

Listing listing_of(const std::string& folder) {
  return {::opendir(folder.c_str()), &::closedir};
}

std::vector<Stamped> files_of(DIR* listing) {
  std::vector<Stamped> files;
  while (const dirent* entry = ::readdir(listing)) {
    if (entry->d_type == DT_DIR) continue;
    struct stat status {};
    const bool is_there = ::fstatat(::dirfd(listing), entry->d_name, &status, 0) == 0;
    if (!is_there || !S_ISREG(status.st_mode)) continue;
    files.push_back(
        {entry->d_name, {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec}});
  }
  std::ranges::sort(files, {}, &Stamped::name);  // a listing has any order
  return files;
}

void add_word(std::string& text, std::string_view word) {
  text.append(word).push_back('\0');  // in no name of a file
}

void add_files(std::string& text, const std::string& folder, DIR* listing) {
  add_word(text, folder);
  for (const Stamped& file : files_of(listing)) {
    add_word(text, file.name);
    text.append(reinterpret_cast<const char*>(file.about.data()), sizeof(file.about));
  }
  text.push_back('\0');  // no file has this name: here the folder ends
}

}  // namespace

std::string stamp_of(const std::vector<std::string>& folders) {
  std::string text;
  for (const std::string& folder : folders) {
    if (const Listing listing = listing_of(folder)) add_files(text, folder, listing.get());
  }
  return digest(text);
}

std::string stamp_of_package(const std::vector<std::string>& places, const std::string& package) {
  for (const std::string& place : places) {
    const std::string folder = place.empty() ? package : place + "/" + package;
    if (const Listing listing = listing_of(folder)) {
      std::string text;
      add_files(text, folder, listing.get());
      return digest(text);
    }
  }
  return "";
}

}  // namespace op2::jit
