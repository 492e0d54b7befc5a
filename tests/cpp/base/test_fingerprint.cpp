// SPDX-License-Identifier: BSD-3-Clause
#include "base/fingerprint.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <span>
#include <vector>

namespace op2 {
namespace {

std::uint64_t print_of(const std::vector<double>& values) {
  return fingerprint(std::as_bytes(std::span(values)));
}

TEST(Fingerprint, EachBitOfEachLengthCounts) {
  std::set<std::uint64_t> found;
  std::size_t n = 0;
  for (std::size_t length = 0; length < 150; ++length) {
    std::vector<std::byte> bytes(length);
    found.insert(fingerprint(bytes));
    for (std::size_t bit = 0; bit < 8 * length; ++bit, ++n) {
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      found.insert(fingerprint(bytes));
      bytes[bit / 8] = std::byte{0};
    }
  }
  EXPECT_EQ(found.size(), n + 150);
}

TEST(Fingerprint, NegatedAndExchangedValuesAreOthers) {
  std::vector<double> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 + static_cast<double>(i % 10);
  std::set<std::uint64_t> found{print_of(values)};
  for (std::size_t i = 8; i < values.size(); ++i) {
    std::vector<double> others = values;
    others[i] = -others[i];
    others[i - 8] = -others[i - 8];  // of the same lane
    found.insert(print_of(others));
    others = values;
    std::swap(others[i], others[i - 1]);
    found.insert(print_of(others));
  }
  for (double& value : values) value = -value;
  found.insert(print_of(values));
  EXPECT_EQ(found.size(), 2U * 992U + 2U);
}

TEST(Fingerprint, TheSameBytesElsewhereHaveTheSame) {
  const std::vector<double> values(77, 2.5);
  std::vector<std::byte> bytes(values.size() * sizeof(double) + 3);
  for (std::size_t shift = 0; shift < 3; ++shift) {
    std::memcpy(bytes.data() + shift, values.data(), values.size() * sizeof(double));
    EXPECT_EQ(fingerprint(std::span(bytes).subspan(shift, values.size() * sizeof(double))),
              print_of(values));
  }
}

}  // namespace
}  // namespace op2
