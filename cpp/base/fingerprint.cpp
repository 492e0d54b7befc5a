// SPDX-License-Identifier: BSD-3-Clause
#include "base/fingerprint.hpp"

#include <array>
#include <cstring>

namespace op2 {
namespace {

constexpr std::size_t n_lanes = 8;  // multiplications on their way at once
constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::size_t stripe_bytes = n_lanes * word_bytes;

/// One to one in each argument. Multiplying alone would leave a changed sign where it is, and the
/// next one would undo it.
std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
  const std::uint64_t product = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
  return product ^ (product >> 32);
}

void add_stripe(std::array<std::uint64_t, n_lanes>& sums, const std::byte* stripe) {
  std::array<std::uint64_t, n_lanes> words;
  std::memcpy(words.data(), stripe, stripe_bytes);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < n_lanes; ++i) sums[i] = mixed(sums[i], words[i]);
}

}  // namespace

std::uint64_t fingerprint(std::span<const std::byte> bytes) {
  std::array<std::uint64_t, n_lanes> sums{1, 2, 3, 4, 5, 6, 7, 8};
  const std::size_t n_whole = bytes.size() / stripe_bytes * stripe_bytes;
  for (std::size_t at = 0; at < n_whole; at += stripe_bytes) add_stripe(sums, bytes.data() + at);
  if (n_whole < bytes.size()) {
    std::array<std::byte, stripe_bytes> last{};
    std::memcpy(last.data(), bytes.data() + n_whole, bytes.size() - n_whole);
    add_stripe(sums, last.data());
  }
  std::uint64_t found = bytes.size();
  for (const std::uint64_t sum : sums) found = mixed(found, scattered(sum));
  return found;
}

}  // namespace op2
