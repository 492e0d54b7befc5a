// SPDX-License-Identifier: BSD-3-Clause
#include "lower/constants.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/error.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

/// `x[0] = gam; x[1] = qinf[3];`
ir::Loop loop_with_constants() {
  ir::Loop loop = testing::make_loop({testing::direct("x", Access::write, 2)});
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  kernel->body->functions.front().body = {
      testing::update_statement(Access::write, testing::entry_of("x", 0),
                                testing::name_of_variable("gam")),
      testing::update_statement(Access::write, testing::entry_of("x", 1),
                                testing::entry_of("qinf", 3))};
  loop.members[0].kernel = kernel;
  loop.constants = {{"gam", DType::float64, 1}, {"qinf", DType::float32, 4}};
  return loop;
}

TEST(WithConstants, BindsThemAsHiddenParametersInTheLoopsOrder) {
  const kernel::Kernel kernel = with_constants(loop_with_constants());
  const std::vector<kernel::Parameter>& parameters = kernel.body->entry().parameters;
  ASSERT_EQ(parameters.size(), 3U);
  kernel::Type real = kernel::scalar(kernel::Base::float64);
  real.is_const = true;
  kernel::Type single = kernel::scalar(kernel::Base::float32);
  single.is_const = true;
  EXPECT_EQ(parameters[1].name, "gam");
  EXPECT_EQ(parameters[1].type, real);  // one value: by value
  EXPECT_EQ(parameters[2].name, "qinf");
  EXPECT_EQ(parameters[2].type, kernel::pointer_to(single));
}

TEST(WithConstants, LeavesTheLoopsKernelAsItIs) {
  const ir::Loop loop = loop_with_constants();
  (void)with_constants(loop);
  EXPECT_EQ(loop.members[0].kernel->body->entry().parameters.size(), 1U);
}

TEST(WithConstants, WithoutConstsNothingChanges) {
  const ir::Loop loop = testing::edge_loop();
  EXPECT_EQ(with_constants(loop).body, loop.members[0].kernel->body);
  const ir::Loop opaque = testing::with_opaque_kernel(loop);
  EXPECT_EQ(with_constants(opaque).text, opaque.members[0].kernel->text);
}

TEST(WithConstants, NeedsToKnowTheKernelsNames) {
  try {
    (void)with_constants(testing::with_opaque_kernel(loop_with_constants()));
    FAIL() << "no error";
  } catch (const UnsupportedError& error) {
    EXPECT_STREQ(error.what(), "kernel 'res' is opaque (cpp=True); pass its Consts as arguments");
  }
}

TEST(WithConstants, AConstThatTheKernelDoesNotUseIsOurMistake) {
  ir::Loop loop = loop_with_constants();
  loop.constants.push_back({"unused", DType::float64, 1});
  EXPECT_THROW((void)with_constants(loop), InternalError);
}

}  // namespace
}  // namespace op2::lower
