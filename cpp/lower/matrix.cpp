// SPDX-License-Identifier: BSD-3-Clause
#include "lower/matrix.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "lower/make.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

/// One scalar of an element's tensor: component r of row i, component c of column j.
struct Scalar {
  kir::Expr i;
  kir::Expr r;
  kir::Expr j;
  kir::Expr c;
};

kir::Expr in_row_order(const Scalar& at, const kir::Entries& entries) {
  const kir::Expr row = at.i * kir::integer(entries.row_dim) + at.r;
  const kir::Expr column = at.j * kir::integer(entries.col_dim) + at.c;
  if (entries.n_columns) {
    return row * (*entries.n_columns * kir::integer(entries.col_dim)) + column;
  }
  return row * kir::integer(entries.col_arity * entries.col_dim) + column;
}

kir::Expr n_columns(const kir::Entries& entries) {
  return entries.n_columns.value_or(kir::integer(entries.col_arity));
}

int block_size(const kir::Entries& entries) {
  return entries.row_dim * entries.col_dim;
}

kir::Expr position(const Scalar& at, const kir::Entries& entries) {
  const int blocks = entries.row_arity * entries.col_arity;
  if (entries.begin) {
    const kir::Expr block = at.i * n_columns(entries) + at.j;
    return kir::element(entries.position,
                        *entries.begin + (entries.unrolled ? in_row_order(at, entries) : block));
  }
  if (entries.unrolled) {
    const int scalars = blocks * block_size(entries);
    return map_entry(entries.position, entries.element, scalars, in_row_order(at, entries));
  }
  const kir::Expr block = at.i * kir::integer(entries.col_arity) + at.j;
  return map_entry(entries.position, entries.element, blocks, block);
}

kir::Expr row_begin(const kir::Entries& entries, const kir::Expr& row) {
  return kir::element(entries.row_start, row) * kir::integer(block_size(entries));
}

/// Offset of a scalar from the start of its row.
kir::Expr in_row(const Scalar& at, const kir::Entries& entries) {
  const kir::Expr found = position(at, entries);
  if (block_size(entries) == 1) return found;
  const kir::Expr block = kir::widen(found) * kir::integer(block_size(entries));
  return block + (at.r * kir::integer(entries.col_dim) + at.c);
}

kir::Stmt guarded(const kir::Entries& entries, const Scalar& at, kir::Stmt update) {
  if (entries.dropped == 0) return update;
  return {kir::If{kir::less(position(at, entries), kir::integer(entries.dropped)),
                  {std::move(update)}}};
}

kir::Stmt updated(const kir::MatInsert& insert, kir::Expr target, kir::Expr value) {
  if (insert.sync == kir::Sync::atomic) {
    return {kir::Atomic{kir::memory_dtype(insert.entries), std::move(target), insert.update,
                        std::move(value)}};
  }
  return {kir::Assign{std::move(target), insert.update, std::move(value)}};
}

/// Call @p make for the scalars of row @p i, in loops or one by one.
template <class Make>
kir::Block over_row(const kir::Entries& entries, const kir::Expr& i, bool one_by_one,
                    const Make& make) {
  if (one_by_one) {
    kir::Block block;
    for (int r = 0; r < entries.row_dim; ++r) {
      for (int j = 0; j < entries.col_arity; ++j) {
        for (int c = 0; c < entries.col_dim; ++c) {
          block.push_back(make(Scalar{i, kir::integer(r), kir::integer(j), kir::integer(c)}));
        }
      }
    }
    return block;
  }
  const auto index = [](const char* name, int n) {
    return n > 1 ? kir::name(name) : kir::integer(0);
  };
  const Scalar at{i, index("part", entries.row_dim), kir::name("column"),
                  index("c", entries.col_dim)};
  kir::Block body{make(at)};
  if (entries.col_dim > 1) body = {serial("c", entries.col_dim, std::move(body))};
  if (entries.row_dim > 1) body = {serial("part", entries.row_dim, std::move(body))};
  return {{kir::For{kir::Axis::serial, "column", kir::integer(0), n_columns(entries),
                    std::move(body)}}};
}

/// The row entity of row @p i, which is a number where rows are listed.
kir::Expr row_of(const kir::Entries& entries, const kir::Expr& i) {
  if (entries.n_rows) return ragged_entry(entries.row_map, entries.element, i);
  if (entries.rows.empty()) {
    return map_entry(entries.row_map, entries.element, entries.row_arity, i);
  }
  return entries.rows[static_cast<std::size_t>(std::get<kir::Integer>(i.node).value)];
}

/// All scalars of row @p i of the element. Behind a pointer to the row's start, which a row that
/// may be dropped does not have.
kir::Block insert_row(const kir::MatInsert& insert, const kir::Expr& i, const std::string& pointer,
                      bool one_by_one) {
  const kir::Entries& entries = insert.entries;
  const kir::Expr row = row_of(entries, i);
  const bool direct = entries.dropped > 0;
  kir::Block block;
  if (!direct) {
    block.push_back({kir::Decl{{kir::memory_dtype(entries), false, true},
                               pointer,
                               0,
                               {kir::offset(entries.data, row_begin(entries, row))}}});
  }
  kir::Block updates = over_row(entries, i, one_by_one, [&](const Scalar& at) {
    const kir::Expr target =
        direct ? kir::element(entries.data, row_begin(entries, row) + in_row(at, entries))
               : kir::element(pointer, in_row(at, entries));
    const kir::Expr value = kir::element(insert.pack, in_row_order(at, entries));
    return guarded(entries, at, updated(insert, target, value));
  });
  append(block, std::move(updates));
  return block;
}

/// The entries of an element with its own numbers of rows and columns.
kir::Block insert_ragged(kir::MatInsert insert, const std::string& pointer) {
  kir::Entries& entries = insert.entries;
  kir::Block block;
  const auto hold = [&](std::optional<kir::Expr>& number, const char* what) {
    if (!number) return;
    const std::string name = insert.pack + what;
    block.push_back(index_decl(name, *number));
    number = kir::name(name);
  };
  hold(entries.n_rows, "_rows");
  hold(entries.n_columns, "_columns");
  hold(entries.begin, "_begin");
  const kir::Expr n = entries.n_rows.value_or(kir::integer(entries.row_arity));
  block.push_back({kir::For{kir::Axis::serial, "i", kir::integer(0), n,
                            insert_row(insert, kir::name("i"), pointer, false)}});
  return block;
}

const kir::MatInsert& insert_of(const PackedLoop& packed, std::size_t arg) {
  return std::get<kir::MatInsert>(packed.args[arg].store.front().node);
}

}  // namespace

std::int64_t first_dropped(int position_bytes) {
  switch (position_bytes) {
    case 1:
      return std::numeric_limits<std::uint8_t>::max();
    case 2:
      return std::numeric_limits<std::uint16_t>::max();
    default:
      return std::numeric_limits<std::int32_t>::max();
  }
}

std::vector<std::size_t> matrix_args(const ir::Loop& loop) {
  std::vector<std::size_t> args;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    if (std::holds_alternative<ir::MatArg>(loop.args[i])) args.push_back(i);
  }
  return args;
}

kir::Block expand_insert(const kir::MatInsert& insert, const Tuning& tuning) {
  const kir::Entries& entries = insert.entries;
  const std::string pointer = insert.pack + "_to";
  if (entries.begin) return insert_ragged(insert, pointer);
  const bool is_long =
      entries.row_arity * entries.col_arity * block_size(entries) > tuning.unrolled_scalars;
  if (is_long && entries.rows.empty()) {
    return {serial("i", entries.row_arity, insert_row(insert, kir::name("i"), pointer, false))};
  }
  kir::Block block;
  for (int i = 0; i < entries.row_arity; ++i) {
    kir::Block row = insert_row(insert, kir::integer(i), fmt::format("{}{}", pointer, i), !is_long);
    append(block, std::move(row));
  }
  return block;
}

std::vector<OwnedRow> take_rows(Builder& builder) {
  std::vector<OwnedRow> rows;
  for (const std::size_t arg : matrix_args(builder.request().loop)) {
    const PackedArg& packed = builder.packed().args[arg];
    rows.push_back({arg, builder.packed().names.take(packed.data + "_row"), packed.pack, false});
  }
  return rows;
}

kir::Block declare_rows(Builder& builder, const std::vector<OwnedRow>& rows) {
  kir::Block block;
  for (const OwnedRow& row : rows) {
    const kir::Entries& entries = insert_of(builder.packed(), row.arg).entries;
    block.push_back({kir::Decl{{kir::memory_dtype(entries), false, true},
                               row.start,
                               0,
                               {kir::offset(entries.data, row_begin(entries, own_target()))}}});
  }
  return block;
}

kir::Stmt add_to_row(Builder& builder, const Incidence& incidence, const OwnedRow& row) {
  const ir::Loop& loop = builder.request().loop;
  const kir::MatInsert& insert = insert_of(builder.packed(), row.arg);
  const kir::Entries& entries = insert.entries;
  const SlotRange slots = slots_of(incidence, loop, ir::target_map_of(loop.args[row.arg]));
  const kir::Expr first = row.in_scratch ? kir::name(builder.packed().items.position) *
                                               kir::integer(ir::extent_of(loop, loop.args[row.arg]))
                                         : kir::integer(0);
  kir::Block body =
      over_row(entries, kir::name("o") - kir::integer(slots.first), false, [&](const Scalar& at) {
        const kir::Expr value = kir::element(row.results, first + in_row_order(at, entries));
        return guarded(
            entries, at,
            {kir::Assign{kir::element(row.start, in_row(at, entries)), insert.update, value}});
      });
  return where_slot_is(incidence, slots, std::move(body));
}

}  // namespace op2::lower
