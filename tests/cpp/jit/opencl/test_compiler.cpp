// SPDX-License-Identifier: BSD-3-Clause
#include "jit/opencl/compiler.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "jit/opencl/devices.hpp"

namespace op2::jit::opencl {
namespace {

std::unique_ptr<Compiler> compiler() {
  auto api = load_api();
  const FoundDevice device = find_devices(*api).front();
  return std::make_unique<Compiler>(std::move(api), device);
}

TEST(OpenclCompiler, MakesABinary) {
  OP2_NEEDS_OPENCL();
  const auto made = compiler();
  EXPECT_EQ(made->suffix(), ".cl");
  EXPECT_FALSE(
      made->compile("__kernel void f(__global double *x) { x[0] = N; }", {"-DN=3"}).empty());
}

TEST(KnownText, ComesBackFromItsBytes) {
  const std::optional<KnownText> text = known_text(bytes_of({"-DN=3 -w", "int f;\n\n"}));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->options, "-DN=3 -w");
  EXPECT_EQ(text->source, "int f;\n\n");
  EXPECT_FALSE(
      known_text("\x7f"
                 "ELF"));
  EXPECT_FALSE(known_text(""));
}

TEST(OpenclCompiler, SaysWhatItIs) {
  OP2_NEEDS_OPENCL();
  EXPECT_EQ(compiler()->identity(), compiler()->identity());
  EXPECT_NE(compiler()->identity().find("opencl"), std::string::npos);
}

TEST(OpenclCompiler, RejectionsCarryTheLog) {
  OP2_NEEDS_OPENCL();
  try {
    (void)compiler()->compile(
        "#line 7 \"<kernel f>\"\n__kernel void f(__global double *x) { x[0] = nobody; }", {});
    FAIL() << "nonsense was compiled";
  } catch (const CompilationError& error) {
    EXPECT_NE(error.stderr_text().find("nobody"), std::string::npos) << error.stderr_text();
    EXPECT_NE(error.stderr_text().find(":7:"), std::string::npos) << error.stderr_text();
    EXPECT_TRUE(error.command().starts_with("clBuildProgram"));
  }
}

}  // namespace
}  // namespace op2::jit::opencl
