// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_stores.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernel/lane_functions.hpp"
#include "kir/walk.hpp"
#include "lower/make.hpp"
#include "lower/matrix.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

DType part_of(DType dtype) {
  if (is_half(dtype)) return dtype;
  return *kernel::dtype_of(kernel::part_base(kernel::base_of(dtype)));
}

int n_parts(DType dtype) {
  return is_complex(dtype) ? 2 : 1;
}

}  // namespace

/// `data[start + c] op= pack[at + c]`
struct LaneStores::PackedRow {
  std::string pack;
  kir::Expr at;
  int dim;
  std::string data;
  kir::Expr start;
  kir::Update update;
  std::optional<DType> stored = {};  ///< what data holds, if not what the pack holds
};

void LaneStores::go_in_order(const std::string& index, kir::Expr live) {
  first_ = index;
  live_ = std::move(live);
}

bool LaneStores::is_in_order(DType dtype, int dim, const kir::Expr& start) const {
  const std::string* first = kir::variable_of(start);
  return dim == 1 && !is_complex(dtype) && first != nullptr && *first == first_;
}

void LaneStores::by_lane(const kir::Stmt& stmt) {
  is_repeatable_ = false;
  for (kir::Stmt& made : elements_.in_lane(kir::Block{stmt})) body_.push_back(std::move(made));
}

kir::Expr LaneStores::local(const std::string& wanted, kir::Expr value) {
  return elements_.declare(locals_, wanted, std::move(value));
}

/// The pack in the type of memory, so that whole vectors are converted, and fewer bytes turned.
kir::Scatter LaneStores::converted(kir::Scatter node) {
  kir::Rows& rows = node.rows;
  const std::string narrow = elements_.fresh(node.pack + "_stored");
  const kir::VariableType type = elements_.vector(*rows.stored);
  const int n = rows.arity * rows.dim;
  turns_.push_back({kir::Decl{type, narrow, std::max(n, 1), {}}});
  turns_.push_back(converted_vectors(narrow, node.pack, type, n, rows.dtype));
  elements_.add_pack(narrow, *rows.stored);
  node.pack = narrow;
  rows.dtype = *rows.stored;
  rows.stored = {};
  return node;
}

void LaneStores::scatter(const kir::Scatter& node) {
  if (node.rows.stored && node.update == kir::Update::set) return scatter(converted(node));
  const kir::Rows& rows = node.rows;
  const int dim = rows.dim;
  const bool is_whole = node.sync == kir::Sync::none &&
                        (node.update == kir::Update::set || node.update == kir::Update::add);
  const bool by_rows =
      is_whole && (n_parts(rows.dtype) * dim > 1 || !is_by_map(rows)) &&
      rows.arity * elements_.n_pieces(dim) <= 2 * elements_.tuning().unrolled_pieces;
  const bool is_set_own = by_rows && is_own(rows) && node.update == kir::Update::set;
  // addresses in tables are those of the last column; others would lie behind it
  const bool is_known =
      tables_ != nullptr && tables_->address(rows, kir::integer(0), LaneElements::lane());
  if (!is_set_own && (!is_known || node.update == kir::Update::add)) is_repeatable_ = false;
  if (by_rows) {
    for (int i = 0; i < rows.arity; ++i) {
      const kir::Expr at = kir::integer(i * dim);
      const Place place = place_of(rows, kir::integer(i));
      const PackedRow row{node.pack, at, dim, place.data, place.start, node.update, rows.stored};
      if (is_set_own) {
        store_own_row(row);
      } else {
        store_row(row);
      }
    }
    return;
  }
  const auto scalar = [&](const Place& place, const kir::Expr& i, const kir::Expr& c) {
    store_scalar(node, kir::element(place.data, place.start + c),
                 kir::element(node.pack, i * kir::integer(dim) + c));
  };
  const bool is_loop = is_regular(rows) || (tables_ != nullptr && tables_->is_even(rows));
  if (rows.arity * dim <= elements_.tuning().unrolled_lane_scalars || !is_loop) {
    for (int i = 0; i < rows.arity; ++i) {
      const Place place = place_of(rows, kir::integer(i));
      for (int c = 0; c < dim; ++c) scalar(place, kir::integer(i), kir::integer(c));
    }
    return;
  }
  kir::Block outer = std::exchange(body_, {});
  const kir::Expr i = kir::name("i");
  const Place place = place_of(rows, i);
  kir::Block row = std::exchange(body_, {});
  scalar(place, i, dim == 1 ? kir::integer(0) : kir::name("c"));
  kir::Block inner = std::exchange(body_, std::move(outer));
  if (dim > 1) inner = {serial("c", dim, std::move(inner))};
  std::ranges::move(inner, std::back_inserter(row));
  body_.push_back(serial("i", rows.arity, std::move(row)));
}

/// Where row number @p i is, in the loop over lanes.
LaneStores::Place LaneStores::place_of(const kir::Rows& rows, const kir::Expr& i) {
  const auto address =
      tables_ == nullptr ? std::nullopt : tables_->address(rows, i, LaneElements::lane());
  if (!address) return {rows.data, row_start(rows, i)};
  const auto* number = std::get_if<kir::Integer>(&i.node);
  const std::string which = number == nullptr ? "" : std::to_string(number->value);
  const std::string name = elements_.fresh(rows.data + "_row" + which);
  body_.push_back({kir::Decl{{kir::memory_dtype(rows), false, true}, name, 0, {*address}}});
  return {name, kir::integer(0)};
}

void LaneStores::store_scalar(const kir::Scatter& node, const kir::Expr& target,
                              const kir::Expr& value) {
  const kir::Expr to = elements_.in_lane(target);
  if (node.sync == kir::Sync::atomic) {
    body_.push_back(
        {kir::Atomic{kir::memory_dtype(node.rows), to, node.update, elements_.in_lane(value)}});
  } else {
    body_.push_back({kir::Assign{to, node.update, elements_.in_lane(value)}});
  }
}

/// Several components at a time; of complex numbers both parts.
void LaneStores::store_row(const PackedRow& row) {
  const int n = n_parts(elements_.dtype_of_pack(row.pack)) * row.dim;
  for (const kir::RowPiece& piece : kir::row_pieces(n, elements_.lanes())) {
    const std::string rows = turned(row, piece);
    body_.push_back(
        piece_stored(row, piece, rows, elements_.in_lane(row.start), LaneElements::lane()));
  }
}

/// A row that is the element's own: the lanes that repeat the last element may store it again.
void LaneStores::store_own_row(const PackedRow& row) {
  const DType dtype = elements_.dtype_of_pack(row.pack);
  if (is_in_order(dtype, row.dim, row.start)) {
    own_.push_back(
        {kir::Intrinsic{kir::Instruction::lane_write,
                        {kir::offset(row.data, row.start), kir::offset(row.pack, row.at), live_},
                        elements_.vector(dtype)}});
    return;
  }
  const int n = n_parts(elements_.dtype_of_pack(row.pack)) * row.dim;
  for (const kir::RowPiece& piece : kir::row_pieces(n, elements_.lanes())) {
    const std::string rows = turned(row, piece);
    for (int lane = 0; lane < elements_.lanes(); ++lane) {
      own_.push_back(
          piece_stored(row, piece, rows, elements_.on_lane(row.start, lane), kir::integer(lane)));
    }
  }
}

/// The array of a piece's rows, one a lane; none for a piece of one component.
std::string LaneStores::turned(const PackedRow& row, const kir::RowPiece& piece) {
  if (piece.size == 1) return "";
  const DType dtype = elements_.dtype_of_pack(row.pack);
  const std::string rows = elements_.fresh(row.pack + "_rows");
  const kir::Expr at = row.at * kir::integer(n_parts(dtype)) + kir::integer(piece.begin);
  turns_.push_back(
      {kir::Decl{{part_of(dtype), false, false, piece.size}, rows, elements_.lanes(), {}}});
  turns_.push_back({kir::Intrinsic{kir::Instruction::lane_turn,
                                   {kir::name(rows), kir::offset(row.pack, at)},
                                   elements_.vector(dtype),
                                   piece.size}});
  return rows;
}

kir::Stmt LaneStores::piece_stored(const PackedRow& row, const kir::RowPiece& piece,
                                   const std::string& rows, const kir::Expr& start,
                                   const kir::Expr& lane) const {
  const DType dtype = elements_.dtype_of_pack(row.pack);
  const kir::Expr first = kir::integer(piece.begin);
  const kir::Expr target = start * kir::integer(n_parts(dtype)) + first;
  if (piece.size == 1) {
    return {kir::Assign{kir::element(row.data, target), row.update,
                        kir::lane_of(row.pack, row.at + first, lane)}};
  }
  kir::Intrinsic store{kir::Instruction::lane_store,
                       {kir::offset(row.data, target), kir::name(rows), lane},
                       {row.stored.value_or(dtype)},
                       piece.size,
                       row.update};
  if (row.stored) store.other = dtype;
  return {std::move(store)};
}

void LaneStores::insert(const kir::MatInsert& node) {
  is_repeatable_ = false;
  for (kir::Stmt& stmt : elements_.in_lane(expand_insert(node, elements_.tuning())))
    body_.push_back(std::move(stmt));
}

void LaneStores::keep(const kir::Copy& copy, const kir::Element& target, const std::string& pack) {
  is_repeatable_ = false;
  if (elements_.n_pieces(copy.n) > 2 * elements_.tuning().unrolled_pieces) return by_lane({copy});
  const kir::Expr start = with(target.subscript.front(), kir::Copy::index, kir::integer(0));
  store_row({pack, kir::integer(0), copy.n, target.array, start, kir::Update::set});
}

LaneStores::Pending LaneStores::begin_inside() {
  return {std::exchange(turns_, {}), std::exchange(own_, {}), locals_, std::exchange(body_, {}),
          std::exchange(is_repeatable_, true)};
}

void LaneStores::resume(Pending pending) {
  turns_ = std::move(pending.turns);
  own_ = std::move(pending.own);
  locals_ = std::move(pending.locals);
  body_ = std::move(pending.body);
  is_repeatable_ = pending.is_repeatable;
}

kir::Block LaneStores::finished(const kir::Expr& live) {
  kir::Block out = std::move(turns_);
  out.insert(out.end(), own_.begin(), own_.end());
  if (body_.empty()) return out;
  kir::Block each = std::move(body_);
  for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
    const auto& decl = std::get<kir::Decl>(local->node);
    if (kir::names_used(each).contains(decl.name)) each.insert(each.begin(), *local);
  }
  if (!is_repeatable_) {
    each = {{kir::If{kir::less(LaneElements::lane(), live), std::move(each)}}};
  }
  out.push_back(serial("lane", elements_.lanes(), std::move(each)));
  return out;
}

}  // namespace op2::lower
