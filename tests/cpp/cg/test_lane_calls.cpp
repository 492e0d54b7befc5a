// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lane_calls.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernel/lane_functions.hpp"
#include "lane_text.hpp"

namespace op2::cg {
namespace {

using testing::count;
using testing::text_of;

/// A kernel for lanes that does nothing but call `function` of as many arguments.
kernel::KernelBody that_calls(const std::string& function, kernel::Base base, int lanes,
                              int n_arguments) {
  const kernel::Type type = kernel::on_lanes(base, lanes);
  const kernel::Expr value{kernel::Name{"x"}, {}, type};
  const std::string name = kernel::name_of({kernel::LaneOp::call, base, lanes, function});
  const kernel::Expr call{kernel::Call{name},
                          std::vector(static_cast<std::size_t>(n_arguments), value), type};
  return {{},
          {{"f", kernel::scalar(kernel::Base::none), {{"x", type}}, {{kernel::Evaluate{call}}}}}};
}

std::string functions_of(const kernel::KernelBody& body) {
  return text_of(c_dialect(), [&body](Context& context) { define_lanes(context, body); });
}

TEST(LaneCalls, VectorMathIsCalledWhereTheMachineHasIt) {
  const std::string wide = functions_of(that_calls("exp", kernel::Base::float64, 8, 1));
  EXPECT_EQ(count(wide, "return _ZGVeN8v_exp(a);"), 1) << wide;
  EXPECT_EQ(count(wide, "defined(__AVX512F__)"), 1) << wide;
  EXPECT_EQ(count(wide, "return op2_near_exp_float64x8(a);"), 1) << wide;
  EXPECT_EQ(count(functions_of(that_calls("powf", kernel::Base::float32, 8, 2)),
                  "return _ZGVdN8vv_powf(a, b);"),
            1);
  EXPECT_EQ(count(functions_of(that_calls("sin", kernel::Base::float64, 16, 1)), "_ZGV"), 0);
  const std::string newer = functions_of(that_calls("tanh", kernel::Base::float64, 8, 1));
  EXPECT_EQ(count(newer, "return _ZGVeN8v_tanh(a);"), 1) << newer;
  EXPECT_EQ(count(newer, "__GLIBC_MINOR__ >= 35"), 1) << newer;
  EXPECT_EQ(count(functions_of(that_calls("lgamma", kernel::Base::float64, 8, 1)), "_ZGV"), 0);
  const std::string root = functions_of(that_calls("cbrt", kernel::Base::float64, 8, 1));
  EXPECT_EQ(count(root, "result[lane] = __builtin_cbrt(a[lane]);"), 1) << root;
}

TEST(LaneCalls, TheSourceOfFunctionsIsAChoice) {
  const auto text = [](kernel::Elementary elementary) {
    return text_of(c_dialect(), [elementary](Context& context) {
      define_lanes(context, that_calls("tanhf", kernel::Base::float32, 16, 1), elementary);
    });
  };
  const std::string own = text(kernel::Elementary::texts);
  EXPECT_EQ(count(own, "_ZGV"), 0) << own;
  EXPECT_EQ(count(own, "return op2_near_tanh_float32x16(a);"), 1) << own;
  const std::string scalar = text(kernel::Elementary::scalars);
  EXPECT_EQ(count(scalar, "near"), 0) << scalar;
  EXPECT_EQ(count(scalar, "result[lane] = __builtin_tanhf(a[lane]);"), 1) << scalar;
}

TEST(LaneCalls, SourcesAreToldByName) {
  const kernel::Expr x{kernel::Name{"x"}, {}, kernel::scalar(kernel::Base::float64)};
  const kernel::Expr call{kernel::Call{"tan"}, {x}, x.type};
  const kernel::KernelBody body{
      {}, {{"f", kernel::scalar(kernel::Base::none), {{"x", x.type}}, {{kernel::Evaluate{call}}}}}};
  const auto found = elementary_sources(body, 4, kernel::Elementary::library);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "tan");
  EXPECT_EQ(found[0].symbol, "_ZGVdN4v_tan");
  EXPECT_EQ(found[0].minor, 35);
  EXPECT_EQ(found[0].bytes, 32);
  EXPECT_TRUE(found[0].has_text);
  EXPECT_EQ(elementary_sources(body, 4, kernel::Elementary::texts)[0].symbol, "");
  EXPECT_FALSE(elementary_sources(body, 4, kernel::Elementary::scalars)[0].has_text);
}

TEST(LaneCalls, ComplexNumbersAreTwoVectors) {
  const std::string conjugated = functions_of(that_calls("conj", kernel::Base::complex128, 4, 1));
  EXPECT_EQ(count(conjugated, "return (op2_complex128x4){a.re, -a.im};"), 1) << conjugated;
  const std::string rooted = functions_of(that_calls("csqrt", kernel::Base::complex128, 4, 1));
  EXPECT_EQ(count(rooted, "__builtin_csqrt(__builtin_complex(a.re[lane], a.im[lane]))"), 1)
      << rooted;
}

TEST(LaneCalls, FunctionsMayTakeIntegers) {
  kernel::KernelBody body = that_calls("ldexp", kernel::Base::float64, 4, 2);
  const std::string text = functions_of(body);
  EXPECT_EQ(count(text, "op2_ldexp_float64x4(op2_float64x4 a, op2_int32x4 b)"), 1) << text;
}

TEST(LaneCalls, OpenclTakesWholeVectorsWhereItReturnsThem) {
  const auto opencl = [](const std::string& function) {
    return text_of(opencl_dialect(), [&function](Context& context) {
      define_lanes(context, that_calls(function, kernel::Base::float64, 4, 1));
    });
  };
  EXPECT_EQ(count(opencl("exp"), "return exp(a);"), 1);
  EXPECT_EQ(count(opencl("fabs"), "return fabs(a);"), 1);
  EXPECT_EQ(count(opencl("exp"), "_ZGV"), 0);
}

TEST(LaneCalls, OpenclCallsComplexFunctionsLaneByLane) {
  const std::string text = text_of(opencl_dialect(), [](Context& context) {
    define_lanes(context, that_calls("csqrt", kernel::Base::complex128, 4, 1));
  });
  EXPECT_EQ(count(text, "const double2 value = csqrt((double2)(a.re[lane], a.im[lane]));"), 1)
      << text;
  EXPECT_EQ(count(text, "result.im[lane] = (value).y;"), 1) << text;
}

}  // namespace
}  // namespace op2::cg
