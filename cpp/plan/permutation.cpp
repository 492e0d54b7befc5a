// SPDX-License-Identifier: BSD-3-Clause
#include "plan/permutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "move/rows.hpp"
#include "plan/bucket_sort.hpp"

namespace op2::plan {
namespace {

struct Item {
  std::uint64_t key;
  std::int64_t index;
};

void check_parts(std::span<const std::int64_t> part_offset, std::size_t n) {
  const bool rises = std::is_sorted(part_offset.begin(), part_offset.end());
  if (part_offset.empty() || part_offset.front() != 0 || !rises ||
      part_offset.back() != static_cast<std::int64_t>(n)) {
    throw UsageError(fmt::format(
        "renumbering: offsets of parts must rise from 0 to {}, one more than parts", n));
  }
}

/// Least significant digit first: each pass is a stable sort, so the last digit decides.
void sort_items(std::vector<Item>& items, int n_threads) {
  constexpr int digit_bits = 11;
  constexpr std::uint64_t n_digits = std::uint64_t{1} << digit_bits;
  std::uint64_t any = 0;
  for (const Item& item : items) any |= item.key;
  std::vector<Item> other(items.size());
  for (int shift = 0; shift < 64 && any >> shift != 0; shift += digit_bits) {
    bucket_sort(
        n_threads, static_cast<std::int64_t>(items.size()), static_cast<std::int64_t>(n_digits),
        [&items, shift](std::int64_t begin, std::int64_t end, const auto& f) {
          for (std::int64_t i = begin; i < end; ++i) {
            const Item& item = items[static_cast<std::size_t>(i)];
            f(static_cast<std::int64_t>(item.key >> shift & (n_digits - 1)), item);
          }
        },
        [&other](std::int64_t position, const Item& item) {
          other[static_cast<std::size_t>(position)] = item;
        });
    items.swap(other);
  }
}

void check_length(const char* what, std::size_t found, std::int64_t expected) {
  if (found == static_cast<std::size_t>(expected)) return;
  throw UsageError(
      fmt::format("renumbering: {} has {} entries, expected {}", what, found, expected));
}

/// Smallest and largest new number among the targets of a row; smallest > largest if it has none.
struct Range {
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t largest = 0;
};

Range range_of(const mesh::MapTable& map, std::int64_t row,
               std::span<const std::int64_t> new_of_old) {
  Range range;
  map.visit(row, [&range, new_of_old](int, std::int64_t target) {
    if (target < 0) return;
    const auto number = static_cast<std::uint64_t>(new_of_old[static_cast<std::size_t>(target)]);
    range.smallest = std::min(range.smallest, number);
    range.largest = std::max(range.largest, number);
  });
  return range;
}

template <class Index>
void relabel_rows(const mesh::MapTable& map, std::span<const std::int64_t> old_of_new,
                  std::span<const std::int64_t> new_of_old, Index* values, int n_threads) {
  const auto* source = static_cast<const Index*>(map.values());
  const auto old_row = [old_of_new](std::int64_t row) {
    return old_of_new.empty() ? row : old_of_new[static_cast<std::size_t>(row)];
  };
  if (map.is_ragged()) {
    std::int64_t place = map.begin(0);
    for (std::int64_t row = 0; row < map.n_rows(); ++row) {
      values[row] = static_cast<Index>(place);
      place += map.n_entries(old_row(row));
    }
    values[map.n_rows()] = static_cast<Index>(place);
  }
  const mesh::MapTable made(values, map.index_bytes(), map.n_rows(),
                            map.is_ragged() ? mesh::ragged : map.arity(), map.n_targets());
  const auto fill = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      Index* to = values + made.begin(row);
      const std::int64_t stop = map.begin(old_row(row) + 1);
      for (std::int64_t i = map.begin(old_row(row)); i < stop; ++i) {
        const bool keeps = source[i] < 0 || new_of_old.empty();
        *to++ =
            keeps ? source[i] : static_cast<Index>(new_of_old[static_cast<std::size_t>(source[i])]);
      }
    }
  };
  parallel_for(n_threads, map.n_rows(), fill);
}

}  // namespace

std::vector<std::int64_t> order_by_key(std::span<const std::uint64_t> keys,
                                       std::span<const std::int64_t> part_offset, int n_threads) {
  check_parts(part_offset, keys.size());
  std::vector<std::int64_t> order;
  order.reserve(keys.size());
  for (std::size_t part = 0; part + 1 < part_offset.size(); ++part) {
    std::vector<Item> items;
    items.reserve(static_cast<std::size_t>(part_offset[part + 1] - part_offset[part]));
    for (std::int64_t i = part_offset[part]; i < part_offset[part + 1]; ++i) {
      items.push_back(Item{keys[static_cast<std::size_t>(i)], i});
    }
    sort_items(items, n_threads);
    for (const Item& item : items) order.push_back(item.index);
  }
  return order;
}

std::vector<std::uint64_t> target_keys(const mesh::MapTable& map,
                                       std::span<const std::int64_t> new_of_old, int n_threads) {
  check_length("the numbering of the targets", new_of_old.size(), map.n_targets());
  const bool has_room = map.n_targets() <= std::int64_t{1} << 31;
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(map.n_rows()));
  parallel_for(n_threads, map.n_rows(),
               [&map, new_of_old, has_room, &keys](std::int64_t begin, std::int64_t end, int) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const Range range = range_of(map, row, new_of_old);
                   const bool is_empty = range.smallest > range.largest;
                   const std::uint64_t key = has_room && !is_empty
                                                 ? range.smallest << 32 | range.largest
                                                 : range.smallest;
                   keys[static_cast<std::size_t>(row)] = key;
                 }
               });
  return keys;
}

std::vector<std::uint64_t> visitor_keys(const mesh::MapTable& map,
                                        std::span<const std::int64_t> old_of_new) {
  check_length("the order of the elements", old_of_new.size(), map.n_rows());
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(map.n_targets()),
                                  std::numeric_limits<std::uint64_t>::max());
  // Backwards, so that what stays is the first.
  for (std::size_t row = old_of_new.size(); row-- > 0;) {
    map.visit(old_of_new[row], [&keys, row](int, std::int64_t target) {
      if (target >= 0) keys[static_cast<std::size_t>(target)] = row;
    });
  }
  return keys;
}

std::vector<std::int64_t> inverse_permutation(std::span<const std::int64_t> permutation,
                                              int n_threads) {
  const auto n = static_cast<std::int64_t>(permutation.size());
  std::vector<std::int64_t> inverse(permutation.size(), -1);
  parallel_for(n_threads, n, [permutation, n, &inverse](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t to = permutation[static_cast<std::size_t>(i)];
      if (to < 0 || to >= n) {
        throw UsageError(
            fmt::format("renumbering: entry {} is {}, expected 0 <= number < {}", i, to, n));
      }
      // Two threads may meet here if the permutation is none; the exchange tells the second one.
      std::atomic_ref<std::int64_t> place(inverse[static_cast<std::size_t>(to)]);
      if (const std::int64_t other = place.exchange(i, std::memory_order_relaxed); other != -1) {
        throw UsageError(fmt::format("renumbering: entries {} and {} are both {}",
                                     std::min(i, other), std::max(i, other), to));
      }
    }
  });
  return inverse;
}

void permute_rows(std::span<const std::byte> source, std::span<std::byte> target,
                  std::span<const std::int64_t> old_of_new, int n_threads) {
  const std::size_t n = old_of_new.size();
  if (source.size() != target.size() || (n == 0 ? !source.empty() : source.size() % n != 0)) {
    throw UsageError(fmt::format("renumbering: {} and {} bytes are not {} equal rows each",
                                 source.size(), target.size(), n));
  }
  if (n == 0) return;
  const auto row_bytes = static_cast<std::int64_t>(source.size() / n);
  move::Rows rows = move::dense_rows(target.data(), source.data(), static_cast<std::int64_t>(n), 1,
                                     row_bytes, row_bytes);
  rows.lists.from = old_of_new.data();
  move::copy_items(rows, row_bytes, n_threads);
}

void relabel(const mesh::MapTable& map, std::span<const std::int64_t> old_of_new,
             std::span<const std::int64_t> new_of_old, std::span<std::byte> values, int n_threads) {
  if (!old_of_new.empty()) check_length("the order of the rows", old_of_new.size(), map.n_rows());
  if (!new_of_old.empty()) {
    check_length("the numbering of the targets", new_of_old.size(), map.n_targets());
  }
  check_length("the array for the values (in bytes)", values.size(), map.n_bytes());
  void* target = values.data();
  if (map.index_bytes() == 4) {
    relabel_rows(map, old_of_new, new_of_old, static_cast<std::int32_t*>(target), n_threads);
  } else {
    relabel_rows(map, old_of_new, new_of_old, static_cast<std::int64_t*>(target), n_threads);
  }
}

}  // namespace op2::plan
