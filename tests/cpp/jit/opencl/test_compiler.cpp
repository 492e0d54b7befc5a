// SPDX-License-Identifier: BSD-3-Clause
#include "jit/opencl/compiler.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "runtime/opencl/devices.hpp"

namespace op2::jit::opencl {
namespace {

std::shared_ptr<DeviceCompiler> compiler() {
  return make_compiler("0", {});
}

TEST(OpenclCompiler, MakesABinary) {
  OP2_NEEDS_OPENCL();
  const auto made = compiler();
  EXPECT_EQ(made->suffix(), ".cl");
  EXPECT_THROW((void)make_compiler("-1", {}), UsageError);
  EXPECT_FALSE(
      made->compile("__kernel void f(__global double *x) { x[0] = N; }", {"-DN=3"}).empty());
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
