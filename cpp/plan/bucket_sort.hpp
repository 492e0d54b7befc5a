// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.hpp"

namespace op2::plan {

/// @brief Stable parallel counting sort of a sequence into few buckets.
///
/// @param[in] walk walk(begin, end, f) calls f(bucket, value) for the items of a part of [0,
/// n_items), in order; an item may yield any number of values. Called twice a part.
/// @param[in] place place(position, value) stores a value; positions are dense and sorted.
/// @return [n_buckets + 1] offsets of the buckets. The result does not depend on @p n_threads.
/// @note Memory is n_threads x n_buckets counters: for many buckets sort in two levels.
template <class Walk, class Place>
std::vector<std::int64_t> bucket_sort(int n_threads, std::int64_t n_items, std::int64_t n_buckets,
                                      const Walk& walk, const Place& place) {
  constexpr std::int64_t grain = 16384;
  const auto width = static_cast<std::size_t>(n_buckets);
  std::vector<std::vector<std::int64_t>> cursor(static_cast<std::size_t>(std::max(n_threads, 1)));
  const auto count = [&cursor, &walk, width](std::int64_t begin, std::int64_t end, int chunk) {
    std::vector<std::int64_t> counts(width, 0);
    walk(begin, end, [&counts](std::int64_t bucket, const auto&) {
      ++counts[static_cast<std::size_t>(bucket)];
    });
    cursor[static_cast<std::size_t>(chunk)] = std::move(counts);
  };
  parallel_for(n_threads, n_items, count, grain);

  std::vector<std::int64_t> offset(width + 1, 0);
  std::int64_t position = 0;
  for (std::size_t bucket = 0; bucket < width; ++bucket) {
    offset[bucket] = position;
    for (std::vector<std::int64_t>& counts : cursor) {
      if (!counts.empty()) position += std::exchange(counts[bucket], position);
    }
  }
  offset[width] = position;

  const auto scatter = [&cursor, &walk, &place](std::int64_t begin, std::int64_t end, int chunk) {
    std::int64_t* next = cursor[static_cast<std::size_t>(chunk)].data();
    walk(begin, end,
         [next, &place](std::int64_t bucket, const auto& value) { place(next[bucket]++, value); });
  };
  parallel_for(n_threads, n_items, scatter, grain);
  return offset;
}

}  // namespace op2::plan
