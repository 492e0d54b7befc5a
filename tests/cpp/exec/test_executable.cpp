// SPDX-License-Identifier: BSD-3-Clause
#include "exec/executable.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace op2::exec {
namespace {

int count_items(const op2_context_v1* context, long begin, long end, void* const* argv,
                unsigned int argc) {
  *static_cast<long*>(argv[0]) += (end - begin) * context->n_threads;
  return static_cast<int>(argc);
}

TEST(Executable, LaunchesThroughTheAbi) {
  Executable executable;
  executable.launch = count_items;
  op2_context_v1 context{};
  context.n_threads = 3;
  long total = 1;
  void* argv[] = {&total};
  EXPECT_EQ(executable.launch(&context, 2, 6, argv, 1), 1);
  EXPECT_EQ(total, 1 + 4 * 3);
}

TEST(Executable, KeepsItsCodeLoaded) {
  auto library = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = library;
  Executable executable;
  executable.owner = std::move(library);
  auto copy = std::make_unique<Executable>(executable);
  executable = {};
  EXPECT_FALSE(watch.expired());
  copy.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(Executable, NeedsNothingOfThePlanByDefault) {
  const Executable executable;
  EXPECT_EQ(executable.plan, abi::PlanSpec{});
  EXPECT_TRUE(std::holds_alternative<abi::NoPlan>(executable.plan));
  EXPECT_EQ(executable.scratch, abi::ScratchSpec{});
  EXPECT_EQ(executable.items, abi::Items::elements);
  EXPECT_FALSE(executable.is_parallel);
}

}  // namespace
}  // namespace op2::exec
