// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/context.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "runtime/opencl/devices.hpp"

namespace op2::runtime::opencl {
namespace {

Owned<ProgramId> program_in(const Api& api, const DeviceContext& context) {
  const char* text = "__kernel void one(__global double *a) { a[0] = 1.0; }";
  Status status = code::success;
  Owned<ProgramId> program(
      api.create_program_with_source(context.get(), 1, &text, nullptr, &status),
      api.release_program);
  check(status, "clCreateProgramWithSource");
  return program;
}

class OpenclContext : public ::testing::Test {
 protected:
  void SetUp() override {
    OP2_NEEDS_OPENCL();
    api_ = load_api();
    device_ = find_devices(*api_).front();
  }
  std::shared_ptr<const Api> api_;
  FoundDevice device_{};
};

TEST_F(OpenclContext, IsOneForAllThatHaveIt) {
  const auto context = context_of(api_, device_);
  EXPECT_NE(context->get(), nullptr);
  EXPECT_EQ(context_of(api_, device_), context);
}

TEST_F(OpenclContext, EndsWithTheLastWhoHasIt) {
  std::weak_ptr<DeviceContext> ended = context_of(api_, device_);
  EXPECT_TRUE(ended.expired());
  EXPECT_NE(context_of(api_, device_)->get(), nullptr);
}

TEST_F(OpenclContext, ProgramsAreTakenOnce) {
  const auto context = context_of(api_, device_);
  Owned<ProgramId> program = program_in(*api_, *context);
  const ProgramId id = program.get();
  context->keep("bytes", std::move(program));
  EXPECT_EQ(context->take("others").get(), nullptr);
  EXPECT_EQ(context->take("bytes").get(), id);
  EXPECT_EQ(context->take("bytes").get(), nullptr);
}

TEST_F(OpenclContext, OnlyTheLastProgramsAreKept) {
  const auto context = context_of(api_, device_);
  for (int i = 0; i < 17; ++i) {
    context->keep(std::to_string(i), program_in(*api_, *context));
  }
  EXPECT_EQ(context->take("0").get(), nullptr);
  EXPECT_NE(context->take("1").get(), nullptr);
  EXPECT_NE(context->take("16").get(), nullptr);
}

}  // namespace
}  // namespace op2::runtime::opencl
