// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lanes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "lane_text.hpp"

#include "kir/dump.hpp"

namespace op2::cg {
namespace {

using testing::count;
using testing::text_of;

std::string spelled(const kir::Expr& expr) {
  return kir::dump(expr);
}

kir::LaneRows rows(int dim, int lanes) {
  std::vector<kir::Expr> starts;
  for (int lane = 0; lane < lanes; ++lane) starts.push_back(kir::integer(dim * lane));
  return {"pack", kir::integer(0), DType::float64, dim, "data", starts};
}

TEST(Lanes, RowsOfFourAreTransposedByShuffles) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_lane_gather(context, {rows(4, 4)}, spelled);
    print_lane_gather(context, {rows(4, 4)}, spelled);
  });
  EXPECT_EQ(count(text, "void op2_gather_float64x4_by4("), 1) << text;
  // Four vectors, two steps: eight shuffles.
  EXPECT_EQ(count(text, "__builtin_shufflevector"), 8) << text;
  EXPECT_EQ(count(text, "op2_gather_float64x4_by4(pack,"), 2) << text;
}

TEST(Lanes, RowsOfThreeAreTwoAndOne) {
  const std::string text = text_of(
      c_dialect(), [](Context& context) { print_lane_gather(context, {rows(3, 4)}, spelled); });
  EXPECT_EQ(count(text, "op2_gather_float64x4_by2("), 2) << text;
  EXPECT_EQ(count(text, "op2_gather_float64x4_by1("), 2) << text;
  // one call: an address may have to be loaded
  EXPECT_EQ(count(text, "op2_gather_float64x4_by1(out + 2, row0 + 2, row1 + 2,"), 1) << text;
  EXPECT_EQ(count(text, "op2_gather_float64x4_of3(pack,"), 1) << text;
}

TEST(Lanes, RowsMayLieAtAddresses) {
  kir::LaneRows at = rows(2, 2);
  at.data.clear();
  at.starts = {kir::element("x_rows", kir::integer(0)), kir::element("x_rows", kir::integer(1))};
  const std::string text =
      text_of(c_dialect(), [&at](Context& context) { print_lane_gather(context, {at}, spelled); });
  EXPECT_EQ(count(text, "op2_gather_float64x2_by2(pack,\n      x_rows[0],\n      x_rows[1]);"), 1)
      << text;
  at.dtype = DType::complex128;
  const std::string complex =
      text_of(c_dialect(), [&at](Context& context) { print_lane_gather(context, {at}, spelled); });
  EXPECT_EQ(count(complex, "op2_gather_float64x2_of4((op2_float64x2 *)(pack),"), 1) << complex;
  EXPECT_EQ(count(complex, "(const double *)(x_rows[1])"), 1) << complex;
}

TEST(Lanes, RowsComeBackAsWholes) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    const kir::VariableType vectors{DType::float64, false, false, 4};
    print_lane_turn(context, {"rows", "pack", kir::integer(0), vectors, 2}, spelled);
    print_lane_store(
        context,
        {"data", kir::name("at"), kir::Update::add, "rows", kir::name("lane"), DType::float64, 2},
        spelled);
  });
  EXPECT_EQ(count(text, "op2_rows_float64x4_by2(rows, pack);"), 1) << text;
  EXPECT_EQ(count(text, "*(op2_float64x2_row *)(&data[at]) += rows[lane];"), 1) << text;
}

TEST(Lanes, ComplexNumbersAreTwoVectors) {
  const std::string gathered = text_of(c_dialect(), [](Context& context) {
    kir::LaneRows one = rows(1, 4);
    one.dtype = DType::complex128;
    print_lane_gather(context, {one}, spelled);
  });
  EXPECT_EQ(count(gathered, "op2_gather_float64x4_by2((op2_float64x4 *)(pack),"), 1) << gathered;
  EXPECT_EQ(count(gathered, "(const double *)(&data[2])"), 1) << gathered;
}

TEST(Lanes, OpenclHasVectorsOfItsOwn) {
  const std::string text = text_of(opencl_dialect(), [](Context& context) {
    print_lane_gather(context, {rows(2, 4)}, spelled);
    print_lane_store(
        context,
        {"data", kir::name("at"), kir::Update::set, "rows", kir::name("lane"), DType::float64, 2},
        spelled);
  });
  EXPECT_EQ(count(text, "typedef double4 op2_float64x4;"), 1) << text;
  EXPECT_EQ(count(text, "const __global double *row3"), 1) << text;
  EXPECT_EQ(count(text, "*(__global op2_float64x2_row *)(&data[at]) = rows[lane];"), 1) << text;
  EXPECT_EQ(count(text, "vector_size"), 0) << text;
}

TEST(Lanes, OpenclRenamesBitsWhereCCasts) {
  const auto add = [](Context& context) {
    const kir::VariableType vectors{DType::float64, false, false, 4};
    print_lane_add(context, {"sum", "pack", vectors, 1, kir::name("live")}, spelled);
  };
  const std::string text = text_of(opencl_dialect(), add);
  EXPECT_EQ(count(text,
                  "sum[0] += __builtin_astype(__builtin_astype(pack[0], op2_int64x4) & "
                  "op2_first_int64x4(live), op2_float64x4);"),
            1)
      << text;
  EXPECT_EQ(count(text, "(op2_int64x4)((long)n)"), 1) << text;
  const std::string in_c = text_of(c_dialect(), add);
  EXPECT_EQ(count(in_c, "(op2_float64x4)((op2_int64x4)(pack[0]) & op2_first_int64x4(live))"), 1)
      << in_c;
}

TEST(Lanes, OpenclKeepsComplexNumbersInVectorsOfTwo) {
  const std::string gathered = text_of(opencl_dialect(), [](Context& context) {
    kir::LaneRows one = rows(1, 4);
    one.dtype = DType::complex128;
    print_lane_gather(context, {one}, spelled);
  });
  EXPECT_EQ(count(gathered, "(const __global double *)(&data[2])"), 1) << gathered;
  const std::string folded = text_of(opencl_dialect(), [](Context& context) {
    const kir::VariableType vectors{DType::complex128, false, false, 4};
    print_lane_fold(context, {"data", "sum", vectors, 1, kir::Update::add});
  });
  EXPECT_EQ(count(folded, "data[c] += (double2)(sum[c].re[i], sum[c].im[i]);"), 1) << folded;
}

kir::LaneShare share(kir::Update update, DType dtype, int extent) {
  return {"sum",  "pack",    kir::name("o"), {dtype, false, false, 4}, extent,
          update, "entries", DType::int32,   kir::name("first")};
}

TEST(Lanes, SharesAreKeptWhereThereIsAnIncidence) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_lane_share(context, share(kir::Update::add, DType::float64, 2), spelled);
    print_lane_share(context, share(kir::Update::max, DType::float64, 1), spelled);
  });
  EXPECT_EQ(count(text,
                  "sum[0] = op2_share_add_float64x4(op2_on_int64x4_by_int32(&entries[first]), "
                  "sum[0], pack[o]);"),
            1)
      << text;
  EXPECT_EQ(count(text, "pack[(o + 1)]);"), 1) << text;
  EXPECT_EQ(count(text, "__builtin_convertvector"), 1) << text;
  EXPECT_EQ(count(text, "const op2_float64x4 next = sum + value;"), 1) << text;
  EXPECT_EQ(count(text, "on &= sum < value;"), 1) << text;
}

TEST(Lanes, ManySharesAreALoop) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_lane_share(context, share(kir::Update::add, DType::float32, 40), spelled);
  });
  EXPECT_EQ(count(text, "for (int c = 0; c < 40; ++c)"), 1) << text;
  EXPECT_EQ(count(text, "sum[c] = op2_share_add_float32x4("), 1) << text;
  // masks are as wide as the entries are
  EXPECT_EQ(count(text, "__builtin_convertvector"), 0) << text;
}

TEST(Lanes, BothPartsOfComplexSharesAreKept) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_lane_share(context, share(kir::Update::add, DType::complex128, 1), spelled);
  });
  EXPECT_EQ(count(text, "sum[0].re = op2_share_add_float64x4("), 1) << text;
  EXPECT_EQ(count(text, "sum[0].im, pack[o].im);"), 1) << text;
}

TEST(Lanes, SumsFoldInTheOrderOfLanes) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_lane_fold(context,
                    {"data", "sum", {DType::float64, false, false, 4}, 1, kir::Update::add});
  });
  EXPECT_EQ(count(text, "data[c] += sum[c][i];"), 1) << text;
}

}  // namespace
}  // namespace op2::cg
