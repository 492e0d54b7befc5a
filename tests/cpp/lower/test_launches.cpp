// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/overload.hpp"
#include "cg/dialect.hpp"
#include "cg/source.hpp"
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
    const exec::LaunchProgram program = exec::launch_program(module);
    ASSERT_FALSE(program.kernels.empty());
    EXPECT_FALSE(program.steps.empty());
    EXPECT_EQ(exec::read_launch_program(canonical(program), {module.argv.size(), loop.args.size()}),
              program);
  }
}

// ------------------------------------------------ what texts say of launches, against the program

/// One launch, as it was read off a program or a text.
struct ToldLaunch {
  std::string kernel;
  std::string grid;
  std::vector<std::string> loops = {};  ///< their variables, the outer one first
  bool operator==(const ToldLaunch&) const = default;
};
using Told = std::map<int, ToldLaunch>;  // by the number of the launch

void tell(const exec::LaunchProgram& program, const exec::Steps& steps,
          std::vector<std::string>& loops, Told& out) {
  constexpr std::array grids{" on lanes for ", " blocks", " in one block"};
  for (const exec::Step& step : steps) {
    std::visit(overload{[&](const exec::LaunchStep& launch) {
                          out[static_cast<int>(out.size()) + 1] = {
                              program.kernels.at(static_cast<std::size_t>(launch.kernel)).name,
                              grids.at(static_cast<std::size_t>(launch.grid)), loops};
                        },
                        [&](const exec::Repeat& repeat) {
                          loops.push_back(repeat.variable);
                          tell(program, repeat.body, loops, out);
                          loops.pop_back();
                        },
                        [&](const exec::When& when) { tell(program, when.then, loops, out); },
                        [](const auto& /*other*/) {}},
               step.node);
  }
}

/// What stands between @p before and the next @p after, each time.
std::vector<std::string> all_between(const std::string& line, const std::string& before,
                                     const std::string& after) {
  std::vector<std::string> found;
  for (std::size_t at = line.find(before); at != std::string::npos; at = line.find(before, at)) {
    at += before.size();
    found.push_back(line.substr(at, line.find(after, at) - at));
  }
  return found;
}

/// Comments stand above the kernel that they are about.
Told told_by(const std::string& text, std::size_t& n_phases) {
  Told out;
  std::map<int, ToldLaunch> above;
  int number = 1;  // where there is only one launch, nobody counts
  n_phases = 1;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// Phase ")) {
      std::istringstream words(line.substr(9));
      std::string of;
      words >> number >> of >> n_phases;
    } else if (line.starts_with("// Launched")) {
      ToldLaunch& launch = above[number];
      for (const char* grid : {" on lanes for ", " blocks", " in one block"}) {
        if (testing::contains(line, grid)) launch.grid = grid;
      }
      launch.loops = all_between(line, " for each ", " in [");
    } else if (testing::contains(line, "__global__ void ")) {
      for (auto& [i, launch] : above) {
        launch.kernel = line.substr(line.find("void ") + 5);
        launch.kernel.resize(launch.kernel.find('('));
        launch.kernel = launch.kernel.substr(launch.kernel.rfind(' ') + 1);
        out[i] = launch;
      }
      above.clear();
    }
  }
  return out;
}

TEST(Launches, AreTheOnesThatTextsTellOf) {
  const Facts fenced{.lanes = Lanes::grid, .atomics = true, .warp = 32, .fences = true};
  const Facts processor = testing::grid.on(/*is_processor=*/true, /*has_float64=*/true);
  std::size_t n_in_loops = 0;
  std::size_t most = 0;
  for (const Facts& facts : {testing::grid, fenced, processor}) {
    for (const bool is_fixed : {false, true}) {
      for (const bool has_sum : {false, true}) {
        std::vector<testing::NamedArg> args{testing::indirect("x", Access::read, 0),
                                            testing::indirect("y", Access::inc, 0)};
        if (has_sum) args.push_back(testing::global_reduce("s", Access::inc));
        const ir::Loop loop = testing::make_loop(args, testing::edges_to_nodes());
        Options options;
        options.semantics.deterministic = is_fixed;
        for (const Strategy strategy : {Strategy::atomic, Strategy::colour, Strategy::owner,
                                        Strategy::scratch, Strategy::block}) {
          // what blocks add, and in which order, is not fixed
          const bool is_free = strategy == Strategy::atomic || strategy == Strategy::block;
          if (is_fixed && is_free) continue;
          const kir::Module module =
              testing::lowered(loop, strategy, facts, Stage::narrow, options);
          const cg::Sections text =
              cg::print_source(module, cg::cuda_dialect(), /*line_markers=*/false, "");
          const exec::LaunchProgram program = exec::launch_program(module);
          Told expected;
          std::vector<std::string> loops;
          tell(program, program.steps, loops, expected);
          std::size_t n_phases = 0;
          EXPECT_EQ(told_by(text.wrappers, n_phases), expected) << text.wrappers;
          EXPECT_EQ(n_phases, expected.size()) << text.wrappers;
          for (const auto& [i, launch] : expected) n_in_loops += launch.loops.size();
          most = std::max(most, n_phases);
        }
      }
    }
  }
  EXPECT_GT(n_in_loops, 0U);
  EXPECT_EQ(most, 3U);  // scratch with a sum: results, sums of targets, and of blocks
}

}  // namespace
}  // namespace op2::lower
