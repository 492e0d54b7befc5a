// SPDX-License-Identifier: BSD-3-Clause
#include "api/recorded.hpp"

#include <fmt/format.h>

#include <array>

namespace op2::api {
namespace {

constexpr std::uint32_t polynomial = 0xEDB88320U;
constexpr std::size_t most_at_once = std::size_t{1} << 16;

constexpr std::array<std::uint32_t, 256> table = [] {
  std::array<std::uint32_t, 256> made{};
  for (std::uint32_t i = 0; i < made.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) * polynomial);
    made[i] = value;
  }
  return made;
}();

}  // namespace

std::uint32_t checksum_of(std::span<const char> bytes, std::uint32_t before) {
  std::uint32_t value = ~before;
  for (const char byte : bytes) {
    value = table[(value ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (value >> 8);
  }
  return ~value;
}

Recorded::Recorded(const std::string& path, const std::string& title, std::size_t n_bytes,
                   std::uint32_t checksum)
    : path_(path), file_(path, std::ios::binary) {
  if (!file_) throw UsageError(path + ": it is missing");
  std::string found(title.size() + 1, '\0');
  file_.read(found.data(), static_cast<std::streamsize>(found.size()));
  if (found != title + "\n") {
    throw UsageError(
        fmt::format("{}: it is not the file with the title '{}'; it is of another "
                    "graph, or of another version",
                    path, title));
  }
  const std::streampos begin = file_.tellg();
  std::array<char, most_at_once> some{};
  std::uint32_t sum = 0;
  std::size_t n_read = 0;
  while (file_.read(some.data(), some.size()) || file_.gcount() > 0) {
    const auto n = static_cast<std::size_t>(file_.gcount());
    sum = checksum_of(std::span(some).first(n), sum);
    n_read += n;
  }
  if (n_read != n_bytes) {
    throw UsageError(
        fmt::format("{}: it should have {} bytes of values, but has {}", path, n_bytes, n_read));
  }
  if (sum != checksum) {
    throw UsageError(path + ": its values were changed after they were written");
  }
  file_.clear();
  file_.seekg(begin);
}

}  // namespace op2::api
