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

kir::VariableType vectors(DType dtype = DType::float64, int lanes = 4) {
  return {dtype, false, false, lanes};
}

kir::Intrinsic rows_of(int dim, int lanes, DType dtype = DType::float64) {
  std::vector<kir::Expr> operands{kir::name("pack")};
  for (int lane = 0; lane < lanes; ++lane) {
    operands.push_back(kir::offset("data", kir::integer(dim * lane)));
  }
  return {kir::Instruction::lane_gather, operands, vectors(dtype, lanes), dim};
}

kir::Intrinsic stored(kir::Update update) {
  return {kir::Instruction::lane_store,
          {kir::offset("data", kir::name("at")), kir::name("rows"), kir::name("lane")},
          {DType::float64},
          2,
          update};
}

kir::Intrinsic fold_of(DType dtype) {
  return {kir::Instruction::lane_fold,
          {kir::name("data"), kir::name("sum")},
          vectors(dtype),
          1,
          kir::Update::add};
}

TEST(Lanes, RowsOfFourAreTransposedByShuffles) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_intrinsic(context, rows_of(4, 4), spelled);
    print_intrinsic(context, rows_of(4, 4), spelled);
  });
  EXPECT_EQ(count(text, "void op2_gather_float64x4_by4("), 1) << text;
  // Four vectors, two steps: eight shuffles.
  EXPECT_EQ(count(text, "__builtin_shufflevector"), 8) << text;
  EXPECT_EQ(count(text, "op2_gather_float64x4_by4(pack,"), 2) << text;
}

TEST(Lanes, RowsOfThreeAreTwoAndOne) {
  const std::string text = text_of(
      c_dialect(), [](Context& context) { print_intrinsic(context, rows_of(3, 4), spelled); });
  EXPECT_EQ(count(text, "op2_gather_float64x4_by2("), 2) << text;
  EXPECT_EQ(count(text, "op2_gather_float64x4_by1("), 2) << text;
  // one call: an address may have to be loaded
  EXPECT_EQ(count(text, "op2_gather_float64x4_by1(out + 2, row0 + 2, row1 + 2,"), 1) << text;
  EXPECT_EQ(count(text, "op2_gather_float64x4_of3(pack,"), 1) << text;
}

TEST(Lanes, RowsMayLieAtAddresses) {
  kir::Intrinsic at = rows_of(2, 2);
  at.operands = {kir::name("pack"), kir::element("x_rows", kir::integer(0)),
                 kir::element("x_rows", kir::integer(1))};
  const std::string text =
      text_of(c_dialect(), [&at](Context& context) { print_intrinsic(context, at, spelled); });
  EXPECT_EQ(count(text, "op2_gather_float64x2_by2(pack,\n      x_rows[0],\n      x_rows[1]);"), 1)
      << text;
  at.type.dtype = DType::complex128;
  const std::string complex =
      text_of(c_dialect(), [&at](Context& context) { print_intrinsic(context, at, spelled); });
  EXPECT_EQ(count(complex, "op2_gather_float64x2_of4((op2_float64x2 *)(pack),"), 1) << complex;
  EXPECT_EQ(count(complex, "(const double *)(x_rows[1])"), 1) << complex;
}

TEST(Lanes, RowsComeBackAsWholes) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_intrinsic(
        context,
        {kir::Instruction::lane_turn, {kir::name("rows"), kir::name("pack")}, vectors(), 2},
        spelled);
    print_intrinsic(context, stored(kir::Update::add), spelled);
  });
  EXPECT_EQ(count(text, "op2_rows_float64x4_by2(rows, pack);"), 1) << text;
  EXPECT_EQ(count(text, "*(op2_float64x2_row *)(&data[at]) += rows[lane];"), 1) << text;
}

TEST(Lanes, ComplexNumbersAreTwoVectors) {
  const std::string gathered = text_of(c_dialect(), [](Context& context) {
    print_intrinsic(context, rows_of(1, 4, DType::complex128), spelled);
  });
  EXPECT_EQ(count(gathered, "op2_gather_float64x4_by2((op2_float64x4 *)(pack),"), 1) << gathered;
  EXPECT_EQ(count(gathered, "(const double *)(&data[2])"), 1) << gathered;
}

TEST(Lanes, OpenclHasVectorsOfItsOwn) {
  const std::string text = text_of(opencl_dialect(), [](Context& context) {
    print_intrinsic(context, rows_of(2, 4), spelled);
    print_intrinsic(context, stored(kir::Update::set), spelled);
  });
  EXPECT_EQ(count(text, "typedef double4 op2_float64x4;"), 1) << text;
  EXPECT_EQ(count(text, "const __global double *row3"), 1) << text;
  EXPECT_EQ(count(text, "*(__global op2_float64x2_row *)(&data[at]) = rows[lane];"), 1) << text;
  EXPECT_EQ(count(text, "vector_size"), 0) << text;
}

TEST(Lanes, OpenclRenamesBitsWhereCCasts) {
  const auto add = [](Context& context) {
    print_intrinsic(context,
                    {kir::Instruction::lane_add,
                     {kir::name("sum"), kir::name("pack"), kir::name("live")},
                     vectors()},
                    spelled);
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
    print_intrinsic(context, rows_of(1, 4, DType::complex128), spelled);
  });
  EXPECT_EQ(count(gathered, "(const __global double *)(&data[2])"), 1) << gathered;
  const std::string folded = text_of(opencl_dialect(), [](Context& context) {
    print_intrinsic(context, fold_of(DType::complex128), spelled);
  });
  EXPECT_EQ(count(folded, "data[c] += (double2)(sum[c].re[i], sum[c].im[i]);"), 1) << folded;
}

kir::Intrinsic share(kir::Update update, DType dtype, int extent) {
  return {kir::Instruction::lane_share,
          {kir::name("sum"), kir::offset("pack", kir::name("o")),
           kir::offset("entries", kir::name("first"))},
          vectors(dtype),
          extent,
          update,
          16,
          4};
}

TEST(Lanes, SharesAreKeptWhereThereIsAnIncidence) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_intrinsic(context, share(kir::Update::add, DType::float64, 2), spelled);
    print_intrinsic(context, share(kir::Update::max, DType::float64, 1), spelled);
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
    print_intrinsic(context, share(kir::Update::add, DType::float32, 40), spelled);
  });
  EXPECT_EQ(count(text, "for (int c = 0; c < 40; ++c)"), 1) << text;
  EXPECT_EQ(count(text, "sum[c] = op2_share_add_float32x4("), 1) << text;
  // masks are as wide as the entries are
  EXPECT_EQ(count(text, "__builtin_convertvector"), 0) << text;
}

TEST(Lanes, BothPartsOfComplexSharesAreKept) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_intrinsic(context, share(kir::Update::add, DType::complex128, 1), spelled);
  });
  EXPECT_EQ(count(text, "sum[0].re = op2_share_add_float64x4("), 1) << text;
  EXPECT_EQ(count(text, "sum[0].im, pack[o].im);"), 1) << text;
}

kir::Intrinsic pick(kir::Instruction instruction, DType dtype) {
  return {instruction,
          {kir::name("to"), kir::offset("codes", kir::name("first")), kir::name("one"),
           kir::offset("other", kir::integer(2))},
          vectors(dtype),
          2,
          kir::Update::set,
          16,
          4};
}

TEST(Lanes, NeighboursArePickedBySlot) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_intrinsic(context, pick(kir::Instruction::lane_pick, DType::float64), spelled);
    print_intrinsic(context, pick(kir::Instruction::lane_pick_share, DType::float64), spelled);
  });
  const std::string first = "op2_without2_int64x4_by_uint32(&codes[first])";
  EXPECT_EQ(count(text, "to[0] = op2_pick_float64x4(" + first + ", one[0], other[2]);"), 1) << text;
  EXPECT_EQ(
      count(text, "op2_share_add_float64x4(op2_without1_int64x4_by_uint32(&codes[first]), to[1],"),
      1)
      << text;
  EXPECT_EQ(count(text, "op2_pick_float64x4(" + first + ", one[1], other[3])"), 2) << text;
  EXPECT_EQ(count(text, "__builtin_convertvector"), 2) << text;
}

TEST(Lanes, SlotsOfNarrowNumbersAreMasks) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_intrinsic(context, pick(kir::Instruction::lane_pick, DType::float32), spelled);
  });
  EXPECT_EQ(count(text, "__builtin_convertvector"), 0) << text;
}

TEST(Lanes, SumsFoldInTheOrderOfLanes) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    print_intrinsic(context, fold_of(DType::float64), spelled);
  });
  EXPECT_EQ(count(text, "data[c] += sum[c][i];"), 1) << text;
}

}  // namespace
}  // namespace op2::cg
