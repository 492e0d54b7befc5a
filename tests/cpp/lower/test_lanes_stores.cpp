// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_stores.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kir/dump.hpp"
#include "kir/instructions.hpp"

namespace op2::lower {
namespace {

constexpr int store_lanes = 4;

class LanesStores : public ::testing::Test {
 protected:
  LanesStores() : elements_(kir::Function{}, {}, store_lanes), stores_(elements_) {
    std::vector<kir::Expr> by_lane;
    for (int lane = 0; lane < store_lanes; ++lane) by_lane.push_back(kir::integer(lane));
    elements_.add_variable("n", by_lane, kir::name("n_lane"));
    elements_.add_pack("pack", DType::float64);
  }

  static kir::Rows rows(int dim, int arity, const std::string& map) {
    if (map.empty()) return {DType::float64, dim, arity, "y", kir::OwnRow{kir::name("n")}};
    return {DType::float64, dim, arity, "y", kir::MapRows{map, kir::name("n")}};
  }

  static kir::Rows listed(int dim, std::vector<kir::Expr> entries) {
    std::vector<std::int64_t> climbs(entries.size(), 0);
    return {DType::float64, dim, static_cast<int>(climbs.size()), "y",
            kir::ListedRows{std::move(entries), {}, std::move(climbs), "m"}};
  }

  /// For columns that begin at level 0.
  RowTables tables_of_columns() {
    const kir::Columns columns{kir::integer(3), kir::integer(0), "row", "level", "n"};
    return {kir::Function{}, columns, kir::integer(0), kir::name("step"), elements_};
  }

  kir::Block finished() { return stores_.finished(kir::name("live")); }

  LaneElements elements_;
  LaneStores stores_;
};

template <class Node>
auto count_of(const kir::Block& block) {
  return std::ranges::count_if(
      block, [](const kir::Stmt& stmt) { return std::holds_alternative<Node>(stmt.node); });
}

auto count_of(kir::Instruction name, const kir::Block& block) {
  return std::ranges::count_if(
      block, [name](const kir::Stmt& stmt) { return kir::is_instruction(stmt, name); });
}

/// What the loop over lanes does where a lane is live.
const kir::Block& by_lane(const kir::Block& block) {
  const auto& loop = std::get<kir::For>(block.back().node);
  return std::get<kir::If>(loop.body.front().node).then;
}

TEST_F(LanesStores, RowsOfSeveralComponentsAreTurnedBackFirst) {
  stores_.scatter({"pack", rows(4, 2, "m"), kir::Update::add, kir::Sync::none});
  const kir::Block made = finished();
  EXPECT_EQ(count_of(kir::Instruction::lane_turn, made), 2);
  EXPECT_EQ(count_of(kir::Instruction::lane_store, by_lane(made)), 2);
}

TEST_F(LanesStores, NarrowMemoryGetsWholeVectorsOrSumsThatAreRoundedOnce) {
  kir::Rows narrow = rows(1, 4, "");
  narrow.stored = DType::float32;
  stores_.scatter({"pack", narrow, kir::Update::set, kir::Sync::none});
  const kir::Block set = finished();
  EXPECT_EQ(count_of(kir::Instruction::lane_convert, set), 1);
  narrow = rows(4, 2, "m");
  narrow.stored = DType::float32;
  LaneStores adds(elements_);
  adds.scatter({"pack", narrow, kir::Update::add, kir::Sync::none});
  const kir::Block add = adds.finished(kir::name("live"));
  EXPECT_EQ(count_of(kir::Instruction::lane_convert, add), 0);
  EXPECT_EQ(count_of(kir::Instruction::lane_store, by_lane(add)), 2);
  for (const kir::Stmt& stmt : by_lane(add)) {
    const auto* store = std::get_if<kir::Intrinsic>(&stmt.node);
    if (store == nullptr) continue;
    EXPECT_EQ(store->other, DType::float64);
    EXPECT_EQ(store->type.dtype, DType::float32);
  }
}

TEST_F(LanesStores, AnInnerLoopStoresByItself) {
  (void)stores_.local("outer", kir::integer(1));
  LaneStores::Pending pending = stores_.begin_inside();
  EXPECT_EQ(pending.locals.size(), 1U);
  (void)stores_.local("inner", kir::integer(2));
  stores_.scatter({"pack", rows(1, 3, "m"), kir::Update::add, kir::Sync::none});
  EXPECT_EQ(count_of<kir::Assign>(by_lane(finished())), 3);
  stores_.resume(std::move(pending));
  EXPECT_TRUE(finished().empty());
}

TEST_F(LanesStores, WhatWasAddedBeforeAnInnerLoopIsStoredBehindIt) {
  stores_.scatter({"pack", rows(4, 1, ""), kir::Update::set, kir::Sync::none});
  LaneStores::Pending pending = stores_.begin_inside();
  EXPECT_TRUE(finished().empty());
  stores_.resume(std::move(pending));
  EXPECT_EQ(count_of(kir::Instruction::lane_store, finished()), elements_.lanes());
}

TEST_F(LanesStores, SingleComponentsAreStoredOneByOne) {
  stores_.scatter({"pack", rows(1, 3, "m"), kir::Update::add, kir::Sync::none});
  const kir::Block made = finished();
  EXPECT_EQ(count_of(kir::Instruction::lane_turn, made), 0);
  EXPECT_EQ(count_of<kir::Assign>(by_lane(made)), 3);
}

TEST_F(LanesStores, RowsOfTablesAreStoredWhereTheySay) {
  RowTables tables = tables_of_columns();
  stores_.use(tables);
  for (const int dim : {1, 3}) {  // one by one; two components as a whole, and one
    const kir::Rows known =
        listed(dim, {kir::element("m", kir::integer(0)), kir::element("m", kir::integer(1))});
    stores_.scatter({"pack", known, kir::Update::add, kir::Sync::none});
  }
  const kir::Block made = finished();
  const kir::Block& body = by_lane(made);
  EXPECT_EQ(count_of<kir::Decl>(body), 4);
  EXPECT_EQ(count_of<kir::Assign>(body), 4);
  EXPECT_EQ(count_of(kir::Instruction::lane_store, body), 2);
  const auto& first = std::get<kir::Decl>(body[0].node);
  EXPECT_TRUE(first.type.is_pointer);
  EXPECT_EQ(kir::dump(*first.value), "y_rows[lane]");
  EXPECT_EQ(kir::dump(std::get<kir::Assign>(body[1].node).target), first.name + "[0]");
}

TEST_F(LanesStores, LanesThatStoreTheSameAgainNeedNotBeLeftOut) {
  for (const kir::Update update : {kir::Update::set, kir::Update::max, kir::Update::add}) {
    LaneStores stores(elements_);
    RowTables tables = tables_of_columns();
    stores.use(tables);
    const kir::Rows known = listed(2, {kir::element("m", kir::integer(0))});
    stores.scatter({"pack", known, update, kir::Sync::none});
    const kir::Block made = stores.finished(kir::name("live"));
    const auto& loop = std::get<kir::For>(made.back().node);
    EXPECT_EQ(count_of<kir::If>(loop.body), update == kir::Update::add ? 1 : 0);
  }
}

TEST_F(LanesStores, WhereNoTableSaysWhatItRepeatsALaneIsLeftOut) {
  stores_.scatter({"pack", rows(2, 1, "m"), kir::Update::set, kir::Sync::none});
  EXPECT_EQ(count_of(kir::Instruction::lane_store, by_lane(finished())), 1);
  LaneStores others(elements_);  // rows of its own, so long that they are stored in a loop
  others.scatter({"pack", rows(60, 1, ""), kir::Update::set, kir::Sync::none});
  const kir::Block made = others.finished(kir::name("live"));
  EXPECT_EQ(count_of<kir::For>(by_lane(made)), 1);
}

TEST_F(LanesStores, LongMapsOfTablesAreStoredInALoop) {
  RowTables tables = tables_of_columns();
  stores_.use(tables);
  std::vector<kir::Expr> entries;
  for (int i = 0; i < 20; ++i) entries.push_back(kir::element("m", kir::integer(i)));
  const kir::Rows known = listed(1, std::move(entries));
  stores_.scatter({"pack", known, kir::Update::add, kir::Sync::none});
  const kir::Block made = finished();
  const auto& loop = std::get<kir::For>(by_lane(made)[0].node);
  EXPECT_EQ(kir::dump(*std::get<kir::Decl>(loop.body[0].node).value), "y_rows[((i * 4) + lane)]");
  EXPECT_EQ(kir::dump(std::get<kir::Assign>(loop.body[1].node).target), "y_row[0]");
}

TEST_F(LanesStores, AtomicsStayAtomics) {
  stores_.scatter({"pack", rows(4, 2, "m"), kir::Update::add, kir::Sync::atomic});
  EXPECT_EQ(count_of<kir::Atomic>(by_lane(finished())), 8);
}

TEST_F(LanesStores, AnElementsOwnRowIsStoredByEveryLane) {
  stores_.scatter({"pack", rows(4, 1, ""), kir::Update::set, kir::Sync::none});
  const kir::Block made = finished();
  EXPECT_EQ(count_of(kir::Instruction::lane_store, made), store_lanes);
  EXPECT_EQ(count_of<kir::For>(made), 0);
}

TEST_F(LanesStores, OwnRowsThatAreAddedToLeaveRepeatedLanesOut) {
  stores_.scatter({"pack", rows(4, 1, ""), kir::Update::add, kir::Sync::none});
  EXPECT_EQ(count_of(kir::Instruction::lane_store, by_lane(finished())), 1);
}

TEST_F(LanesStores, VariablesThatNothingUsesAreLeftOut) {
  stores_.local("unused", kir::integer(1));
  const kir::Expr used = stores_.local("used", kir::integer(2));
  stores_.by_lane({kir::Assign{kir::element("y", used), kir::Update::set,
                               kir::element("pack", kir::integer(0))}});
  EXPECT_EQ(count_of<kir::Decl>(by_lane(finished())), 1);
}

}  // namespace
}  // namespace op2::lower
