// SPDX-License-Identifier: BSD-3-Clause
#include "lower/rows.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include "ir/kir_walk.hpp"

namespace op2::lower {
namespace {

/// The first entry with the Map's entry number @p i in place of its first one.
kir::Expr like_first(const kir::Rows& rows, const kir::Expr& i) {
  return kir::map_expr(rows.entries.front(), [&rows, &i](const kir::Expr& part) {
    const auto* element = std::get_if<kir::Element>(&part.node);
    return element != nullptr && element->array == rows.map
               ? std::optional(kir::element(rows.map, element->subscript.front() + i))
               : std::nullopt;
  });
}

/// The number of row @p i among all rows.
kir::Expr row_number(const kir::Rows& rows, const kir::Expr& i) {
  if (!rows.entries.empty()) {
    const auto* number = std::get_if<kir::Integer>(&i.node);
    return number == nullptr ? like_first(rows, i)
                             : rows.entries[static_cast<std::size_t>(number->value)];
  }
  if (rows.map.empty()) return rows.element;
  return kir::widen(map_entry(rows.map, rows.element, rows.arity, i));
}

}  // namespace

kir::Expr map_entry(const std::string& map, const kir::Expr& element, int arity,
                    const kir::Expr& slot) {
  return kir::element(map, element * kir::integer(arity) + slot);
}

kir::Rows one_row(kir::Rows rows, kir::Expr number) {
  rows.stride = stride_of(rows);
  rows.arity = 1;
  rows.map.clear();
  rows.entries = {std::move(number)};
  return rows;
}

int stride_of(const kir::Rows& rows) {
  return rows.stride == 0 ? rows.dim : rows.stride;
}

bool is_regular(const kir::Rows& rows) {
  for (std::size_t i = 0; i < rows.entries.size(); ++i) {
    if (like_first(rows, kir::integer(static_cast<int>(i))) != rows.entries[i]) return false;
  }
  return true;
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
