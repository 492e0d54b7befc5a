// SPDX-License-Identifier: BSD-3-Clause
#include "base/digest.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/fingerprint.hpp"

namespace op2 {
namespace {

using Words = std::array<std::uint64_t, 2>;

constexpr std::size_t block_bytes = sizeof(Words);
constexpr std::uint64_t factors[] = {0x87c37b91114253d5U, 0x4cf5ad432745937fU};

/// The last block may be shorter; zeros follow. The first byte of a word is the lowest everywhere.
Words words_at(const char* at, std::size_t n_bytes) {
  Words words{};
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(words.data(), at, n_bytes);
  } else {
    for (std::size_t i = 0; i < n_bytes; ++i) {
      const auto byte = static_cast<unsigned char>(at[i]);
      words[i / 8] |= std::uint64_t{byte} << (8 * (i % 8));
    }
  }
  return words;
}

std::uint64_t scrambled(std::uint64_t word, std::uint64_t first, int turn, std::uint64_t second) {
  return std::rotl(word * first, turn) * second;
}

std::uint64_t first_scrambled(std::uint64_t word) {
  return scrambled(word, factors[0], 31, factors[1]);
}
std::uint64_t second_scrambled(std::uint64_t word) {
  return scrambled(word, factors[1], 33, factors[0]);
}

/// The second word enters after the first sum has read the second.
void add_block(Words& sums, const Words& words) {
  sums[0] ^= first_scrambled(words[0]);
  sums[0] = (std::rotl(sums[0], 27) + sums[1]) * 5 + 0x52dce729;
  sums[1] ^= second_scrambled(words[1]);
  sums[1] = (std::rotl(sums[1], 31) + sums[0]) * 5 + 0x38495ab5;
}

void add_each_other(Words& sums) {
  sums[0] += sums[1];
  sums[1] += sums[0];
}

}  // namespace

std::string digest(std::string_view bytes) {
  Words sums{};
  std::size_t at = 0;
  for (; at + block_bytes <= bytes.size(); at += block_bytes) {
    add_block(sums, words_at(bytes.data() + at, block_bytes));
  }
  const Words last = words_at(bytes.data() + at, bytes.size() - at);
  sums[0] ^= first_scrambled(last[0]);
  sums[1] ^= second_scrambled(last[1]);
  for (std::uint64_t& sum : sums) sum ^= bytes.size();
  add_each_other(sums);
  for (std::uint64_t& sum : sums) sum = scattered(sum);
  add_each_other(sums);
  return fmt::format("{:016x}{:016x}", sums[0], sums[1]);
}

}  // namespace op2
