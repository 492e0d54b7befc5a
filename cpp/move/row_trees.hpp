// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "base/parallel.hpp"
#include "move/combinators.hpp"
#include "move/rows.hpp"

/// Trees of kernels over rows, for copies and for assignments.
namespace op2::move {

// Below this many values a thread costs more to start than it saves.
constexpr std::int64_t values_of_thread = 1 << 16;

/// Whether a side's items are one after the other across rows.
inline bool is_run(std::int64_t dim, std::int64_t row, std::int64_t item, std::int64_t n_bytes) {
  return dim == 1 || (item == n_bytes && row == dim * n_bytes);
}

struct Sides {
  std::int64_t to_bytes;
  std::int64_t from_bytes;
};

/// Rows as long as can be: those without lists whose items go on are rows of one item each.
inline Rows flattened(const Rows& rows, const Sides& sides) {
  const bool has_lists = rows.lists.to != nullptr || rows.lists.from != nullptr;
  if (rows.dim == 1 || has_lists || !is_run(rows.dim, rows.to_row, rows.to_item, sides.to_bytes) ||
      !is_run(rows.dim, rows.from_row, rows.from_item, sides.from_bytes)) {
    return rows;
  }
  Rows flat = rows;
  flat.n = rows.n * rows.dim;
  flat.dim = 1;
  flat.to_row = sides.to_bytes;
  flat.from_row = sides.from_bytes;
  return flat;
}

/// Add the kernel of a row's items around a leaf.
inline std::size_t add_rows(Builder& builder, std::size_t at, const Rows& rows, Request request,
                            const Child& leaf) {
  if (rows.dim == 1) return leaf(builder, at, request);
  const Within within{.n = rows.dim, .to_stride = rows.to_item, .from_stride = {rows.from_item}};
  const bool is_across = (rows.to_item > rows.to_row) != (rows.from_item > rows.from_row);
  return is_across ? add_columns(builder, at, within, request, leaf)
                   : add_dim(builder, at, within, request, leaf);
}

inline Request request_of(const Rows& rows) {
  const bool has_lists = rows.lists.to != nullptr || rows.lists.from != nullptr;
  return has_lists ? Request::indexed : Request::strided;
}

template <class Leaf>
Tree tree_of(const Rows& rows, const Leaf& leaf, bool keeps_notes = false) {
  const auto make = [&rows, &leaf](Builder& builder, std::size_t at, Request request) {
    return add_rows(builder, at, rows, request, leaf);
  };
  return Tree(request_of(rows), make, keeps_notes);
}

inline auto copying(std::int64_t n_bytes) {
  return [n_bytes](Builder& builder, std::size_t at, Request request) {
    return add_copy(builder, at, n_bytes, request);
  };
}

/// Call a tree for a part of the rows.
inline std::int64_t run_part(const Tree& tree, const Rows& rows, std::int64_t begin,
                             std::int64_t end) {
  Items items{
      .to = rows.to, .to_stride = rows.to_row, .from = {rows.from}, .from_stride = {rows.from_row}};
  if (request_of(rows) == Request::strided) return tree.run(items.behind(begin), end - begin);
  // what has no list goes on one after the other
  if (rows.lists.to == nullptr) items.to += begin * rows.to_row;
  if (rows.lists.from == nullptr) items.from[0] += begin * rows.from_row;
  return tree.run(items, rows.lists.behind(begin), end - begin);
}

template <class Part>
void over_threads(const Rows& rows, int n_threads, const Part& part) {
  const std::int64_t dim = std::max<std::int64_t>(rows.dim, 1);
  parallel_for(n_threads, rows.n, part, std::max<std::int64_t>(values_of_thread / dim, 1));
}

inline void move_rows(const Tree& tree, const Rows& rows, int n_threads) {
  over_threads(rows, n_threads, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
    (void)run_part(tree, rows, begin, end);
  });
}

}  // namespace op2::move
