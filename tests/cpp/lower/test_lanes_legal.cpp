// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_legal.hpp"

#include <gtest/gtest.h>

#include "kernel/types.hpp"
#include "loops.hpp"
#include "lower/lanes_varying.hpp"

namespace op2::lower::testing {
namespace {

/// Why elements cannot be computed side by side; empty if they can.
std::string refusal_of_kernel(const ir::Loop& loop, Strategy strategy,
                              const Facts& facts = one_lane) {
  const std::vector<MapFacts> maps = no_facts(loop);
  const Options options;
  try {
    check_side_by_side({loop, strategy, facts, maps, options});
  } catch (const Refusal& caught) {
    return caught.why;
  }
  return "";
}

TEST(LanesLegal, AdditionsMayMeetAndReadsMayOverlap) {
  EXPECT_EQ(refusal_of_kernel(edge_loop(), Strategy::block, threads), "");
  const ir::Loop twice =
      make_loop({direct("x", Access::read, 1, {0, 0}), direct("y", Access::read, 1, {0, 0})});
  EXPECT_EQ(refusal_of_kernel(twice, Strategy::direct), "");
  const ir::Loop sums = make_loop(
      {indirect("y", Access::inc, 0, 1, {0, 0}), indirect("z", Access::inc, 0, 1, {0, 0})},
      edges_to_nodes());
  EXPECT_EQ(refusal_of_kernel(sums, Strategy::direct), "");
}

TEST(LanesLegal, SharedTargetsMayBeOverwrittenByColourOnly) {
  const ir::Loop shared = make_loop({indirect("y", Access::rw, 0)}, edges_to_nodes());
  EXPECT_EQ(refusal_of_kernel(shared, Strategy::direct),
            "arg 0 is RW through a Map whose targets elements share; pass INC if the kernel adds");
  EXPECT_EQ(refusal_of_kernel(shared, Strategy::colour, threads), "");
}

TEST(LanesLegal, EveryOverwrittenArgumentIsLookedAt) {
  const ir::Loop both =
      make_loop({indirect("w", Access::write, 0), indirect("y", Access::rw, 0)}, edges_to_nodes());
  EXPECT_EQ(refusal_of_kernel(both, Strategy::direct),
            "arg 1 is RW through a Map whose targets elements share; pass INC if the kernel adds");
  EXPECT_EQ(refusal_of_kernel(both, Strategy::colour, threads), "");
  const ir::Loop writes = make_loop(
      {indirect("w", Access::write, 0), indirect("y", Access::write, 0)}, edges_to_nodes());
  EXPECT_EQ(refusal_of_kernel(writes, Strategy::direct), "");
}

TEST(LanesLegal, WrittenMemoryMayNotBeReadBesides) {
  const ir::Loop twice =
      make_loop({direct("x", Access::read, 1, {0, 0}), direct("y", Access::write, 1, {0, 0})});
  EXPECT_EQ(refusal_of_kernel(twice, Strategy::direct),
            "args 0 and 1 share written memory; give each Dat an array of its own");
}

TEST(LanesLegal, WrittenMemoryMayBeReadBefore) {
  ir::Loop old_and_new =
      make_loop({direct("x", Access::read, 1, {1, 0}), direct("y", Access::write, 1, {0, 0})});
  EXPECT_EQ(refusal_of_kernel(old_and_new, Strategy::direct),
            "written memory overlaps other arguments; give each Dat an array of its own");
  old_and_new.args.front().is_before = true;
  EXPECT_EQ(refusal_of_kernel(old_and_new, Strategy::direct), "");
}

TEST(LanesLegal, AGridHasThemWhereItsLanesAreThreadsOfACpu) {
  Facts grid;
  grid.lanes = Lanes::grid;
  const ir::Loop loop = make_loop({direct("x", Access::read), direct("y", Access::write)});
  EXPECT_EQ(refusal_of_kernel(loop, Strategy::direct, grid),
            "the backend spreads elements over lanes itself");
  grid = grid.on(/*is_processor=*/true, /*has_float64=*/true);
  EXPECT_EQ(refusal_of_kernel(loop, Strategy::direct, grid), "");
  const ir::Loop sum = make_loop({direct("x", Access::read), global_reduce("s", Access::inc)});
  EXPECT_EQ(refusal_of_kernel(sum, Strategy::direct, grid), "");
}

/// The loop of most tests, with a kernel whose expressions have types.
ir::Loop typed_edge_loop() {
  ir::Loop loop = edge_loop();
  auto typed = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  typed->body = kernel::infer_types(std::move(*typed->body));
  loop.members[0].kernel = std::move(typed);
  return loop;
}

TEST(LanesLegal, AKernelThatGetsTheNumberOfItsElementHasNoLanes) {
  ir::Loop loop = typed_edge_loop();
  const std::vector<MapFacts> maps = no_facts(loop);
  Options options;
  options.lanes = 4;
  const Request request{loop, Strategy::direct, one_lane, maps, options};
  EXPECT_NO_THROW((void)kernels_for_lanes(request));
  loop.iteration.pass_element = true;
  EXPECT_THROW((void)kernels_for_lanes(request), Refusal);
}

TEST(LanesLegal, TheKernelIsRetypedAndHasAnotherKey) {
  const ir::Loop loop = typed_edge_loop();
  const std::vector<MapFacts> maps = no_facts(loop);
  Options options;
  options.lanes = 4;
  const Request request{loop, Strategy::direct, one_lane, maps, options};
  const auto kernel = kernels_for_lanes(request).front();
  EXPECT_EQ(kernel->body->entry().parameters[0].type.lanes, 4);
  EXPECT_NE(kernel->key, loop.members[0].kernel->key);
  ir::Loop uniform = loop;  // the same kernel, whose first argument is one for all elements
  uniform.args[0] = ir::GlobalRead{DType::float64, 1, {}};
  const Request other{uniform, Strategy::direct, one_lane, maps, options};
  EXPECT_NE(kernels_for_lanes(other).front()->key, kernel->key);
  const ir::Loop opaque = with_opaque_kernel(edge_loop());
  EXPECT_THROW((void)kernels_for_lanes({opaque, Strategy::direct, one_lane, maps, options}),
               Refusal);
}

}  // namespace
}  // namespace op2::lower::testing
