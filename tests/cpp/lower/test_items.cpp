// SPDX-License-Identifier: BSD-3-Clause
#include "lower/items.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loops.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::indirect;
using testing::make_loop;
using testing::names_of;

ItemLocals locals_of(const ir::Iteration& iteration) {
  Names names({});
  return item_locals(iteration, names);
}

std::string item_dump(const kir::Block& block) {
  kir::Module module;
  module.launch = block;
  const std::string text = kir::dump(module);
  return text.substr(text.find('\n') + 1);
}

kir::Block uses(const std::string& name) {
  return {{kir::Assign{kir::name("x"), kir::Update::set, kir::name(name)}}};
}

TEST(ItemLocals, ElementsOfASetAreTheirPositions) {
  const ItemLocals items = locals_of({});
  EXPECT_EQ(items.position, "n");
  EXPECT_TRUE(items.parameters.empty());
  EXPECT_TRUE(items.declarations.empty());
}

TEST(ItemLocals, ElementsOfASubsetAreLookedUp) {
  const ItemLocals items = locals_of({.subset = true, .index_bytes = 8});
  EXPECT_EQ(items.position, "position");
  ASSERT_EQ(names_of(items.parameters), std::vector<std::string>{"subset"});
  EXPECT_EQ(items.parameters[0].type.dtype, DType::int64);
  EXPECT_EQ(items.parameters[0].role, kir::Role::items);
  EXPECT_NE(item_dump(located(items, uses("n"))).find("subset[position]"), std::string::npos);
}

TEST(ItemLocals, ColumnsAreDividedIntoLayers) {
  const ItemLocals plain = locals_of({.layers = ir::Layers::constant});
  EXPECT_EQ(names_of(plain.parameters), std::vector<std::string>{"layers"});
  const ItemLocals part = locals_of({.subset = true, .layers = ir::Layers::constant});
  EXPECT_EQ(names_of(part.parameters), (std::vector<std::string>{"layers", "subset"}));
  const ItemLocals listed = locals_of({.layers = ir::Layers::variable});
  EXPECT_EQ(names_of(listed.parameters), (std::vector<std::string>{"columns", "levels", "bounds"}));
  for (std::size_t i = 0; i < listed.parameters.size(); ++i) {
    EXPECT_EQ(listed.parameters[i].index, static_cast<int>(i));
  }
}

TEST(Located, DeclaresWhatIsUsedAndWhatThatNeeds) {
  const ItemLocals items = locals_of({.layers = ir::Layers::constant});
  const auto declared = [&items](const std::string& name) {
    std::vector<std::string> names;
    for (const kir::Stmt& stmt : located(items, uses(name))) {
      if (const auto* decl = std::get_if<kir::Decl>(&stmt.node)) names.push_back(decl->name);
    }
    return names;
  };
  EXPECT_EQ(declared("n"), (std::vector<std::string>{"row", "n"}));
  EXPECT_EQ(declared("layer"), (std::vector<std::string>{"row", "level", "layer"}));
  EXPECT_EQ(declared("n_levels"), std::vector<std::string>{"n_levels"});
  EXPECT_EQ(declared("other"), std::vector<std::string>{});
}

TEST(OverPositions, SaysOfColumnsWhatTheBodyDeclares) {
  const auto loop_of = [](const ir::Iteration& iteration, const char* used) {
    const ItemLocals items = locals_of(iteration);
    return over_positions(items, kir::Axis::serial, kir::name("begin"), kir::name("end"),
                          located(items, uses(used)));
  };
  const kir::For loop = loop_of({.layers = ir::Layers::constant}, "level");
  EXPECT_EQ(loop.index, "position");
  ASSERT_TRUE(loop.columns);
  const kir::Columns& columns = *loop.columns;
  EXPECT_EQ(kir::dump(columns.n_cells), "layers[0]");
  EXPECT_EQ(kir::dump(columns.first_level), "layers[1]");
  EXPECT_EQ((std::vector{columns.row, columns.level, columns.element}),
            (std::vector<std::string>{"row", "level", "n"}));
  EXPECT_FALSE(loop_of({.layers = ir::Layers::constant}, "other").columns);
  EXPECT_FALSE(loop_of({.layers = ir::Layers::variable}, "level").columns);
  EXPECT_FALSE(loop_of({}, "n").columns);
}

kir::Rows rows_of_path(const ir::Iteration& iteration, std::vector<ir::RowRef> path) {
  const int arity = static_cast<int>(path.size());
  ir::Loop loop = make_loop({indirect("x", Access::read, 0)}, {{arity, 0, 3, std::move(path)}});
  loop.iteration = iteration;
  return rows_of(loop, std::get<ir::IndirectDat>(loop.args[0]), "x", "m", kir::name("n"));
}

TEST(RowsOf, SayHowFarTheyClimb) {
  const ir::Iteration columns{.layers = ir::Layers::constant};
  const std::vector<ir::RowRef> path{{0, 5}, {1}, {1, -2, 0, 1}};
  const auto climbs = [](const ir::Iteration& iteration, const std::vector<ir::RowRef>& rows) {
    return listed_of(rows_of_path(iteration, rows))->climbs;
  };
  using Climbs = std::vector<std::int64_t>;
  EXPECT_EQ(climbs(columns, path), (Climbs{5, 0, -2}));
  EXPECT_EQ(climbs({}, path), std::nullopt);
  ir::Iteration round = columns;
  round.periodic = true;
  EXPECT_EQ(climbs(round, path), std::nullopt);
  EXPECT_EQ(climbs(round, {{0}, {2}}), (Climbs{0, 0}));
}

TEST(RowsOf, HaveOneExpressionIfTheyAreTheMapsInTheirOrder) {
  const ir::Iteration columns{.layers = ir::Layers::constant};
  const auto any = [&columns](std::vector<ir::RowRef> path) {
    const kir::Rows rows = rows_of_path(columns, std::move(path));
    const auto& entry = listed_of(rows)->any_entry;
    return entry ? kir::dump(*entry) : "none";
  };
  EXPECT_EQ(any({{0, 5}, {1, 5}}), "(long(m[((n * 3) + i)]) + (level * 5))");
  EXPECT_EQ(any({{0}, {1, 0, 7, 1}}), "long(m[((n * 3) + i)])");
  EXPECT_EQ(any({{2, 1}}), "(long(m[((n * 3) + 2)]) + level)");
  EXPECT_EQ(any({{0, 5}, {1, 4}}), "none");
  EXPECT_EQ(any({{0, 5}, {1, 5, 0, 1}}), "none");
  EXPECT_EQ(any({{1}, {2}}), "none");
  EXPECT_EQ(any({{1}, {0}}), "none");
}

TEST(RowsOf, NameTheEntriesOfAPath) {
  ir::Loop loop = make_loop({indirect("x", Access::read, 0)}, {{2, 0, 3, {{2}, {0}}}});
  const kir::Rows rows =
      rows_of(loop, std::get<ir::IndirectDat>(loop.args[0]), "x", "m", kir::name("n"));
  const std::vector<kir::Expr>& entries = listed_of(rows)->entries;
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(
      kir::dump(entries[0]),
      kir::dump(kir::widen(kir::element("m", kir::name("n") * kir::integer(3) + kir::integer(2)))));
  EXPECT_EQ(kir::dump(entries[1]),
            kir::dump(kir::widen(kir::element("m", kir::name("n") * kir::integer(3)))));
}

TEST(RowsOf, MoveWithTheLevel) {
  ir::Loop loop = make_loop({indirect("x", Access::read, 0)}, {{2, 0, 1, {{0, 5}, {0, 5, 0, 1}}}});
  loop.iteration.layers = ir::Layers::constant;
  const kir::Rows rows =
      rows_of(loop, std::get<ir::IndirectDat>(loop.args[0]), "x", "m", kir::name("n"));
  const kir::Expr entry = kir::widen(kir::element("m", kir::name("n")));
  const std::vector<kir::Expr>& entries = listed_of(rows)->entries;
  EXPECT_EQ(entries[0], entry + kir::name("level") * kir::integer(5));
  EXPECT_EQ(entries[1], entry + (kir::name("level") + kir::integer(1)) * kir::integer(5));
}

TEST(RowsOf, StayAsTheyAreForAPlainMap) {
  const ir::Loop loop = testing::edge_loop();
  const kir::Rows rows =
      rows_of(loop, std::get<ir::IndirectDat>(loop.args[0]), "x", "m", kir::name("n"));
  EXPECT_TRUE(std::holds_alternative<kir::MapRows>(rows.which));
  EXPECT_EQ(rows.arity, 2);
}

TEST(RowsOf, ViewsBeginInsideTheRow) {
  const kir::Rows rows =
      rows_of(ir::DirectDat{DType::float64, 1, Access::read, {0, 0}, 3, 2}, "x", kir::name("n"));
  EXPECT_EQ(std::get<kir::Together>(rows.layout).stride, 3);
  EXPECT_EQ(rows.component, 2);
  EXPECT_EQ(std::get<kir::OwnRow>(rows.which).element, kir::name("n"));
}

}  // namespace
}  // namespace op2::lower
