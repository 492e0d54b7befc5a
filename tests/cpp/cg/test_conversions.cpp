// SPDX-License-Identifier: BSD-3-Clause
#include "cg/conversions.hpp"

#include <gtest/gtest.h>

#include <string>

#include "cg/dialect.hpp"
#include "cg/lane_types.hpp"

namespace op2::cg {
namespace {

std::string conversion_text(const Dialect& dialect, DType from, DType to, int lanes) {
  Context context(dialect);
  {
    const Scope scope = context.function("void f()");
    if (lanes > 0) {
      (void)vector_type(context, from, lanes);
      (void)vector_type(context, to, lanes);
    }
    context.statement("y = " + converted(context, from, to, lanes, "x") + ";");
  }
  return context.finish();
}

bool has_text(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Conversions, TheLanguageConvertsWiderNumbers) {
  EXPECT_TRUE(
      has_text(conversion_text(c_dialect(), DType::float32, DType::float64, 0), "(double)(x)"));
  EXPECT_TRUE(has_text(conversion_text(c_dialect(), DType::float64, DType::float64, 0), "y = x;"));
  EXPECT_TRUE(has_text(conversion_text(opencl_dialect(), DType::float32, DType::float64, 4),
                       "convert_double4(x)"));
}

TEST(Conversions, DoublesKeepInALastBitWhatIsLost) {
  const std::string text = conversion_text(c_dialect(), DType::float64, DType::bfloat16, 0);
  EXPECT_TRUE(has_text(text, "y = op2_narrow_float64_bfloat16(x);"));
  EXPECT_TRUE(has_text(text, "(all | ((all & 0x7fffffffffful) + 0x7fffffffffful))"));
  EXPECT_TRUE(has_text(text, "op2_narrow_float32_bfloat16"));
}

TEST(Conversions, InstructionsAreTakenWhereTheyAre) {
  const std::string gpu = conversion_text(cuda_dialect(), DType::float64, DType::float16, 0);
  EXPECT_TRUE(has_text(gpu, "#if defined(__CUDA_ARCH__)"));
  EXPECT_TRUE(has_text(gpu, "cvt.rn.f16.f64"));
  const std::string vectors = conversion_text(c_dialect(), DType::float16, DType::float64, 8);
  EXPECT_TRUE(has_text(vectors, "__builtin_ia32_vcvtph2ps256"));
  EXPECT_TRUE(has_text(vectors, "#else"));
  EXPECT_FALSE(has_text(conversion_text(opencl_dialect(), DType::float16, DType::float64, 8),
                        "__builtin_ia32"));
}

TEST(Conversions, WideVectorsAreConvertedInParts) {
  const std::string text = conversion_text(c_dialect(), DType::float64, DType::float16, 16);
  EXPECT_TRUE(has_text(text, "op2_narrow_float64_float16_x16"));
  EXPECT_TRUE(has_text(text, "op2_narrow_float64_float16_x8"));
  EXPECT_TRUE(has_text(conversion_text(c_dialect(), DType::uint16, DType::uint32, 32),
                       "op2_convert_uint16x16_uint32"));
}

}  // namespace
}  // namespace op2::cg
