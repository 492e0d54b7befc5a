// SPDX-License-Identifier: BSD-3-Clause
#include "lower/rows.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kir/dump.hpp"

namespace op2::lower {
namespace {

std::string printed(const kir::Expr& expr) {
  return kir::dump(expr);
}

TEST(Rows, StartWhereTheMapSays) {
  const kir::Rows rows{DType::float64, 4, 3, "x", kir::MapRows{"m", kir::name("n")}};
  EXPECT_EQ(
      printed(row_start(rows, kir::integer(1))),
      printed(kir::widen(kir::element("m", kir::name("n") * kir::integer(3) + kir::integer(1))) *
              kir::integer(4)));
  const kir::Rows own{DType::float64, 4, 1, "x", kir::OwnRow{kir::name("n")}};
  EXPECT_EQ(printed(row_start(own, kir::integer(0))), printed(kir::name("n") * kir::integer(4)));
}

TEST(Rows, AreRegularIfOneExpressionSaysWhereTheyAre) {
  const auto entry = [](const kir::Expr& slot) {
    return kir::widen(kir::element("m", kir::name("n") * kir::integer(6) + slot));
  };
  kir::Rows rows{DType::float64, 1, 2, "x", kir::MapRows{"m", kir::name("n")}};
  EXPECT_TRUE(is_regular(rows));
  kir::ListedRows list{{entry(kir::integer(0)), entry(kir::integer(1))}};
  rows.which = list;
  EXPECT_FALSE(is_regular(rows));
  list.any_entry = entry(kir::name("i"));
  rows.which = list;
  EXPECT_TRUE(is_regular(rows));
  EXPECT_EQ(row_start(rows, kir::name("k")), entry(kir::name("k")));
  EXPECT_EQ(row_start(rows, kir::integer(1)), list.entries[1]);
}

TEST(Rows, MayBeThoseOfAList) {
  kir::Rows rows{DType::float64, 1, 2, "x", kir::MapRows{"m", kir::name("n")}};
  EXPECT_EQ(listed_of(rows), nullptr);
  list_rows(rows, {kir::name("a"), kir::name("b")});
  ASSERT_NE(listed_of(rows), nullptr);
  EXPECT_EQ(*listed_of(rows), (kir::ListedRows{{kir::name("a"), kir::name("b")}, {}, {}, "m"}));
  EXPECT_TRUE(is_by_map(rows));
  EXPECT_FALSE(is_regular(rows));
  list_rows(rows, {kir::name("a")});
  EXPECT_TRUE(is_regular(rows));
}

TEST(Rows, MayAllBeTheSame) {
  kir::Rows rows{DType::float64, 1, 3, "x", kir::MapRows{"m", kir::name("n")}};
  repeat_row(rows, kir::name("target"));
  EXPECT_EQ(listed_of(rows)->entries, std::vector(3, kir::name("target")));
  EXPECT_EQ(row_start(rows, kir::name("i")), kir::name("target"));
}

TEST(Rows, ComponentsStandTogetherOrInColumns) {
  kir::Rows rows{DType::float64, 2, 1, "x", kir::OwnRow{kir::name("n")}, kir::Together{4}, 1};
  EXPECT_TRUE(is_own(rows));
  EXPECT_EQ(printed(row_start(rows, kir::integer(0))),
            printed(kir::name("n") * kir::integer(4) + kir::integer(1)));
  EXPECT_EQ(printed(component_of(rows, kir::name("c"))), "c");
  lay_apart(rows, "x_stride");
  EXPECT_EQ(printed(row_start(rows, kir::integer(0))), "n");
  EXPECT_EQ(printed(component_of(rows, kir::name("c"))),
            printed((kir::name("c") + kir::integer(1)) * kir::name("x_stride")));
}

TEST(Rows, OneRowIsFoundByItsNumber) {
  const kir::Rows rows{DType::float64,   4, 3, "x", kir::MapRows{"m", kir::name("n")},
                       kir::Together{4}, 1};
  const kir::Rows one = one_row(rows, kir::name("target"));
  EXPECT_EQ(one.arity, 1);
  EXPECT_FALSE(is_by_map(one));
  EXPECT_EQ(printed(row_start(one, kir::integer(0))),
            printed(kir::name("target") * kir::integer(4) + kir::integer(1)));
}

TEST(Rows, AScalarIsAtTheStartAndItsComponent) {
  kir::Rows rows{DType::float64, 4, 3, "x", kir::MapRows{"m", kir::name("n")}};
  const kir::Expr start = row_start(rows, kir::integer(2));
  EXPECT_EQ(printed(scalar_of(rows, kir::integer(2), kir::name("c"))),
            printed(kir::element("x", start + kir::name("c"))));
  lay_apart(rows, "x_stride");
  const kir::Expr number = kir::widen(map_entry("m", kir::name("n"), 3, kir::integer(2)));
  EXPECT_EQ(printed(scalar_of(rows, kir::integer(2), kir::name("c"))),
            printed(kir::element("x", number + kir::name("c") * kir::name("x_stride"))));
}

}  // namespace
}  // namespace op2::lower
