// SPDX-License-Identifier: BSD-3-Clause
// The layout of strategy `team`; lower/team.cpp is declared in lower/passes.hpp.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "cg/dialect.hpp"
#include "cg/source.hpp"
#include "kir/verify.hpp"
#include "kir/walk.hpp"
#include "loops.hpp"
#include "lower/strategy.hpp"

namespace op2::lower {
namespace {

/// The loop with a kernel that has a form for a team of 40 lanes.
ir::Loop with_team(ir::Loop loop, std::int64_t n_shared = 100, int n_lanes = 40,
                   std::int64_t n_own = 0) {
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  auto form = std::make_shared<kernel::TeamForm>();
  form->body = *kernel->body;
  form->n_lanes = n_lanes;
  form->n_own = n_own;
  if (n_own > 0) form->shared_parameters.insert(0);
  form->n_shared = n_shared;
  auto& parameters = form->body.functions.back().parameters;
  parameters.push_back({.name = "lane", .type = kernel::scalar(kernel::Base::int32)});
  parameters.push_back({.name = "n_lanes", .type = kernel::scalar(kernel::Base::int32)});
  parameters.push_back(
      {.name = "shared", .type = kernel::pointer_to(kernel::scalar(kernel::Base::float64))});
  kernel->team = std::move(form);
  loop.members[0].kernel = std::move(kernel);
  return loop;
}

ir::Loop team_loop(std::int64_t n_shared = 100, int n_lanes = 40, std::int64_t n_own = 0) {
  return with_team(testing::edge_loop(), n_shared, n_lanes, n_own);
}

int n_shared_arrays(const kir::Block& block) {
  int n = 0;
  kir::for_each_stmt(block, [&n](const kir::Stmt& stmt) {
    const auto* decl = std::get_if<kir::Decl>(&stmt.node);
    n += decl != nullptr && decl->storage == kir::Storage::block ? 1 : 0;
  });
  return n;
}

TEST(Team, SharesThePacksAndTheSumsOfAnElement) {
  Facts gpu = testing::grid;
  gpu.warp = 32;
  const kir::Module module = testing::lowered(team_loop(), Strategy::team, gpu);
  ASSERT_EQ(module.functions.size(), 1U);
  const kir::Function& function = module.functions.front();
  EXPECT_EQ(n_shared_arrays(function.body), 3);
  EXPECT_EQ(testing::count<kir::Barrier>(function.body), 3);
  EXPECT_EQ(testing::count<kir::Atomic>(function.body), 1);
  EXPECT_EQ(function.max_lanes, 64);  // whole warps
  EXPECT_EQ(function.least_blocks, 6);
  kir::for_each_stmt(function.body, [](const kir::Stmt& stmt) {
    const auto* call = std::get_if<kir::CallUser>(&stmt.node);
    if (call != nullptr) {
      EXPECT_EQ(call->arguments.size(), 5U);
    }
  });
  for (const auto& parameter : module.kernels.front()->parameters) {
    if (parameter.type.is_pointer() && parameter.name != "shared") {
      EXPECT_TRUE(parameter.type.is_shared) << parameter.name;
    }
  }
}

/// What lower() says of the layout of @p loop without the Barrier of that number.
std::string said_of_team(const ir::Loop& loop, int without) {
  const kir::Module module = testing::lowered(loop, Strategy::team, testing::grid, Stage::teams);
  EXPECT_NO_THROW(verify_after(Stage::teams, module));
  try {
    verify_after(Stage::teams, testing::without_barrier(module, without));
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

/// Nothing of these modules is left to expand.
TEST(Team, WaitsForItsLoadsAndForTheKernel) {
  const ir::Loop direct = with_team(
      testing::make_loop({testing::direct("x", Access::read, 200),
                          testing::direct("y", Access::rw, 200), testing::global_read("g", 3)}));
  for (const ir::Loop& loop : {direct, team_loop()}) {
    EXPECT_TRUE(
        kir::is_expanded(testing::lowered(loop, Strategy::team, testing::grid, Stage::teams)));
    EXPECT_TRUE(testing::contains(said_of_team(loop, 0), "after pass 'teams': wrap_res: lanes"));
    EXPECT_TRUE(testing::contains(said_of_team(loop, 1), "lanes touch 'y_pack' without a barrier"));
  }
}

TEST(Team, ReadsADatInTwoPlacesButWritesItInOne) {
  const auto loop = [](const auto& arg, Access other) {
    return with_team(testing::make_loop({arg("x", Access::read, {0, 0}), arg("z", other, {0, 0}),
                                         testing::direct("y", Access::rw, 4)},
                                        testing::edges_to_nodes()));
  };
  const auto direct = [](const char* name, Access access, ir::Alias alias) {
    return testing::direct(name, access, 4, alias);
  };
  const auto indirect = [](const char* name, Access access, ir::Alias alias) {
    return testing::indirect(name, access, 0, 4, alias);
  };
  for (const ir::Loop& read : {loop(direct, Access::read), loop(indirect, Access::read)}) {
    EXPECT_EQ(n_shared_arrays(
                  testing::lowered(read, Strategy::team, testing::grid).functions.front().body),
              3);
  }
  const ir::Loop written = loop(direct, Access::rw);
  const Verdict verdict =
      applicable(Strategy::team, written, testing::grid, testing::no_facts(written), {});
  EXPECT_FALSE(verdict.ok);
  EXPECT_TRUE(testing::contains(verdict.why, "arg 1 ('z')")) << verdict.why;
}

TEST(Team, HasAllLanesThatItAsksFor) {
  Facts gpu = testing::grid;
  gpu.warp = 32;
  const auto lowered = [&gpu](int n_lanes) {
    return testing::lowered(team_loop(100, n_lanes), Strategy::team, gpu);
  };
  const kir::Module small = lowered(20);
  EXPECT_TRUE(small.blocks_are_warps);
  EXPECT_TRUE(small.functions.front().has_all_lanes);
  EXPECT_EQ(small.functions.front().max_lanes, 32);
  EXPECT_EQ(lowered(500).functions.front().max_lanes, 128);
  EXPECT_FALSE(lowered(40).blocks_are_warps);
  const std::string text = cg::print_source(small, cg::cuda_dialect(), false, "").wrappers;
  EXPECT_TRUE(testing::contains(text, "i += 32")) << text;
  EXPECT_TRUE(testing::contains(text, "__syncwarp();")) << text;
  EXPECT_FALSE(testing::contains(text, "__syncthreads();")) << text;
}

TEST(Team, LeavesRegistersForArraysOfItsLanes) {
  Facts gpu = testing::grid;
  gpu.warp = 32;
  const auto resident = [&gpu](std::int64_t n_own) {
    return testing::lowered(team_loop(100, 32, n_own), Strategy::team, gpu)
        .functions.front()
        .least_blocks;
  };
  EXPECT_EQ(resident(8), 32);   // 64 registers a lane
  EXPECT_EQ(resident(32), 18);  // 112
}

TEST(Team, WritesLoopsOutOnGpusAlone) {
  const auto is_unrolled = [](const Facts& facts) {
    ir::Loop loop = team_loop();
    auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
    auto form = std::make_shared<kernel::TeamForm>(*kernel->team);
    kernel::For written_out;
    written_out.is_unrolled = true;
    form->body.functions.back().body.push_back({.node = std::move(written_out), .line = 0});
    kernel->team = std::move(form);
    loop.members[0].kernel = std::move(kernel);
    const kir::Module module = testing::lowered(loop, Strategy::team, facts);
    const kernel::Body& body = module.kernels.front()->body->functions.back().body;
    return std::get<kernel::For>(body.back().node).is_unrolled;
  };
  Facts processor = testing::grid;
  processor.vectors_in_lane = true;
  EXPECT_TRUE(is_unrolled(testing::grid));
  EXPECT_FALSE(is_unrolled(processor));
}

TEST(Team, IsForKernelsWithSuchAFormOnDevices) {
  const auto verdict = [](const ir::Loop& loop, const Facts& facts, const Options& options = {}) {
    return applicable(Strategy::team, loop, facts, testing::no_facts(loop), options);
  };
  EXPECT_TRUE(verdict(team_loop(), testing::grid).ok);
  EXPECT_FALSE(verdict(testing::edge_loop(), testing::grid).ok);
  EXPECT_FALSE(verdict(team_loop(), testing::threads).ok);
  EXPECT_FALSE(verdict(team_loop(), testing::grid, {.semantics = {.deterministic = true}}).ok);
  const Verdict large = verdict(team_loop(10'000), testing::grid);
  EXPECT_FALSE(large.ok);
  EXPECT_TRUE(testing::contains(large.why, "80032 bytes of the memory that lanes share"));
  Facts large_blocks = testing::grid;
  large_blocks.shared_bytes = 80'032;
  EXPECT_TRUE(verdict(team_loop(10'000), large_blocks).ok);
}

TEST(Team, IsChosenForElementsWithLargeArrays) {
  const auto chosen = [](int team_bytes, std::int64_t n_own) {
    const ir::Loop loop = team_loop(100, 40, n_own);
    Options options;
    options.tuning.team_bytes = team_bytes;
    return choose(loop, testing::grid, testing::no_facts(loop), options).strategy;
  };
  EXPECT_EQ(chosen(31, 0), Strategy::team);
  EXPECT_NE(chosen(32, 0), Strategy::team);
  EXPECT_EQ(chosen(63, 8), Strategy::team);  // with arrays in registers
  EXPECT_NE(chosen(64, 8), Strategy::team);
}

}  // namespace
}  // namespace op2::lower
