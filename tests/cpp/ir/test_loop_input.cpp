// SPDX-License-Identifier: BSD-3-Clause
#include "ir/loop_input.hpp"

#include <gtest/gtest.h>

#include "../kernel/ast.hpp"

namespace op2::ir {
namespace {

Loop with_parameters(std::size_t n_parameters) {
  auto kernel = std::make_shared<kernel::Kernel>();
  for (std::size_t i = 0; i < n_parameters; ++i) {
    kernel->parameters.push_back({.name = "x", .type = pointer_to(scalar(kernel::Base::float64))});
  }
  return ir::loop_of(kernel, {}, {}, {});
}

TEST(LoopInput, ExtentsAccessesAndGlobals) {
  Loop loop = with_parameters(3);
  loop.maps = {{.arity = 3}};
  loop.args = {{IndirectDat{DType::float64, 2, Access::inc, 0, {}}, 0},
               {DirectDat{DType::float64, 4, Access::write, {}}, 1},
               {GlobalRead{DType::float64, 1, {}}, 2}};
  loop.constants = {{"c", DType::float64, 5}};
  const kernel::CheckInput input = check_input(loop);
  EXPECT_EQ(input.run.extents, (std::vector<std::int64_t>{6, 4, 1}));
  EXPECT_EQ(input.run.uniform, (std::vector<bool>{false, false, true}));
  EXPECT_EQ(input.accesses[0], Access::inc);
  EXPECT_EQ(input.accesses[1], Access::write);
  EXPECT_EQ(input.run.constants.at("c"), 5);
}

TEST(LoopInput, PartsOfOneParameterAddUp) {
  Loop loop = with_parameters(1);
  loop.args = {{DirectDat{DType::float64, 4, Access::read, {}}, 0},
               {DirectDat{DType::float64, 1, Access::read, {}}, 0}};
  EXPECT_EQ(check_input(loop).run.extents, (std::vector<std::int64_t>{5}));
}

TEST(LoopInput, HandlesAndLayersAreNotLookedAt) {
  Loop loop = with_parameters(2);
  loop.args = {{DirectDat{DType::uint64, 0, Access::read, {}}}};
  const kernel::CheckInput input = check_input(loop);
  EXPECT_EQ(input.run.extents, (std::vector<std::int64_t>{-1, -1}));
  EXPECT_FALSE(input.accesses[0]);
  EXPECT_FALSE(input.accesses[1]);
}

}  // namespace
}  // namespace op2::ir
