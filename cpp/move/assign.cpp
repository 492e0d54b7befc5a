// SPDX-License-Identifier: BSD-3-Clause
#include "move/assign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/error.hpp"
#include "move/row_trees.hpp"

namespace op2::move {
namespace {

std::int64_t bytes_of(const Type& type) {
  return static_cast<std::int64_t>(size_of(type.dtype));
}

auto checking(const Type& to, const Type& from, Casting casting) {
  return [to, from, casting](Builder& builder, std::size_t at, Request request) {
    return add_check(builder, at, to, from, casting, request);
  };
}

auto moving(const Type& to, const Type& from, Casting casting) {
  return [to, from, casting](Builder& builder, std::size_t at, Request request) {
    if (to == from) return add_copy(builder, at, bytes_of(to), request);
    return add_convert(builder, at, to, from, request, casting != Casting::unsafe);
  };
}

/// The first row that does not fit.
std::int64_t check_rows(const Tree& tree, const Rows& rows, int n_threads) {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> first = none;
  over_threads(rows, n_threads, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
    const std::int64_t found = run_part(tree, rows, begin, end);
    std::int64_t before = first;
    while (found != all_fit && begin + found < before &&
           !first.compare_exchange_weak(before, begin + found)) {
    }
  });
  return first == none ? all_fit : first.load();
}

/// The bytes between the first and the last of one side.
std::pair<const char*, const char*> extent(const char* begin, const std::int64_t* list,
                                           const Rows& rows, std::int64_t row, std::int64_t item,
                                           std::int64_t n_bytes) {
  std::int64_t first = 0, last = rows.n - 1;
  if (list != nullptr) {
    const auto [least, most] = std::minmax_element(list, list + rows.n);
    first = *least;
    last = *most;
  }
  const char* const end = begin + last * row + (rows.dim - 1) * item + n_bytes;
  return {begin + first * row, end};
}

/// Say whether something would be read after it was written. Components of the same rows, one
/// beside the other, do not meet.
bool do_overlap(const Rows& rows, const Sides& sides) {
  if (rows.n == 0 || rows.dim == 0) return false;
  const auto [to, to_end] =
      extent(rows.to, rows.lists.to, rows, rows.to_row, rows.to_item, sides.to_bytes);
  const auto [from, from_end] =
      extent(rows.from, rows.lists.from, rows, rows.from_row, rows.from_item, sides.from_bytes);
  if (to_end <= from || from_end <= to) return false;
  if (rows.dim != 1 || rows.to_row != rows.from_row || rows.to_row <= 0) return true;
  const std::int64_t between = ((rows.to - rows.from) % rows.to_row + rows.to_row) % rows.to_row;
  return between < sides.from_bytes || between + sides.to_bytes > rows.to_row;
}

bool is_same(const Rows& rows) {
  return rows.to == rows.from && rows.to_row == rows.from_row && rows.to_item == rows.from_item &&
         rows.lists.to == rows.lists.from;
}

}  // namespace

void update_items(const Rows& rows, DType dtype, Update update, int n_threads) {
  const auto n_bytes = static_cast<std::int64_t>(size_of(dtype));
  const Rows flat = flattened(rows, {n_bytes, n_bytes});
  const Tree tree = tree_of(flat, [dtype, update](Builder& builder, std::size_t at, Request form) {
    return add_update(builder, at, dtype, update, form);
  });
  move_rows(tree, flat, n_threads);
}

bool overlap(const Rows& rows, const Type& to, const Type& from) {
  const bool is_itself = bytes_of(to) == bytes_of(from) && is_same(rows);
  return !is_itself && do_overlap(rows, {bytes_of(to), bytes_of(from)});
}

std::int64_t first_unfit(const Rows& rows, const Type& to, const Type& from, Casting casting,
                         int n_threads) {
  if (always_fits(to, from, casting)) return all_fit;
  Rows read = rows;  // the target is not looked at
  read.lists.to = nullptr;
  read.to_row = rows.from_row;
  read.to_item = rows.from_item;
  Rows flat = flattened(read, {bytes_of(from), bytes_of(from)});
  flat.to = nullptr;
  flat.to_row = flat.to_item = 0;
  const Tree tree = tree_of(flat, checking(to, from, casting));
  const std::int64_t found = check_rows(tree, flat, n_threads);
  return found == all_fit || flat.dim == rows.dim ? found : found / rows.dim;
}

std::int64_t assign(const Rows& rows, const Type& to, const Type& from, Casting casting,
                    int n_threads, bool is_checked) {
  const Sides sides{bytes_of(to), bytes_of(from)};
  if (to == from && is_same(rows)) return all_fit;
  if (overlap(rows, to, from)) {
    throw UsageError("source and target overlap in memory; copy the source first");
  }
  const std::int64_t found = is_checked ? all_fit : first_unfit(rows, to, from, casting, n_threads);
  if (found != all_fit) return found;
  const Rows flat = flattened(rows, sides);
  const Tree tree = tree_of(flat, moving(to, from, casting));
  move_rows(tree, flat, n_threads);
  return all_fit;
}

std::string explain(const Rows& rows, const Type& to, const Type& from, Casting casting) {
  constexpr std::array words{"unsafe", "fitting", "exact"};
  std::string text = fmt::format("{} rows of {}: {} to {}, {}\n", rows.n, rows.dim, name_of(from),
                                 name_of(to), words[static_cast<std::size_t>(casting)]);
  std::size_t n_scratch = 0;
  const auto add = [&text, &n_scratch](const char* what, const Tree& tree) {
    text += what;
    text += tree.is_inside() ? ", without memory of its own:\n" : ":\n";
    text += tree.notes();
    n_scratch = std::max(n_scratch, tree.n_scratch());
  };
  const Rows flat = flattened(rows, {bytes_of(to), bytes_of(from)});
  if (!always_fits(to, from, casting)) {
    add("first", tree_of(flat, checking(to, from, casting), true));
  }
  add("move", tree_of(flat, moving(to, from, casting), true));
  return text + fmt::format("bytes of scratch: {}\n", n_scratch);
}

}  // namespace op2::move
