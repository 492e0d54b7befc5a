// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "kir/dump.hpp"

namespace op2::lower {
namespace {

kir::Stmt constant(const char* name, kir::Expr value) {
  return {kir::Decl{{DType::int64, true, false}, name, 0, {std::move(value)}}};
}

/// As item_locals() lays out columns of equal height.
kir::For positions(kir::Axis axis = kir::Axis::serial) {
  const kir::Expr height = kir::element("layers", kir::integer(0));
  const kir::Expr first_level = kir::element("layers", kir::integer(1));
  const kir::Expr row = kir::name("row");
  kir::For loop{axis,
                "position",
                kir::name("begin"),
                kir::name("end"),
                {constant("row", kir::name("position") / height), constant("n", row),
                 constant("level", first_level + (kir::name("position") - row * height))}};
  loop.columns = {height, first_level, "row", "level", "n"};
  return loop;
}

TEST(LanesColumns, AreFoundInLoopsOverPositions) {
  const std::optional<ColumnLoop> found = column_loop(positions());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->columns, *positions().columns);
  EXPECT_TRUE(found->has_levels);
  ASSERT_TRUE(found->element);
  EXPECT_EQ(kir::dump(*found->element->value), "row");
  EXPECT_TRUE(found->body.empty());
}

TEST(LanesColumns, AreNotFoundWhereElementsAreListed) {
  EXPECT_FALSE(column_loop(positions(kir::Axis::grid)));
  kir::For listed = positions();
  listed.columns.reset();
  EXPECT_FALSE(column_loop(listed));
}

TEST(LanesColumns, MayHaveNamesOfTheirOwn) {
  kir::For loop = positions();
  loop.body.clear();
  loop.columns = {kir::integer(3), kir::integer(1), "stack", "height", "cell"};
  loop.body.push_back(constant("stack", kir::name("position") / kir::integer(3)));
  loop.body.push_back(constant("n", kir::name("stack")));
  const std::optional<ColumnLoop> found = column_loop(loop);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->has_levels);
  EXPECT_FALSE(found->element);
  EXPECT_EQ(found->body.size(), 1U);
}

/// Evaluates the few expressions of bounds.
class Machine {
 public:
  using Visit = std::vector<std::pair<std::int64_t, std::int64_t>>;

  Machine(std::int64_t begin, std::int64_t end, std::int64_t height) : height_(height) {
    names_ = {{"begin", begin}, {"end", end}};
  }

  void run(const kir::Block& block, const ColumnNames& names, int lanes) {
    for (const kir::Stmt& stmt : block) {
      if (const auto* decl = std::get_if<kir::Decl>(&stmt.node)) {
        names_[decl->name] = value(*decl->value);
        continue;
      }
      if (const auto* assign = std::get_if<kir::Assign>(&stmt.node)) {
        names_[std::get<kir::Name>(assign->target.node).name] = value(assign->value);
        continue;
      }
      const auto& loop = std::get<kir::For>(stmt.node);
      const std::int64_t end = value(loop.end);
      const bool is_by_name = !loop.step_name.empty();
      for (std::int64_t at = value(loop.begin); at < end;
           at += is_by_name ? names_.at(loop.step_name) : loop.step) {
        names_[loop.index] = at;
        if (loop.index == names.step) visit(names, lanes, at);
        run(loop.body, names, lanes);
        if (is_by_name && names_.at(loop.step_name) < 1) return;  // would not end
      }
    }
  }

  Visit visited;  // columns and cells in them

 private:
  void visit(const ColumnNames& names, int lanes, std::int64_t cell) {
    const std::int64_t row = names_.at("row");
    const std::int64_t live = names_.at(names.live);
    EXPECT_LE(live, lanes);
    for (std::int64_t lane = 0; lane < live; ++lane) {
      visited.emplace_back(row + lane, cell);
    }
  }

  std::int64_t value(const kir::Expr& expr) {
    if (const auto* number = std::get_if<kir::Integer>(&expr.node)) return number->value;
    if (const auto* name = std::get_if<kir::Name>(&expr.node)) return names_.at(name->name);
    if (std::holds_alternative<kir::Element>(expr.node)) return height_;
    if (const auto* choice = std::get_if<kir::Select>(&expr.node)) {
      return value(value(choice->operands[0]) != 0 ? choice->operands[1] : choice->operands[2]);
    }
    if (const auto* least = std::get_if<kir::Minimum>(&expr.node)) {
      return std::min(value(least->operands[0]), value(least->operands[1]));
    }
    const auto& binary = std::get<kir::Binary>(expr.node);
    const std::int64_t left = value(binary.operands[0]);
    const std::int64_t right = value(binary.operands[1]);
    switch (binary.op) {
      case kir::BinaryOp::add:
        return left + right;
      case kir::BinaryOp::subtract:
        return left - right;
      case kir::BinaryOp::multiply:
        return left * right;
      case kir::BinaryOp::divide:
        return left / right;
      case kir::BinaryOp::modulo:
        return left % right;
      case kir::BinaryOp::less:
        return left < right ? 1 : 0;
      case kir::BinaryOp::equal:
        return left == right ? 1 : 0;
    }
    return 0;
  }

  std::map<std::string, std::int64_t> names_;
  std::int64_t height_;
};

TEST(LanesColumns, EveryRangeVisitsEachOfItsCellsOnce) {
  constexpr int lanes = 4;
  const kir::For loop = positions();
  const ColumnLoop found = *column_loop(loop);
  for (const std::int64_t height : {1, 2, 5}) {
    const std::int64_t n = 6 * height;
    for (std::int64_t begin = 0; begin <= n; ++begin) {
      for (std::int64_t end = begin; end <= n; ++end) {
        LaneElements elements(kir::Function{}, {}, lanes);
        const ColumnNames names{"live", "bottom", "step"};
        Machine machine(begin, end, height);
        machine.run(over_columns(loop, found, names, elements, {}, {}), names, lanes);
        Machine::Visit wanted;
        for (std::int64_t at = begin; at < end; ++at) {
          wanted.emplace_back(at / height, at % height);
        }
        std::ranges::sort(machine.visited);
        EXPECT_EQ(machine.visited, wanted) << begin << " " << end << " of columns of " << height;
      }
    }
  }
}

/// Columns that a pass takes, of a range of whole ones.
TEST(LanesColumns, WholeColumnsFillTheLanes) {
  const kir::For loop = positions();
  LaneElements elements(kir::Function{}, {}, 4);
  const ColumnNames names{"live", "bottom", "step"};
  Machine machine(0, 45, 5);
  machine.run(over_columns(loop, *column_loop(loop), names, elements, {}, {}), names, 4);
  ASSERT_EQ(machine.visited.size(), 45U);
  // one layer after the other, the four first columns side by side
  const auto at = [](std::int64_t row, std::int64_t cell) { return std::pair(row, cell); };
  for (std::size_t lane = 0; lane < 4; ++lane)
    EXPECT_EQ(machine.visited[lane], at(static_cast<std::int64_t>(lane), 0));
  EXPECT_EQ(machine.visited[4], at(0, 1));
  EXPECT_EQ(machine.visited[20], at(4, 0));
  EXPECT_EQ(machine.visited[40], at(8, 0));
}

}  // namespace
}  // namespace op2::lower
