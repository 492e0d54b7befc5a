// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lower.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../cg/unit_text.hpp"
#include "../jit/support.hpp"
#include "cg/dialect.hpp"
#include "exec/build.hpp"
#include "kir/verify.hpp"
#include "loops.hpp"
#include "runtime/prepared_loop.hpp"

namespace op2::lower {
namespace {

using testing::edge_loop;
using testing::global_reduce;
using testing::indirect;

// --------------------------------------------------------------------------------------- stages

TEST(Lower, ShowsEveryPassInOrder) {
  const ir::Loop loop = edge_loop();
  const std::vector<MapFacts> maps = testing::no_facts(loop);
  std::vector<Stage> stages;
  const auto note = [&stages](Stage stage, const kir::Module&) { stages.push_back(stage); };
  (void)lower({loop, Strategy::block, testing::threads, maps, {}}, note);
  EXPECT_EQ(stages, (std::vector<Stage>{Stage::blocks, Stage::legalise, Stage::expand}));
  stages.clear();
  Options small;
  small.widths.index_bytes = 4;
  (void)lower({loop, Strategy::atomic, testing::grid, maps, small}, note);
  EXPECT_EQ(stages, (std::vector<Stage>{Stage::elements, Stage::reduce, Stage::legalise,
                                        Stage::expand, Stage::narrow}));
  EXPECT_EQ(stage_names[static_cast<std::size_t>(Stage::legalise)], "legalise");
}

/// The first pass that a loop goes through.
Stage layout_of(const ir::Loop& loop, Strategy strategy, const Facts& facts,
                const Options& options = {}) {
  const std::vector<MapFacts> maps = testing::no_facts(loop);
  std::vector<Stage> stages;
  (void)lower({loop, strategy, facts, maps, options},
              [&stages](Stage stage, const kir::Module&) { stages.push_back(stage); });
  return stages.front();
}

TEST(Lower, EachLoopHasOneLayout) {
  const ir::Loop loop = edge_loop();
  EXPECT_EQ(layout_of(loop, Strategy::atomic, testing::threads), Stage::elements);
  EXPECT_EQ(layout_of(loop, Strategy::colour, testing::grid), Stage::colours);
  EXPECT_EQ(layout_of(loop, Strategy::owner, testing::grid), Stage::incidences);
  EXPECT_EQ(layout_of(loop, Strategy::scratch, testing::threads), Stage::scratch);
  EXPECT_EQ(layout_of(loop, Strategy::block, testing::threads), Stage::blocks);
  EXPECT_EQ(layout_of(loop, Strategy::block, testing::grid), Stage::staged_blocks);
  Facts slow = testing::grid;
  slow.fast_shared = false;
  EXPECT_EQ(layout_of(loop, Strategy::block, slow), Stage::launched_blocks);
  Options summed;
  summed.widths.summed = true;
  EXPECT_EQ(layout_of(loop, Strategy::atomic, testing::grid, summed), Stage::summed_blocks);
  const ir::Loop sum =
      testing::make_loop({testing::direct("x", Access::read), global_reduce("s", Access::inc)});
  EXPECT_EQ(layout_of(sum, Strategy::block, testing::grid, {.semantics = {.deterministic = true}}),
            Stage::elements);
  const ir::Loop overlapping = testing::make_loop(
      {indirect("a", Access::inc, 0, 1, {0, 0}), testing::direct("b", Access::write, 1, {1, 0})},
      testing::edges_to_nodes());
  EXPECT_EQ(layout_of(overlapping, Strategy::block, testing::grid), Stage::in_order);
}

TEST(Lower, EndsWithWhatDialectsPrint) {
  for (const Strategy strategy : testing::all_strategies) {
    for (const Facts& facts : {testing::one_lane, testing::threads}) {
      const kir::Module module = testing::lowered(edge_loop(), strategy, facts);
      EXPECT_TRUE(kir::is_expanded(module)) << name_of(strategy);
      EXPECT_NO_THROW(kir::verify(module)) << name_of(strategy);
      const bool has_team = testing::count<kir::Region>(module.launch) > 0;
      EXPECT_EQ(has_team, facts.lanes == Lanes::threads) << name_of(strategy);
    }
  }
}

TEST(Lower, FixedChunksAreForSlotsOfThreads) {
  const ir::Loop loop = testing::make_loop(
      {indirect("y", Access::inc, 0), global_reduce("s", Access::inc)}, testing::edges_to_nodes());
  const auto chunk = [&loop](Strategy strategy, bool deterministic) {
    return testing::lowered(loop, strategy, testing::threads, Stage::narrow,
                            {.semantics = {.deterministic = deterministic}})
        .scratch.chunk;
  };
  EXPECT_EQ(chunk(Strategy::owner, false), 0);
  EXPECT_EQ(chunk(Strategy::owner, true), Tuning().deterministic_chunk);
  EXPECT_EQ(chunk(Strategy::colour, true), Tuning().deterministic_chunk);
  EXPECT_EQ(chunk(Strategy::block, true), -1);  // a slot a block
}

// -------------------------------------------------------------------------------------- results

/// Triangles over nodes in a strip: neighbours share two nodes, and the last entries of `rows` are
/// the same in every triangle, so that all meet there.
struct Strip {
  static constexpr std::int64_t n = 1500;  // enough for two threads
  static constexpr std::int64_t n_nodes = n + 3;

  Strip() {
    for (std::int32_t e = 0; e < n; ++e) {
      for (const std::int32_t node : {e, e + 1, static_cast<std::int32_t>(n_nodes - 1)}) {
        entries.push_back(node);
      }
    }
    table = std::make_shared<mesh::MapTable>(entries.data(), 4, n, 3, n_nodes);
  }

  std::vector<std::int32_t> entries;
  std::shared_ptr<mesh::MapTable> table;
};

/// Component c of what one element adds: every slot and component gets another value.
kernel::Expr share(int c) {
  return testing::literal(std::to_string(1 << c) + ".0");
}

ir::Loop sums() {
  return testing::make_loop_of("res",
                               {indirect("y", Access::inc, 0, 2), indirect("m", Access::max, 0, 1),
                                global_reduce("s", Access::inc)},
                               {{3, 0}}, share);
}

/// y, m and s of sums(), before or after the loop.
struct Values {
  std::vector<double> y = std::vector<double>(2 * Strip::n_nodes, 0.5);
  std::vector<double> m = std::vector<double>(Strip::n_nodes, 1.5);
  std::vector<double> s = {0.25};
  bool operator==(const Values&) const = default;
};

Values expected(const Strip& strip) {
  Values values;
  for (std::int64_t e = 0; e < Strip::n; ++e) {
    for (int slot = 0; slot < 3; ++slot) {
      const auto node = static_cast<std::size_t>(strip.table->at(e, slot));
      for (std::size_t c = 0; c < 2; ++c) {
        values.y[2 * node + c] += 1 << (2 * slot + static_cast<int>(c));
      }
      values.m[node] = std::max(values.m[node], static_cast<double>(1 << slot));
    }
    values.s[0] += 1.0;
  }
  return values;
}

runtime::ExecutablePtr compiled(const kir::Module& module, const ir::Loop& loop, Strategy strategy,
                                bool is_parallel, jit::Service& service) {
  const std::string text =
      cg::testing::unit_text(cg::print_source(module, cg::c_dialect(), /*line_markers=*/false, ""));
  std::vector<std::string> flags{"-Wall", "-Wextra", "-Werror", "-O1"};
  if (is_parallel) flags.emplace_back("-fopenmp");
  const jit::Loaded loaded = service.load(text, jit::Language::c, flags, "");
  auto made = exec::host_executable(module, loop, std::string(name_of(strategy)), false);
  made->launch = reinterpret_cast<op2_launch_v1>(loaded.library->symbol(module.launch_name));
  made->owner = loaded.library;
  return made;
}

/// Run sums() once.
Values result_of(const Strip& strip, Strategy strategy, const Facts& facts, const Options& options,
                 jit::Service& service) {
  const ir::Loop loop = sums();
  const kir::Module module = testing::lowered(loop, strategy, facts, Stage::narrow, options);
  Values values;
  const auto buffer = [](std::vector<double>& data) {
    return std::make_shared<mesh::Buffer>(data.data(), static_cast<std::int64_t>(8 * data.size()));
  };
  runtime::Binding binding;
  binding.arguments = {buffer(values.y), buffer(values.m), buffer(values.s)};
  binding.maps = {strip.table};
  binding.spaces = {0};
  binding.n_elements = Strip::n;
  const bool is_parallel = facts.lanes == Lanes::threads;
  runtime::PreparedLoop prepared(compiled(module, loop, strategy, is_parallel, service), binding,
                                 {.n_threads = is_parallel ? 2 : 1, .block_size = 100},
                                 std::make_shared<plan::PlanCache>(),
                                 std::make_shared<runtime::Timing>());
  prepared.run();
  return values;
}

TEST(LoweredLoops, GiveTheSameResultWhateverTheStrategy) {
  const jit::testing::TemporaryDirectory directory;
  jit::Service service(jit::testing::options_in(directory.path()));
  const Strip strip;
  const Values wanted = expected(strip);
  const ir::Loop loop = sums();
  for (const Facts& facts : {testing::one_lane, testing::threads}) {
    for (const Strategy strategy : testing::all_strategies) {
      if (!applicable(strategy, loop, facts, testing::no_facts(loop), {}).ok) continue;
      const Values values = result_of(strip, strategy, facts, {}, service);
      EXPECT_EQ(values.y, wanted.y) << name_of(strategy);
      EXPECT_EQ(values.m, wanted.m) << name_of(strategy);
      EXPECT_EQ(values.s, wanted.s) << name_of(strategy);
    }
  }
}

TEST(LoweredLoops, BothConventionsAndDeterministicChunksGiveTheSameResult) {
  const jit::testing::TemporaryDirectory directory;
  jit::Service service(jit::testing::options_in(directory.path()));
  const Strip strip;
  for (const Strategy strategy : {Strategy::owner, Strategy::scratch, Strategy::colour}) {
    for (const int convention : {1, 2}) {
      const Options options{.semantics = {.deterministic = true, .convention = convention}};
      EXPECT_EQ(result_of(strip, strategy, testing::threads, options, service), expected(strip))
          << name_of(strategy) << ", convention " << convention;
    }
  }
}

}  // namespace
}  // namespace op2::lower
