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

Recorded::Recorded(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {}

bool Recorded::reads(void* to, std::size_t n_bytes) {
  return file_ != nullptr && std::fread(to, 1, n_bytes, file_.get()) == n_bytes;
}

Recorded::Recorded(const std::string& path, const std::string& title, std::size_t n_bytes,
                   std::uint32_t checksum)
    : Recorded(path) {
  if (!file_) throw UsageError(path + ": it is missing");
  std::string found(title.size() + 1, '\0');
  if (!reads(found.data(), found.size()) || found != title + "\n") {
    throw UsageError(
        fmt::format("{}: it is not the file with the title '{}'; it is of another "
                    "graph, or of another version",
                    path, title));
  }
  const long begin = std::ftell(file_.get());
  std::vector<char> some(most_at_once);
  std::uint32_t sum = 0;
  std::size_t n_read = 0;
  while (const std::size_t n = std::fread(some.data(), 1, some.size(), file_.get())) {
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
  std::fseek(file_.get(), begin, SEEK_SET);
}

}  // namespace op2::api
