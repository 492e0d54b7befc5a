// SPDX-License-Identifier: BSD-3-Clause
#include "lower/rows.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include "base/overload.hpp"
#include "lower/make.hpp"

namespace op2::lower {
namespace {

/// The number of row @p i among all rows.
kir::Expr row_number(const kir::Rows& rows, const kir::Expr& i) {
  const auto entry = [&i](const kir::ListedRows& listed) {
    const auto* number = std::get_if<kir::Integer>(&i.node);
    if (number != nullptr) return listed.entries[static_cast<std::size_t>(number->value)];
    return with(*listed.any_entry, "i", i);
  };
  return std::visit(overload{
                        [](const kir::OwnRow& own) { return own.element; },
                        [&](const kir::MapRows& through) {
                          if (through.ragged) {
                            return kir::widen(ragged_entry(through.map, through.element, i));
                          }
                          return kir::widen(map_entry(through.map, through.element, rows.arity, i));
                        },
                        entry,
                    },
                    rows.which);
}

/// The Map that the numbers of rows come from.
std::optional<std::string> origin_of(const kir::Rows& rows) {
  if (const auto* through = std::get_if<kir::MapRows>(&rows.which)) return through->map;
  const kir::ListedRows* listed = listed_of(rows);
  return listed == nullptr ? std::nullopt : listed->origin;
}

kir::ListedRows repeated(const kir::Expr& number, int arity, std::optional<std::string> origin) {
  return {std::vector(static_cast<std::size_t>(arity), number), number, {}, std::move(origin)};
}

}  // namespace

kir::Expr map_entry(const std::string& map, const kir::Expr& element, int arity,
                    const kir::Expr& slot) {
  return kir::element(map, element * kir::integer(arity) + slot);
}

kir::Expr ragged_entry(const std::string& map, const kir::Expr& element, const kir::Expr& slot) {
  return kir::element(map, kir::element(map, element) + slot);
}

kir::Expr n_entries(const std::string& map, const kir::Expr& element) {
  return kir::widen(kir::element(map, element + kir::integer(1)) - kir::element(map, element));
}

kir::Rows one_row(kir::Rows rows, const kir::Expr& number) {
  rows.arity = 1;
  rows.which = repeated(number, 1, std::nullopt);
  return rows;
}

void list_rows(kir::Rows& rows, std::vector<kir::Expr> numbers) {
  kir::ListedRows listed{std::move(numbers), {}, {}, origin_of(rows)};
  if (listed.entries.size() == 1) listed.any_entry = listed.entries.front();
  rows.which = std::move(listed);
}

void repeat_row(kir::Rows& rows, const kir::Expr& number) {
  rows.which = repeated(number, rows.arity, origin_of(rows));
}

const kir::ListedRows* listed_of(const kir::Rows& rows) {
  return std::get_if<kir::ListedRows>(&rows.which);
}

void lay_apart(kir::Rows& rows, const std::string& stride) {
  if (!stride.empty()) rows.layout = kir::Apart{stride};
}

std::optional<kir::Expr> n_rows(const kir::Rows& rows) {
  const auto* through = std::get_if<kir::MapRows>(&rows.which);
  if (through == nullptr || !through->ragged) return std::nullopt;
  return n_entries(through->map, through->element);
}

bool is_own(const kir::Rows& rows) {
  return std::holds_alternative<kir::OwnRow>(rows.which);
}

bool is_by_map(const kir::Rows& rows) {
  return origin_of(rows).has_value();
}

bool is_regular(const kir::Rows& rows) {
  const kir::ListedRows* listed = listed_of(rows);
  return listed == nullptr || listed->any_entry;
}

kir::Expr row_start(const kir::Rows& rows, const kir::Expr& i) {
  const auto* together = std::get_if<kir::Together>(&rows.layout);
  if (together == nullptr) return row_number(rows, i);
  return row_number(rows, i) * kir::integer(together->stride) + kir::integer(rows.component);
}

kir::Expr component_of(const kir::Rows& rows, const kir::Expr& c) {
  const auto* apart = std::get_if<kir::Apart>(&rows.layout);
  return apart == nullptr ? c : (c + kir::integer(rows.component)) * kir::name(apart->stride);
}

kir::Expr scalar_of(const kir::Rows& rows, const kir::Expr& i, const kir::Expr& c) {
  return kir::element(rows.data, row_start(rows, i) + component_of(rows, c));
}

}  // namespace op2::lower
