// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_rows.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kir/dump.hpp"

namespace op2::lower {
namespace {

constexpr int n_lanes = 4;

kir::Expr entry(int slot) {
  return kir::widen(kir::element("m", kir::name("n") * kir::integer(3) + kir::integer(slot)));
}

kir::Expr level(int above) {
  return kir::name("level") + kir::integer(above);
}

class LanesRows : public ::testing::Test {
 protected:
  LanesRows()
      : function_{"wrap",
                  {{"x", {DType::float64, true, true}, true, kir::Role::data, 0},
                   {"m", {DType::int32, true, true}, true, kir::Role::map, 0},
                   {"same_map", {DType::int32, true, true}, true, kir::Role::map, 0}},
                  {}},
        elements_(function_, {}, n_lanes),
        tables_(function_, {kir::integer(9), kir::integer(7), "row", "level", "n"}, kir::integer(7),
                kir::name("step"), elements_) {}

  /// @param[in] climbs Empty: none of them does.
  static kir::Rows rows(std::vector<kir::Expr> entries, std::vector<std::int64_t> climbs = {},
                        std::string data = "x", int dim = 2) {
    if (climbs.empty()) climbs.assign(entries.size(), 0);
    const int arity = static_cast<int>(entries.size());
    return {DType::float64, dim, arity, std::move(data),
            kir::ListedRows{std::move(entries), {}, std::move(climbs), "m"}};
  }

  static kir::ListedRows& list_of(kir::Rows& rows) { return std::get<kir::ListedRows>(rows.which); }

  /// The entries in their order, each a row further with each level.
  static kir::Rows in_order(int arity, std::string data = "x") {
    std::vector<kir::Expr> entries;
    for (int i = 0; i < arity; ++i) entries.push_back(entry(i) + level(0));
    const auto n = static_cast<std::size_t>(arity);
    kir::Rows made = rows(std::move(entries), std::vector<std::int64_t>(n, 1), std::move(data));
    list_of(made).any_entry =
        kir::widen(kir::element("m", kir::name("n") * kir::integer(3) + kir::name("i"))) + level(0);
    return made;
  }

  std::string address(const kir::Rows& at, int i, int lane) {
    const auto found = tables_.address(at, kir::integer(i), kir::integer(lane));
    return found ? kir::dump(*found) : "none";
  }

  std::string filled(const std::optional<kir::Expr>& n = std::nullopt) {
    kir::Module module;
    module.launch = tables_.filled(kir::name("live"), n);
    return kir::dump(module);
  }

  kir::Function function_;
  LaneElements elements_;
  RowTables tables_;
};

TEST_F(LanesRows, AnAddressIsKeptAndACellAddsItsLevel) {
  const kir::Rows climbing = in_order(3);
  EXPECT_EQ(address(climbing, 0, 0), "(x_rows[0] + (step * 2))");
  EXPECT_EQ(address(climbing, 2, 3), "(x_rows[11] + (step * 2))");
  const auto any = tables_.address(climbing, kir::name("i"), kir::name("lane"));
  ASSERT_TRUE(any);
  EXPECT_EQ(kir::dump(*any), "(x_rows[((i * 4) + lane)] + (step * 2))");
}

TEST_F(LanesRows, RowsThatDoNotClimbAreWhereTheColumnIs) {
  EXPECT_EQ(address(rows({entry(0)}), 0, 1), "x_rows[1]");
}

TEST_F(LanesRows, OffsetsDifferByEntry) {
  const kir::Rows mixed = rows({entry(0), entry(1) + level(0) * kir::integer(3)}, {0, 3}, "x", 1);
  EXPECT_EQ(address(mixed, 0, 0), "x_rows[0]");
  EXPECT_EQ(address(mixed, 1, 0), "(x_rows[4] + (step * 3))");
}

TEST_F(LanesRows, OtherRowsHaveNoTable) {
  const kir::Rows direct{DType::float64, 2, 1, "x", kir::OwnRow{kir::name("n")}};
  EXPECT_EQ(address(direct, 0, 0), "none");
  kir::Rows round = rows({entry(0) + level(0) % kir::name("n_levels")});
  list_of(round).climbs.reset();
  EXPECT_EQ(address(round, 0, 0), "none");
  kir::Rows shared = rows({entry(0)});
  shared.is_shared = true;
  EXPECT_EQ(address(shared, 0, 0), "none");
  EXPECT_EQ(filled().find("decl"), std::string::npos);
}

TEST_F(LanesRows, TablesAreFilledLaneByLaneInLoopsThatStayLoops) {
  (void)address(in_order(2), 0, 0);
  (void)address(in_order(2), 0, 0);
  (void)address(in_order(2, "y"), 0, 0);
  const std::string text = filled();
  EXPECT_NE(text.find("decl const float64* x_rows[8]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("decl float64* y_rows[8]\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("x_rows_"), std::string::npos) << text;
  EXPECT_NE(text.find("for serial i in [0, 2)\n"
                      "      decl const int64 foot = (long(m[((row_of_lane * 3) + i)]) + 7)\n"
                      "      x_rows[((i * 4) + lane)] = &x[(foot * 2)]\n"
                      "      y_rows[((i * 4) + lane)] = &y[(foot * 2)]\n"),
            std::string::npos)
      << text;
  const kir::Block block = tables_.filled(kir::name("live"), std::nullopt);
  const auto& lanes = std::get<kir::For>(block.back().node);
  EXPECT_TRUE(lanes.is_rolled);
  EXPECT_TRUE(std::get<kir::For>(lanes.body.back().node).is_rolled);
}

TEST_F(LanesRows, RowsThatClimbAsFarMayBeReachedInALoop) {
  EXPECT_TRUE(tables_.is_even(rows({entry(0) + level(0), entry(0) + level(1)}, {1, 1})));
  EXPECT_FALSE(tables_.is_even(rows({entry(0), entry(1) + level(0)}, {0, 1})));
  kir::Rows round = rows({entry(0) + level(0) % kir::name("n_levels")});
  list_of(round).climbs.reset();
  EXPECT_FALSE(tables_.is_even(round));
}

TEST_F(LanesRows, RowsInNoOrderAreFilledOneByOne) {
  (void)address(rows({entry(0) + level(0), entry(0) + level(1)}, {1, 1}), 0, 0);
  const std::string text = filled();
  EXPECT_EQ(text.find("for serial i"), std::string::npos) << text;
  EXPECT_NE(text.find("x_rows[lane] = &x[(foot0 * 2)]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("x_rows[(4 + lane)] = &x[(foot1 * 2)]\n"), std::string::npos) << text;
}

TEST_F(LanesRows, ColumnsOfASubsetAreLookedUp) {
  (void)address(rows({entry(0)}), 0, 0);
  const std::string text = filled(kir::widen(kir::element("subset", kir::name("row"))));
  EXPECT_NE(text.find("row_of_lane = (row + min(lane, (live - 1)))"), std::string::npos) << text;
  EXPECT_NE(text.find("n_of_lane = long(subset[row_of_lane])"), std::string::npos) << text;
  EXPECT_NE(text.find("foot0 = long(m[(n_of_lane * 3)])"), std::string::npos) << text;
}

TEST_F(LanesRows, ArgumentsThroughOneMapLookItUpOnce) {
  kir::Rows other = rows({kir::widen(kir::element("same_map", kir::name("n")))});
  list_of(other).origin = "same_map";
  (void)address(other, 0, 0);
  EXPECT_EQ(filled().find("same_map"), std::string::npos) << filled();
}

}  // namespace
}  // namespace op2::lower
