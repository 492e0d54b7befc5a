// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "exec/build.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

/// What exec makes of a lowered loop is tested here, because exec's own tests run without this
/// room.
TEST(Launches, CanBeWrittenDown) {
  const ir::Loop loop = testing::make_loop(
      {testing::indirect("x", Access::read, 0), testing::indirect("y", Access::inc, 0),
       testing::global_reduce("s", Access::inc)},
      testing::edges_to_nodes());
  for (const Strategy strategy :
       {Strategy::atomic, Strategy::colour, Strategy::owner, Strategy::scratch, Strategy::block}) {
    const kir::Module module = testing::lowered(loop, strategy, testing::grid);
    const exec::LaunchProgram program = exec::launch_program(module, "_loop1");
    ASSERT_FALSE(program.kernels.empty());
    EXPECT_TRUE(program.kernels[0].name.ends_with("_loop1"));
    EXPECT_FALSE(program.steps.empty());
    EXPECT_EQ(exec::read_launch_program(canonical(program), {module.argv.size(), loop.args.size()}),
              program);
  }
}

}  // namespace
}  // namespace op2::lower
