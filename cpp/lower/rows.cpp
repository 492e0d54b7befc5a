// SPDX-License-Identifier: BSD-3-Clause
#include "lower/rows.hpp"

#include <cstddef>
#include <utility>

#include "lower/make.hpp"

namespace op2::lower {
namespace {

/// The number of row @p i among all rows.
kir::Expr row_number(const kir::Rows& rows, const kir::Expr& i) {
  if (!rows.entries.empty()) {
    const auto* number = std::get_if<kir::Integer>(&i.node);
    if (number != nullptr) return rows.entries[static_cast<std::size_t>(number->value)];
    return with(*rows.any_entry, "i", i);
  }
  if (rows.map.empty()) return rows.element;
  return kir::widen(map_entry(rows.map, rows.element, rows.arity, i));
}

}  // namespace

kir::Expr map_entry(const std::string& map, const kir::Expr& element, int arity,
                    const kir::Expr& slot) {
  return kir::element(map, element * kir::integer(arity) + slot);
}

kir::Rows one_row(kir::Rows rows, const kir::Expr& number) {
  rows.stride = stride_of(rows);
  rows.arity = 1;
  rows.map.clear();
  repeat_row(rows, number);
  return rows;
}

void list_rows(kir::Rows& rows, std::vector<kir::Expr> numbers) {
  rows.any_entry = numbers.size() == 1 ? std::optional(numbers.front()) : std::nullopt;
  rows.climbs.clear();
  rows.entries = std::move(numbers);
}

void repeat_row(kir::Rows& rows, const kir::Expr& number) {
  rows.entries.assign(static_cast<std::size_t>(rows.arity), number);
  rows.any_entry = number;
  rows.climbs.clear();
}

int stride_of(const kir::Rows& rows) {
  return rows.stride == 0 ? rows.dim : rows.stride;
}

bool is_regular(const kir::Rows& rows) {
  return rows.entries.empty() || rows.any_entry;
}

kir::Expr row_start(const kir::Rows& rows, const kir::Expr& i) {
  const bool is_together = rows.columns.empty();
  return row_number(rows, i) * kir::integer(is_together ? stride_of(rows) : 1) +
         kir::integer(is_together ? rows.component : 0);
}

kir::Expr component_of(const kir::Rows& rows, const kir::Expr& c) {
  return rows.columns.empty() ? c : (c + kir::integer(rows.component)) * kir::name(rows.columns);
}

kir::Expr scalar_of(const kir::Rows& rows, const kir::Expr& i, const kir::Expr& c) {
  return kir::element(rows.data, row_start(rows, i) + component_of(rows, c));
}

}  // namespace op2::lower
