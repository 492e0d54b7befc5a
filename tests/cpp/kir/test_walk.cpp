// SPDX-License-Identifier: BSD-3-Clause
#include "kir/walk.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "kir/dump.hpp"

namespace op2::kir {
namespace {

using Names = std::set<std::string>;

Names used_by(Stmt stmt) {
  return names_used({std::move(stmt)});
}

TEST(NamesUsed, SeesEveryKindOfStatement) {
  const Rows rows{DType::float64, 1, 2, "x", MapRows{"x_map", name("n")}};
  EXPECT_EQ(used_by({Decl{{}, "new", 0, {name("a") + name("b")}}}), (Names{"a", "b"}));
  EXPECT_EQ(used_by({Assign{element("y", name("i")), Update::add, element("z", name("j"))}}),
            (Names{"i", "j", "y", "z"}));
  EXPECT_EQ(used_by({Atomic{DType::int32, element("y", name("i")), Update::min, name("v")}}),
            (Names{"i", "v", "y"}));
  EXPECT_EQ(used_by({CallUser{{offset("q", name("n")), name("g")}}}), (Names{"g", "n", "q"}));
  EXPECT_EQ(used_by({Call{"wrap", {name("begin")}}}), (Names{"begin"}));
  EXPECT_EQ(used_by({Gather{"pack", rows}}), (Names{"n", "pack", "x", "x_map"}));
  EXPECT_EQ(used_by({Scatter{"pack", rows, Update::add, Sync::none}}),
            (Names{"n", "pack", "x", "x_map"}));
}

TEST(NamesUsed, SeesWhatALoopStepsBy) {
  For loop{Axis::serial, "i", name("from"), name("to"), {}};
  loop.step_name = "stride";
  EXPECT_EQ(used_by({loop}), (Names{"from", "stride", "to"}));
}

TEST(NamesUsed, SeesWhatIsSaidOfColumnsAndRows) {
  For loop{Axis::serial, "i", name("from"), name("to"), {}};
  loop.columns = {name("height"), name("bottom"), "row", "level", "n"};
  EXPECT_EQ(used_by({loop}), (Names{"bottom", "from", "height", "to"}));
  const ListedRows list{{name("a")}, name("b"), {}, "m"};
  const Rows rows{DType::float64, 1, 1, "x", list};
  EXPECT_EQ(used_by({Gather{"pack", rows}}), (Names{"a", "b", "pack", "x"}));
  EXPECT_EQ(used_by({Copy{2, element("x", name("c")), Update::set, name("y")}}),
            (Names{"c", "x", "y"}));
}

TEST(NamesUsed, LooksIntoNestedStatements) {
  const Stmt inner{CallUser{{name("deep")}}};
  EXPECT_EQ(used_by({For{Axis::serial, "i", name("from"), name("to"), {inner}}}),
            (Names{"deep", "from", "to"}));
  EXPECT_EQ(used_by({If{less(name("a"), integer(1)), {inner}}}), (Names{"a", "deep"}));
  EXPECT_EQ(used_by({Region{{inner}}}), (Names{"deep"}));
}

TEST(NamesUsed, SeesEveryKindOfExpression) {
  EXPECT_EQ(
      used_by({CallUser{{minimum(name("a"), name("b")), select(name("c"), name("d"), name("e")),
                         scratch_at(name("f")), widen(name("g")), equal(name("h"), integer(1)),
                         builtin(Builtin::n_threads)}}}),
      (Names{"a", "b", "c", "d", "e", "f", "g", "h"}));
}

/// Mentions `x` once in every kind of place.
Block everywhere() {
  const Rows rows{DType::float64, 1, 1, "x", MapRows{"x", name("x")}};
  const ListedRows list{{name("x")}, name("x"), {}, "x"};
  const Rows listed{DType::float64, 1, 1, "x", list, Apart{"x"}};
  const Rows own{DType::float64, 1, 1, "x", OwnRow{name("x")}};
  For columns{Axis::serial, "x", name("x"), name("x"), {}};
  columns.columns = {name("x"), name("x"), "x", "x", "x"};
  Block inner{{Gather{"x", rows}},
              {Gather{"x", listed}},
              {Gather{"x", own}},
              {columns},
              {Copy{2, element("x", name("x")), Update::set, name("x")}},
              {Scatter{"x", rows, Update::add, Sync::none}},
              {Barrier{}},
              {Intrinsic{Instruction::lane_store,
                         {offset("x", name("x")), name("x"), lane_of("x", name("x"), name("x"))}}},
              {Atomic{DType::int32, element("x", name("x")), Update::add,
                      shuffle(name("x"), name("x"), 4)}}};
  return {{Decl{{DType::int64}, "x", 0, {minimum(name("x"), widen(name("x")))}}},
          {Assign{element("x", integer(0)), Update::set,
                  select(less(name("x"), integer(1)), name("x"), name("x"))}},
          {CallUser{{offset("x", name("x"))}}},
          {Call{"f", {scratch_at(name("x"))}}},
          {For{Axis::serial,
               "x",
               name("x"),
               name("x"),
               {{If{equal(name("x"), integer(0)), {{Region{inner}}}}}},
               DType::int64,
               1,
               "x"}},
          {Scratch{DType::float64, "x", blocks_for(name("x"))}},
          {Launch{"f", Grid::items, name("x"), {name("x")}}}};
}

TEST(Rename, ReachesEveryMention) {
  Block block = everywhere();
  Module before;
  before.launch = block;
  rename(block, "x", "y");
  EXPECT_EQ(names_used(block), (std::set<std::string>{"y"}));
  Module after;
  after.launch = block;
  // the text differs by the name alone
  std::string expected = dump(before);
  for (char& letter : expected) letter = letter == 'x' ? 'y' : letter;
  std::string found = dump(after);
  for (char& letter : found) letter = letter == 'x' ? 'y' : letter;  // "x1", the rows' dim
  EXPECT_EQ(found, expected);
}

TEST(Rename, LeavesOthersAlone) {
  Block block = everywhere();
  const Block before = block;
  rename(block, "z", "y");
  EXPECT_EQ(block, before);
}

/// `x` becomes @p by.
Replacement x_is(const Expr& by) {
  return [by](const Expr& part) {
    const auto* variable = std::get_if<Name>(&part.node);
    return variable != nullptr && variable->name == "x" ? std::optional(by) : std::nullopt;
  };
}

std::string dumped(Block block) {
  Module module;
  module.launch = std::move(block);
  return dump(module);
}

TEST(MapExpr, ReachesEveryExpression) {
  const Expr all =
      select(less(name("x"), minimum(name("x"), integer(3))), element("a", widen(name("x"))),
             lane_of("v", shuffle(name("x"), name("x"), 4), offset("x", name("x"))));
  const std::string text = dump(map_expr(all, x_is(name("y"))));
  EXPECT_EQ(text, "select((y < min(y, 3)), a[long(y)], v[shuffle4(y, y)][&x[y]])");
}

TEST(MapExpr, ArithmeticFoldsAndWhatWasPutInStays) {
  const Expr sum = name("x") * integer(4) + integer(2);
  EXPECT_EQ(map_expr(sum, x_is(integer(3))), integer(14));
  EXPECT_EQ(dump(map_expr(name("x"), x_is(name("x") + integer(1)))), "(x + 1)");
}

TEST(MapExpr, ReachesStatementsInsideStatements) {
  const Assign assign{element("a", name("x")), Update::add, name("x")};
  const Block block{{Decl{{DType::int64}, "d", 0, {name("x")}}},
                    {For{Axis::serial,
                         "i",
                         name("x"),
                         name("x"),
                         {{If{equal(name("x"), integer(0)), {{assign}}}},
                          {Atomic{DType::int32, name("x"), Update::add, name("x")}}}}}};
  const std::string text = dumped(map_exprs(block, x_is(name("y"))));
  EXPECT_EQ(text.find('x'), std::string::npos) << text;
}

TEST(MapExpr, ReachesWhatRowsAreMadeOf) {
  const Rows listed{DType::float64, 1, 1, "d", ListedRows{{name("x")}, {}, {}, "m"}};
  const Block mapped = map_exprs({{Gather{"p", listed}}}, x_is(name("y")));
  EXPECT_EQ(names_used(mapped), (Names{"d", "p", "y"}));
}

TEST(MapStmts, GoesFromTheInsideOut) {
  const Block block{{For{Axis::serial, "i", integer(0), integer(2), {{Region{{{Barrier{}}}}}}}}};
  std::vector<std::size_t> seen;
  const Block flat = map_stmts(block, [&seen](Stmt stmt) -> Block {
    seen.push_back(stmt.node.index());
    if (auto* region = std::get_if<Region>(&stmt.node)) return std::move(region->body);
    return {std::move(stmt)};
  });
  EXPECT_EQ(seen, (std::vector{Stmt{Barrier{}}.node.index(), Stmt{Region{}}.node.index(),
                               block[0].node.index()}));
  EXPECT_EQ(flat, (Block{{For{Axis::serial, "i", integer(0), integer(2), {{Barrier{}}}}}}));
}

TEST(AnyStmt, LooksInside) {
  const Block block{{If{name("a"), {{Region{{{Barrier{}}}}}}}}};
  const auto is_barrier = [](const Stmt& stmt) {
    return std::holds_alternative<Barrier>(stmt.node);
  };
  EXPECT_TRUE(any_stmt(block, is_barrier));
  EXPECT_FALSE(any_stmt({{If{name("a"), {}}}}, is_barrier));
}

TEST(NamesUsed, TheTableOfListedRowsIsNotRead) {
  Rows listed{DType::float64, 1, 1, "d", MapRows{"m", name("n")}};
  EXPECT_EQ(used_by({Gather{"p", listed}}), (Names{"d", "m", "n", "p"}));
  listed.which = ListedRows{{element("m", name("k"))}, {}, {}, "m"};
  EXPECT_EQ(used_by({Gather{"p", listed}}), (Names{"d", "k", "m", "p"}));
  listed.which = ListedRows{{integer(3)}, {}, {}, "m"};
  EXPECT_EQ(used_by({Gather{"p", listed}}), (Names{"d", "p"}));
}

}  // namespace
}  // namespace op2::kir
