// SPDX-License-Identifier: BSD-3-Clause
#include "exec/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parallel.hpp"

namespace op2::exec {

namespace {

constexpr int bin_bits = 32;
constexpr int mantissa_bits = 52;
constexpr std::uint64_t hidden_bit = std::uint64_t{1} << mantissa_bits;
constexpr int lowest_exponent = -1074;  // of the last bit of the least number
constexpr std::uint64_t low_bits = 0xffffffffU;
constexpr std::size_t of_infinity = ExactSum::n_bins;
constexpr std::size_t of_nan = of_infinity + 2;

/// Move what a bin has beyond 32 bits to the next; only the last bin may stay negative.
void move_carries(ExactSum::Parts& parts) {
  for (std::size_t i = 0; i + 1 < ExactSum::n_bins; ++i) {
    const std::int64_t above = parts[i] >> bin_bits;  // rounds downwards
    parts[i] -= above << bin_bits;
    parts[i + 1] += above;
  }
}

/// Sums of the mantissas of numbers with equal sign and exponent: 128 bits each.
struct Mantissas {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

constexpr std::size_t n_exponents = 2048;  // of each sign
constexpr std::size_t n_few = 512;         // numbers are added to the bins one by one

/// Add a sum of mantissas to the bins. @param[in] which sign and exponent, as in a double
void put(ExactSum::Parts& parts, std::size_t which, Mantissas sum) {
  const int exponent = static_cast<int>(which % n_exponents);
  const int shift = std::max(exponent - 1, 0);  // of the last bit, above the lowest
  const int within = shift % bin_bits;
  const std::int64_t sign = which < n_exponents ? 1 : -1;
  auto bin = static_cast<std::size_t>(shift / bin_bits);
  for (const std::uint64_t piece : {sum.low & low_bits, sum.low >> bin_bits, sum.high}) {
    parts[bin] += sign * static_cast<std::int64_t>((piece << within) & low_bits);
    parts[bin + 1] += sign * static_cast<std::int64_t>(piece >> (bin_bits - within));
    ++bin;
  }
}

std::uint64_t mantissa_of(std::uint64_t bits, std::size_t which) {
  const auto is_normal = static_cast<std::uint64_t>(which % n_exponents != 0);
  return (bits & (hidden_bit - 1)) | (is_normal << mantissa_bits);
}

void put_special(ExactSum::Parts& parts, double value) {
  ++parts[std::isnan(value) ? of_nan : of_infinity + (value < 0 ? 1 : 0)];
}

bool is_special(std::size_t which) {
  return which % n_exponents == n_exponents - 1;
}

}  // namespace

void ExactSum::add(double value) {
  add(std::span(&value, 1));
}

void ExactSum::add(std::span<const double> values, std::size_t stride) {
  if (values.size() < n_few * stride) {
    for (std::size_t i = 0; i < values.size(); i += stride) {
      const auto bits = std::bit_cast<std::uint64_t>(values[i]);
      const std::size_t which = bits >> mantissa_bits;
      if (is_special(which)) {
        put_special(parts_, values[i]);
      } else {
        put(parts_, which, {mantissa_of(bits, which), 0});
      }
    }
    move_carries(parts_);
    return;
  }
  std::vector<Mantissas> sums(2 * n_exponents);
  for (std::size_t i = 0; i < values.size(); i += stride) {
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    const std::size_t which = bits >> mantissa_bits;
    if (is_special(which)) {
      put_special(parts_, values[i]);
      continue;
    }
    const std::uint64_t mantissa = mantissa_of(bits, which);
    Mantissas& sum = sums[which];
    sum.low += mantissa;
    sum.high += static_cast<std::uint64_t>(sum.low < mantissa);
  }
  for (std::size_t which = 0; which < sums.size(); ++which) {
    if (sums[which].low != 0 || sums[which].high != 0) put(parts_, which, sums[which]);
  }
  move_carries(parts_);
}

void ExactSum::add(const ExactSum& other) {
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i] += other.parts_[i];
  move_carries(parts_);
}

double ExactSum::rounded(Parts parts) {
  const bool is_nan = parts[of_nan] > 0 || (parts[of_infinity] > 0 && parts[of_infinity + 1] > 0);
  if (is_nan) return std::numeric_limits<double>::quiet_NaN();
  if (parts[of_infinity] > 0) return std::numeric_limits<double>::infinity();
  if (parts[of_infinity + 1] > 0) return -std::numeric_limits<double>::infinity();
  move_carries(parts);
  const bool is_negative = parts[n_bins - 1] < 0;
  if (is_negative) {
    for (std::size_t i = 0; i < n_bins; ++i) parts[i] = -parts[i];
    move_carries(parts);
  }
  int top = static_cast<int>(n_bins) - 1;
  while (top >= 0 && parts[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return 0.0;
  // the highest 64 bits, and whether there is more
  const auto bin = [&parts](int i) {
    return i < 0 ? std::uint64_t{0}
                 : static_cast<std::uint64_t>(parts[static_cast<std::size_t>(i)]);
  };
  const int length = 64 - std::countl_zero(bin(top));  // of the highest bin
  std::uint64_t kept = bin(top) << (64 - length);
  kept |= bin(top - 1) << (bin_bits - length);
  kept |= bin(top - 2) >> length;
  bool has_more = (bin(top - 2) & ((std::uint64_t{1} << length) - 1)) != 0;
  for (int i = top - 3; i >= 0; --i) has_more = has_more || bin(i) != 0;
  // the exponent of the last kept bit, and how many bits a double has there
  int exponent = lowest_exponent + top * bin_bits + length - 64;
  const int dropped = std::max(64 - (mantissa_bits + 1), lowest_exponent - exponent);
  std::uint64_t value = kept >> dropped;
  const std::uint64_t rest = kept & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  if (rest > half || (rest == half && (has_more || (value & 1) != 0))) ++value;
  exponent += dropped;
  const double found = std::ldexp(static_cast<double>(value), exponent);
  return is_negative ? -found : found;
}

std::vector<ExactSum> column_sums(std::span<const double> values, std::size_t width,
                                  int n_threads) {
  if (width == 0) return {};
  const auto n = static_cast<std::int64_t>(values.size() / width);
  std::vector<std::vector<ExactSum>> found(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(
      n_threads, n,
      [&](std::int64_t begin, std::int64_t end, int thread) {
        std::vector<ExactSum> sums(width);
        const auto first = static_cast<std::size_t>(begin) * width;
        const auto given = values.subspan(first, static_cast<std::size_t>(end - begin) * width);
        for (std::size_t k = 0; k < width && !given.empty(); ++k) {
          sums[k].add(given.subspan(k), width);
        }
        found[static_cast<std::size_t>(thread)] = std::move(sums);
      },
      1 << 18);
  for (std::size_t thread = 1; thread < found.size(); ++thread) {
    for (std::size_t k = 0; k < found[thread].size(); ++k) found[0][k].add(found[thread][k]);
  }
  return std::move(found[0]);
}

}  // namespace op2::exec
