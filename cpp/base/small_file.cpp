// SPDX-License-Identifier: BSD-3-Clause
#include "base/small_file.hpp"

#include <array>
#include <cstddef>
#include <cstdio>

namespace op2 {

std::string text_of_file(const std::string& path) {
  std::string text;
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return text;
  std::array<char, 4096> piece{};
  for (;;) {
    const std::size_t n = std::fread(piece.data(), 1, piece.size(), file);
    text.append(piece.data(), n);
    if (n < piece.size()) break;
  }
  std::fclose(file);
  return text;
}

}  // namespace op2
