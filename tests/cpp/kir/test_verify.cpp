// SPDX-License-Identifier: BSD-3-Clause
#include "kir/verify.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "kir/walk.hpp"
#include "modules.hpp"

namespace op2::kir {
namespace {

using testing::every_node;
using testing::on_grid;

/// What verify() says of @p module after @p damage; nothing if it is sound.
std::string said(Module module, const std::function<void(Module&)>& damage) {
  damage(module);
  try {
    verify(module);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

std::string failure_of(const std::function<void(Module&)>& damage) {
  return said(every_node(), damage);
}

std::string grid_failure_of(const std::function<void(Module&)>& damage) {
  return said(on_grid(), damage);
}

/// True if @p failure names @p what.
bool names(const std::string& failure, const std::string& what) {
  return failure.find(what) != std::string::npos;
}

/// What is wrong with @p stmt at the end of the launch.
std::string failure_in_launch(Stmt stmt) {
  return failure_of([&stmt](Module& module) { module.launch.push_back(std::move(stmt)); });
}

/// What is wrong with @p stmt at the end of the element's body.
std::string failure_in_body(Stmt stmt) {
  return failure_of([&stmt](Module& module) {
    std::get<For>(module.functions[0].body[0].node).body.push_back(std::move(stmt));
  });
}

TEST(Verify, AcceptsASoundModule) {
  EXPECT_EQ(failure_of([](Module&) {}), "");
  EXPECT_EQ(grid_failure_of([](Module&) {}), "");
}

TEST(Verify, NeedsAKernel) {
  EXPECT_EQ(failure_of([](Module& module) { module.kernels = {nullptr}; }),
            "module without a kernel");
}

TEST(Verify, StatementsAreForArgumentsOfTheLoop) {
  const auto failure_with = [](int arg, int n_args) {
    return failure_of([&](Module& module) {
      module.n_args = n_args;
      Block& body = std::get<For>(module.functions[0].body[0].node).body;
      for_each_stmt(body, [arg](Stmt& stmt) {
        if (auto* gather = std::get_if<Gather>(&stmt.node)) gather->arg = arg;
      });
    });
  };
  EXPECT_EQ(failure_with(1, 2), "");
  EXPECT_EQ(failure_with(no_arg, 0), "");
  EXPECT_TRUE(names(failure_with(2, 2), "argument number 2 of 2: at gather"));
  EXPECT_TRUE(names(failure_with(-2, 2), "argument number -2 of 2"));

  const auto failure_of_kind = [](const auto& node) {
    auto of_another = node;
    of_another.arg = 0;
    return failure_in_body({std::move(of_another)});
  };
  const std::string wrong = "argument number 0 of 0";
  EXPECT_TRUE(names(failure_of_kind(Decl{{DType::float64}, "new_pack", 2, {}}), wrong));
  EXPECT_TRUE(names(failure_of_kind(Copy{}), wrong));
  EXPECT_TRUE(names(failure_of_kind(Scatter{}), wrong));
  EXPECT_TRUE(names(failure_of_kind(MatInsert{}), wrong));
}

TEST(Verify, SaysWhere) {
  EXPECT_EQ(failure_in_body({Assign{name("gone"), Update::set, integer(1)}}),
            "wrap_res: 'gone' is not declared: at gone = 1");
}

TEST(Verify, NamesAreDeclaredBeforeTheyAreUsed) {
  EXPECT_TRUE(names(failure_in_body({CallUser{{name("later")}}}), "'later' is not declared"));
  const Decl inside{{DType::int64, true}, "inside", 0, {integer(1)}};
  const std::string left = failure_of([&inside](Module& module) {
    module.launch.push_back({If{name("end"), {{inside}}}});
    module.launch.push_back({If{name("inside"), {}}});
  });
  EXPECT_TRUE(names(left, "'inside' is not declared")) << left;
  EXPECT_TRUE(
      names(failure_in_launch({Decl{{DType::int64}, "a", 0, {name("a")}}}), "'a' is not declared"));
}

TEST(Verify, NoNameHidesAnother) {
  EXPECT_TRUE(names(failure_in_body({Decl{{DType::int64}, "pack", 0, {}}}),
                    "'pack' is declared a second time"));
  EXPECT_TRUE(names(failure_in_body({For{Axis::serial, "pack", integer(0), integer(1), {}}}),
                    "'pack' is declared a second time"));
  EXPECT_TRUE(
      names(failure_of([](Module& module) { module.functions[0].parameters[1].name = "x"; }),
            "wrap_res: 'x' is declared a second time"));
  EXPECT_TRUE(names(failure_of([](Module& module) { module.argv[0].name = "x_map"; }),
                    "op2_launch_res: 'x_map' is declared a second time"));
}

TEST(Verify, ANameMayComeAgainInAnotherBlock) {
  const Stmt again{For{Axis::serial, "i", integer(0), integer(1), {}}};
  EXPECT_EQ(failure_of([&again](Module& module) {
              auto& body = std::get<For>(module.functions[0].body[0].node).body;
              body.push_back(again);
              body.push_back(again);
            }),
            "");
}

TEST(Verify, SubscriptsBoundsAndConditionsAreIndices) {
  const Expr value = element("x", integer(0));
  EXPECT_TRUE(names(failure_in_body({CallUser{{element("x", value)}}}), "is float64, no index"));
  EXPECT_TRUE(names(failure_in_body({For{Axis::serial, "i", value, integer(1), {}}}), "no index"));
  EXPECT_TRUE(names(failure_in_body({If{value, {}}}), "no condition"));
  EXPECT_TRUE(
      names(failure_in_body({If{value + integer(1), {}}}), "operands float64 and a number"));
  EXPECT_TRUE(names(failure_in_body({CallUser{{element("n", integer(0))}}}), "'n' is no array"));
  EXPECT_EQ(failure_in_body({If{less(value, value), {}}}), "");
}

TEST(Verify, WhatIsStoredHasTheTypeOfItsPlace) {
  const Expr entry = element("x_map", integer(0));
  EXPECT_TRUE(names(failure_in_body({Assign{element("pack", integer(0)), Update::set, entry}}),
                    "int32 is stored where float64 is kept"));
  EXPECT_TRUE(names(failure_in_body({Assign{entry, Update::set, integer(0)}}), "is const"));
  EXPECT_TRUE(names(failure_in_body({Assign{name("n"), Update::set, integer(0)}}), "is const"));
  EXPECT_TRUE(names(failure_in_body({Decl{{DType::float64}, "a", 0, {name("n")}}}),
                    "'a' is float64, its value int64"));
  EXPECT_TRUE(names(
      failure_in_body({Atomic{DType::int32, element("x", name("n")), Update::add, integer(1)}}),
      "an atomic of another type"));
}

TEST(Verify, PacksFitTheirRows) {
  const Rows rows{DType::float64, 2, 3, "x", MapRows{"x_map", name("n")}};
  const auto gather_of = [&rows](const auto& change) {
    Rows changed = rows;
    change(changed);
    return failure_in_body({Gather{"pack", changed}});
  };
  EXPECT_EQ(gather_of([](Rows&) {}), "");
  EXPECT_TRUE(names(gather_of([](Rows& changed) { changed.arity = 4; }),
                    "'pack' is shorter than 4 rows of 2"));
  EXPECT_TRUE(names(gather_of([](Rows& changed) { changed.dtype = DType::float32; }),
                    "'pack' and 'x' are not of float32"));
  EXPECT_TRUE(names(gather_of([](Rows& changed) { changed.which = ListedRows{{name("n")}}; }),
                    "a list of rows that is not complete"));
  EXPECT_TRUE(names(gather_of([](Rows& changed) { changed.which = OwnRow{name("n")}; }),
                    "an element has one row of its own"));
  EXPECT_TRUE(names(gather_of([](Rows& changed) { changed.layout = Apart{"stride"}; }),
                    "'stride' is not declared"));
}

TEST(Verify, PositionsOfRaggedMapsHaveABegin) {
  Entries entries{DType::float64, 3, 3, 1, 1, "x", "x_map", "x_map", "x_map", name("n")};
  const auto insert = [&entries] {
    return failure_in_body({MatInsert{"pack", entries, Update::add, Sync::none}});
  };
  EXPECT_EQ(insert(), "");
  entries.n_columns = integer(2);
  EXPECT_TRUE(names(insert(), "positions that begin elsewhere than those of a ragged Map"));
  entries.begin = name("unknown");
  EXPECT_TRUE(names(insert(), "'unknown' is not declared"));
  entries.begin = integer(0);
  EXPECT_EQ(insert(), "");
}

TEST(Verify, WhatIsSaidOfListedRowsHoldsForEach) {
  const auto entry = [](const Expr& i) { return element("x_map", name("n") * integer(3) + i); };
  const auto gather_of = [](const ListedRows& rows) {
    return failure_in_body({Gather{"pack", {DType::float64, 2, 3, "x", rows}}});
  };
  const ListedRows rows{{entry(integer(0)), entry(integer(1)), entry(integer(2))},
                        entry(name("i")),
                        std::vector<std::int64_t>{1, 1, 0}};
  EXPECT_EQ(gather_of(rows), "");
  ListedRows other = rows;
  std::swap(other.entries[0], other.entries[1]);
  EXPECT_TRUE(names(gather_of(other), "row 0 is x_map[((n * 3) + 1)], not x_map[(n * 3)]"));
  other = rows;
  other.climbs = std::vector<std::int64_t>{1};
  EXPECT_TRUE(names(gather_of(other), "climbs of other rows"));
}

TEST(Verify, CopiesAreStoresOfEachComponent) {
  const Copy copy{2, element("pack", name("c")), Update::add, element("x", name("n") + name("c"))};
  EXPECT_EQ(failure_in_body({copy}), "");
  Copy other = copy;
  other.target = element("x_map", name("c"));
  EXPECT_TRUE(names(failure_in_body({other}), "float64 is stored where int32 is kept"));
  other = copy;
  other.value = element("gone", name("c"));
  EXPECT_TRUE(names(failure_in_body({other}), "'gone' is not declared"));
  // the component is known in the copy alone
  EXPECT_TRUE(names(failure_of([&copy](Module& module) {
                      auto& body = std::get<For>(module.functions[0].body[0].node).body;
                      body.push_back({copy});
                      body.push_back({If{name("c"), {}}});
                    }),
                    "'c' is not declared"));
}

TEST(Verify, ColumnsAreWhatTheBodyDeclares) {
  const Expr height = element("x_map", integer(0));
  const Expr row = name("row");
  const auto index = [](const char* of, const Expr& value) -> Stmt {
    return {Decl{{DType::int64, true}, of, 0, {value}}};
  };
  For loop{Axis::serial,
           "position",
           name("begin"),
           name("end"),
           {index("row", name("position") / height), index("own", row),
            index("level", integer(4) + (name("position") - row * height))}};
  loop.columns = {height, integer(4), "row", "level", "own"};
  const auto without = [&loop](const auto& change) {
    For changed = loop;
    change(changed);
    return failure_in_body({changed});
  };
  EXPECT_EQ(without([](For&) {}), "");
  EXPECT_EQ(without([](For& changed) { changed.body.pop_back(); }), "");
  EXPECT_TRUE(names(without([](For& changed) { changed.body.clear(); }), "columns, but no 'row'"));
  EXPECT_TRUE(names(without([](For& changed) { changed.columns->first_level = integer(5); }),
                    "'level' is not (5 + (position - (row * x_map[0])))"));
  EXPECT_TRUE(names(without([](For& changed) { changed.columns->n_cells = integer(2); }),
                    "'row' is not (position / 2)"));
  EXPECT_TRUE(
      names(without([&](For& changed) { changed.body[1] = index("own", name("position")); }),
            "'own' depends on more than the column"));
}

TEST(Verify, CallsFitTheirFunctions) {
  const auto call = [](Call call) { return failure_in_launch({std::move(call)}); };
  EXPECT_TRUE(names(call({"wrap_other", {}}), "call of unknown function 'wrap_other'"));
  EXPECT_TRUE(names(call({"wrap_res", {name("begin"), name("end"), name("x")}}),
                    "call of 'wrap_res' with 3 arguments, expected 4"));
  EXPECT_TRUE(names(call({"wrap_res", {name("begin"), name("end"), name("x_map"), name("x_map")}}),
                    "'wrap_res' takes float64* as 'x' and gets const int32*"));
}

TEST(Verify, LooksIntoNestedStatements) {
  const Stmt call{Call{"gone", {}}};
  for (const Stmt& stmt : {Stmt{Region{{call}}}, Stmt{If{less(name("begin"), name("end")), {call}}},
                           Stmt{For{Axis::serial, "i", integer(0), integer(1), {call}}}}) {
    EXPECT_TRUE(names(failure_in_launch(stmt), "call of unknown function 'gone'"));
  }
}

TEST(Verify, FunctionsHaveNamesOfTheirOwn) {
  EXPECT_TRUE(
      names(failure_of([](Module& module) { module.functions.push_back(module.functions[0]); }),
            "'wrap_res' twice"));
}

TEST(Verify, LaunchesFitTheirFunctions) {
  const auto with_launch = [](Launch launch) {
    return grid_failure_of([&launch](Module& module) { module.launch.push_back({launch}); });
  };
  EXPECT_TRUE(names(with_launch({"gone", Grid::single, integer(1), {}}),
                    "call of unknown function 'gone'"));
  EXPECT_TRUE(names(with_launch({"finish", Grid::single, integer(1), {}}),
                    "call of 'finish' with 0 arguments, expected 1"));
  EXPECT_TRUE(names(with_launch({"finish", Grid::single, integer(1), {offset("x", integer(1))}}),
                    "launch of 'finish': '&x[1]' for pointer 'sums' is not a name"));
  EXPECT_TRUE(names(grid_failure_of([](Module& module) { module.functions[1].is_kernel = false; }),
                    "launch of 'finish', which must be called"));
}

TEST(Verify, EveryStatementIsWhereItCanRun) {
  EXPECT_TRUE(names(grid_failure_of([](Module& module) { module.launch.push_back({Barrier{}}); }),
                    "op2_launch_res: not a statement of this launch: barrier"));
  EXPECT_TRUE(names(grid_failure_of([](Module& module) {
                      module.functions[0].body.push_back({Call{"finish", {}}});
                    }),
                    "call of 'finish', which must be launched"));
  EXPECT_TRUE(names(grid_failure_of([](Module& module) {
                      module.functions[0].body.push_back({Scratch{DType::int32, "s", integer(1)}});
                    }),
                    "wrap: a launch within a function"));
  EXPECT_TRUE(
      names(grid_failure_of([](Module& module) { module.functions[0].body.push_back({Region{}}); }),
            "wrap: lanes that the backend does not have"));
  EXPECT_TRUE(
      names(failure_of([](Module& module) { module.functions[0].body.push_back({Barrier{}}); }),
            "wrap_res: lanes that the backend does not have"));
}

TEST(IsExpanded, NamesWhatDialectsDoNotPrint) {
  const Rows rows{DType::float64, 1, 1, "x", MapRows{"m", name("n")}};
  const auto is_expanded_with = [](Stmt stmt) {
    Module module;
    module.launch = {{Region{{{If{name("x"), {std::move(stmt)}}}}}}};
    return is_expanded(module);
  };
  EXPECT_FALSE(is_expanded_with({Gather{"pack", rows}}));
  EXPECT_FALSE(is_expanded_with({Copy{1, name("a"), Update::set, name("b")}}));
  EXPECT_FALSE(is_expanded_with({Scatter{"pack", rows, Update::add, Sync::none}}));
  EXPECT_FALSE(is_expanded_with({Assign{name("a"), Update::min, name("b")}}));
  EXPECT_FALSE(is_expanded_with({Assign{name("a"), Update::max, name("b")}}));
  EXPECT_TRUE(is_expanded_with({Assign{name("a"), Update::set, name("b")}}));
  EXPECT_TRUE(is_expanded_with({Assign{name("a"), Update::add, name("b")}}));
  EXPECT_TRUE(is_expanded_with({Atomic{DType::float64, name("a"), Update::min, name("b")}}));
  EXPECT_FALSE(is_expanded(every_node()));
}

TEST(IsExpanded, LooksIntoFunctions) {
  Module module;
  module.functions = {{"f", {}, {{Assign{name("a"), Update::min, name("b")}}}}};
  EXPECT_FALSE(is_expanded(module));
}

}  // namespace
}  // namespace op2::kir
