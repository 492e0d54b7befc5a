// SPDX-License-Identifier: BSD-3-Clause
#include "base/toolkit_places.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>

namespace op2 {
namespace {

namespace fs = std::filesystem;

/// The toolkits beside /usr/local/cuda, which may be missing itself; the newest first.
std::vector<fs::path> toolkits() {
  std::vector<fs::path> found;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", failure)) {
    if (entry.path().filename().string().starts_with("cuda")) found.push_back(entry.path());
  }
  std::ranges::sort(found, std::ranges::greater());
  return found;
}

}  // namespace

std::vector<std::string> toolkit_places(const std::vector<std::string>& sonames,
                                        const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  const auto add_folder = [&](const fs::path& folder) {
    for (const std::string& soname : sonames) {
      const fs::path path = folder / soname;
      std::error_code ignored;
      if (fs::exists(path, ignored)) found.push_back(path.string());
    }
  };
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    for (const char* folder : {"lib64", "lib"}) add_folder(fs::path(value) / folder);
  }
  found.insert(found.end(), sonames.begin(), sonames.end());
  for (const std::string& folder : folders) add_folder(folder);
  for (const fs::path& toolkit : toolkits()) {
    for (const char* folder : {"lib64", "lib"}) add_folder(toolkit / folder);
  }
  return found;
}

}  // namespace op2
