// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lanes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ir/lane_functions.hpp"

namespace op2::cg {
namespace {

std::string spelled(const kir::Expr& expr) {
  return kir::dump(expr);
}

kir::LaneRows rows(int dim, int lanes) {
  std::vector<kir::Expr> starts;
  for (int lane = 0; lane < lanes; ++lane) starts.push_back(kir::integer(dim * lane));
  return {"pack", kir::integer(0), DType::float64, dim, "data", starts};
}

/// Text of a function whose body @p print writes.
template <class Print>
std::string text_of(const Print& print) {
  Context context(c_dialect());
  {
    const Scope scope = context.function("void f(void)");
    print(context);
  }
  return context.finish();
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Lanes, TypesAreDefinedOnce) {
  const std::string text = text_of([](Context& context) {
    EXPECT_EQ(vector_type(context, DType::float64, 8), "op2_float64x8");
    EXPECT_EQ(vector_type(context, DType::float64, 8), "op2_float64x8");
  });
  EXPECT_EQ(count(text, "typedef double op2_float64x8 __attribute__((vector_size(64)));"), 1);
}

TEST(Lanes, RowsOfFourAreTransposedByShuffles) {
  const std::string text = text_of([](Context& context) {
    print_lane_gather(context, {rows(4, 4)}, spelled);
    print_lane_gather(context, {rows(4, 4)}, spelled);
  });
  EXPECT_EQ(count(text, "void op2_gather_float64x4_by4("), 1) << text;
  // Four vectors, two steps: eight shuffles.
  EXPECT_EQ(count(text, "__builtin_shufflevector"), 8) << text;
  EXPECT_EQ(count(text, "op2_gather_float64x4_by4(pack,"), 2) << text;
}

TEST(Lanes, RowsOfThreeAreTwoAndOne) {
  const std::string text =
      text_of([](Context& context) { print_lane_gather(context, {rows(3, 4)}, spelled); });
  EXPECT_EQ(count(text, "op2_gather_float64x4_by2("), 2) << text;
  EXPECT_EQ(count(text, "op2_gather_float64x4_by1("), 2) << text;
}

TEST(Lanes, RowsComeBackAsWholes) {
  const std::string text = text_of([](Context& context) {
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

/// A kernel for lanes that does nothing but call `function` of as many arguments.
ir::KernelBody that_calls(const std::string& function, ir::Base base, int lanes, int n_arguments) {
  const ir::Type type = ir::on_lanes(base, lanes);
  const ir::Expr value{ir::Name{"x"}, {}, type};
  const std::string name = ir::name_of({ir::LaneOp::call, base, lanes, function});
  const ir::Expr call{ir::Call{name}, std::vector(static_cast<std::size_t>(n_arguments), value),
                      type};
  return {{}, {{"f", ir::scalar(ir::Base::none), {{"x", type}}, {{ir::Evaluate{call}}}}}};
}

std::string functions_of(const ir::KernelBody& body) {
  return text_of([&body](Context& context) { define_lanes(context, body); });
}

TEST(Lanes, VectorMathIsCalledWhereTheMachineHasIt) {
  const std::string wide = functions_of(that_calls("exp", ir::Base::float64, 8, 1));
  EXPECT_EQ(count(wide, "return _ZGVeN8v_exp(a);"), 1) << wide;
  EXPECT_EQ(count(wide, "defined(__AVX512F__)"), 1) << wide;
  EXPECT_EQ(count(wide, "result[lane] = __builtin_exp(a[lane]);"), 1) << wide;
  EXPECT_EQ(count(functions_of(that_calls("powf", ir::Base::float32, 8, 2)),
                  "return _ZGVdN8vv_powf(a, b);"),
            1);
  EXPECT_EQ(count(functions_of(that_calls("sin", ir::Base::float64, 16, 1)), "_ZGV"), 0);
  EXPECT_EQ(count(functions_of(that_calls("tan", ir::Base::float64, 8, 1)), "_ZGV"), 0);
}

TEST(Lanes, ComplexNumbersAreTwoVectors) {
  const std::string gathered = text_of([](Context& context) {
    kir::LaneRows one = rows(1, 4);
    one.dtype = DType::complex128;
    print_lane_gather(context, {one}, spelled);
  });
  EXPECT_EQ(count(gathered, "op2_gather_float64x4_by2((op2_float64x4 *)(pack),"), 1) << gathered;
  EXPECT_EQ(count(gathered, "(const double *)(&data[2])"), 1) << gathered;
  const std::string conjugated = functions_of(that_calls("conj", ir::Base::complex128, 4, 1));
  EXPECT_EQ(count(conjugated, "return (op2_complex128x4){a.re, -a.im};"), 1) << conjugated;
  const std::string rooted = functions_of(that_calls("csqrt", ir::Base::complex128, 4, 1));
  EXPECT_EQ(count(rooted, "__builtin_csqrt(__builtin_complex(a.re[lane], a.im[lane]))"), 1)
      << rooted;
}

TEST(Lanes, SumsFoldInTheOrderOfLanes) {
  const std::string text = text_of([](Context& context) {
    print_lane_fold(context,
                    {"data", "sum", {DType::float64, false, false, 4}, 1, kir::Update::add});
  });
  EXPECT_EQ(count(text, "data[c] += sum[c][i];"), 1) << text;
}

}  // namespace
}  // namespace op2::cg
