// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_rows.hpp"
#include "lower/make.hpp"
#include "lower/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace op2::lower {
namespace {

std::optional<std::int64_t> integer_of(const kir::Expr& expr) {
  const auto* node = std::get_if<kir::Integer>(&expr.node);
  return node == nullptr ? std::nullopt : std::optional(node->value);
}

kir::Stmt rolled(kir::Stmt loop) {
  std::get<kir::For>(loop.node).is_rolled = true;
  return loop;
}

}  // namespace

namespace {

// Of rows that a table knows.

const std::vector<std::int64_t>& climbs_of(const kir::Rows& rows) {
  return *std::get<kir::ListedRows>(rows.which).climbs;
}

int stride_of(const kir::Rows& rows) {
  return std::get<kir::Together>(rows.layout).stride;
}

}  // namespace

RowTables::RowTables(const kir::Function& function, kir::Columns columns, kir::Expr first_level,
                     kir::Expr step, LaneElements& elements)
    : parameters_(function.parameters),
      columns_(std::move(columns)),
      first_level_(std::move(first_level)),
      step_(std::move(step)),
      elements_(elements) {}

std::optional<kir::Expr> RowTables::address(const kir::Rows& rows, const kir::Expr& i,
                                            const kir::Expr& lane) {
  const Table* table = table_of(rows);
  if (table == nullptr) return std::nullopt;
  const auto which = static_cast<std::size_t>(integer_of(i).value_or(0));
  return kir::element(table->name, place(i, lane)) +
         step_ * kir::integer(climbs_of(rows)[which] * stride_of(rows));
}

struct RowTables::Filling {
  std::vector<kir::Expr> numbers;  // [arity] of the rows, for the lane's column
  kir::Expr any;                   // number `i` of them, if is_regular
  bool is_regular;
  std::vector<const Table*> tables;
};

kir::Block RowTables::filled(const kir::Expr& live, const std::optional<kir::Expr>& element) const {
  kir::Block out;
  if (tables_.empty()) return out;
  for (const Table& table : tables_) {
    const kir::VariableType type{kir::memory_dtype(table.rows), is_const(table.rows.data), true};
    out.push_back({kir::Decl{type, table.name, table.rows.arity * elements_.lanes(), {}}});
  }
  kir::Block each;
  const kir::Expr last = live - kir::integer(1);
  const std::string& row = columns_.row;
  const kir::Expr column = elements_.declare(
      each, row + "_of_lane", kir::name(row) + kir::minimum(LaneElements::lane(), last));
  const kir::Expr own =
      element ? elements_.declare(each, columns_.element + "_of_lane", with(*element, row, column))
              : column;
  // tables of the same rows are filled from the same numbers
  std::vector<Filling> fillings;
  for (const Table& table : tables_) {
    Filling made = filling_of(table, own);
    const auto same = std::ranges::find(fillings, made.numbers, &Filling::numbers);
    if (same == fillings.end()) {
      fillings.push_back(std::move(made));
    } else {
      same->tables.push_back(&table);
    }
  }
  for (const Filling& filling : fillings) fill(each, filling);
  out.push_back(rolled(serial("lane", elements_.lanes(), std::move(each))));
  return out;
}

RowTables::Filling RowTables::filling_of(const Table& table, const kir::Expr& element) const {
  kir::Rows rows = table.rows;
  rows.layout = kir::Together{1};
  rows.component = 0;
  const auto in_first_cell = [&](kir::Expr& entry) {
    entry = with(with(entry, columns_.level, first_level_), columns_.element, element);
  };
  auto& listed = std::get<kir::ListedRows>(rows.which);
  std::ranges::for_each(listed.entries, in_first_cell);
  if (listed.any_entry) in_first_cell(*listed.any_entry);
  // the lane is in the expression already; what is left are names of the same Map
  const auto number_of = [this, &rows](const kir::Expr& i) {
    return elements_.on_lane(row_start(rows, i), 0);
  };
  Filling made{{}, kir::integer(0), rows.arity > 1 && is_regular(rows), {&table}};
  for (int i = 0; i < rows.arity; ++i) made.numbers.push_back(number_of(kir::integer(i)));
  if (made.is_regular) made.any = number_of(kir::name("i"));
  return made;
}

void RowTables::fill(kir::Block& block, const Filling& filling) const {
  const auto entry = [this, &filling](kir::Block& to, const kir::Expr& value, const kir::Expr& i) {
    const auto which = integer_of(i);
    const kir::Expr foot =
        elements_.declare(to, which ? "foot" + std::to_string(*which) : "foot", value);
    for (const Table* table : filling.tables) {
      const kir::Rows& rows = table->rows;
      const kir::Expr start = foot * kir::integer(stride_of(rows)) + kir::integer(rows.component);
      to.push_back({kir::Assign{kir::element(table->name, place(i, LaneElements::lane())),
                                kir::Update::set, kir::offset(rows.data, start)}});
    }
  };
  const int arity = static_cast<int>(filling.numbers.size());
  if (filling.is_regular) {
    kir::Block body;
    entry(body, filling.any, kir::name("i"));
    block.push_back(rolled(serial("i", arity, std::move(body))));
    return;
  }
  for (int i = 0; i < arity; ++i) {
    entry(block, filling.numbers[static_cast<std::size_t>(i)], kir::integer(i));
  }
}

bool RowTables::is_even(const kir::Rows& rows) {
  const Table* table = table_of(rows);
  return table != nullptr && std::ranges::all_of(climbs_of(rows), [&rows](std::int64_t by) {
           return by == climbs_of(rows).front();
         });
}

const RowTables::Table* RowTables::table_of(const kir::Rows& rows) {
  const auto found = std::ranges::find(tables_, rows, &Table::rows);
  if (found != tables_.end()) return &*found;
  const kir::ListedRows* listed = listed_of(rows);
  const bool is_together = std::holds_alternative<kir::Together>(rows.layout);
  if (listed == nullptr || !listed->climbs || !is_together || rows.is_shared) return nullptr;
  tables_.push_back({elements_.fresh(rows.data + "_rows"), rows});
  return &tables_.back();
}

/// Entry by entry, the lanes of each side by side.
kir::Expr RowTables::place(const kir::Expr& i, const kir::Expr& lane) const {
  return i * kir::integer(elements_.lanes()) + lane;
}

bool RowTables::is_const(const std::string& data) const {
  const auto found = std::ranges::find(parameters_, data, &kir::Parameter::name);
  return found != parameters_.end() && found->type.is_const;
}

}  // namespace op2::lower
