// SPDX-License-Identifier: BSD-3-Clause
#include "cg/schedule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace op2::cg {
namespace {

using Order = std::vector<std::size_t>;

Step step(Role role, std::optional<Effects> effects) {
  return {.text = "", .role = role, .effects = std::move(effects)};
}

Step fetch(const std::string& to, const Memory& from) {
  return step(Role::fetch, Effects{{from}, {Variable{to}}});
}

Step store(const Memory& to, const std::string& from) {
  return step(Role::store, Effects{{Variable{from}}, {to}});
}

TEST(MayOverlap, TellsVariablesApartByName) {
  EXPECT_TRUE(may_overlap(Variable{"x"}, Variable{"x"}));
  EXPECT_FALSE(may_overlap(Variable{"x"}, Variable{"y"}));
  EXPECT_FALSE(may_overlap(Variable{"x"}, Memory{}));
}

TEST(MayOverlap, BelievesTagsOnlyWhereBothHaveThem) {
  EXPECT_TRUE(may_overlap(Memory{}, Memory{}));
  EXPECT_TRUE(may_overlap(Memory{"A", ""}, Memory{}));
  EXPECT_FALSE(may_overlap(Memory{"A", ""}, Memory{"B", ""}));
  EXPECT_TRUE(may_overlap(Memory{"A", "0"}, Memory{"A", ""}));
  EXPECT_TRUE(may_overlap(Memory{"A", "0"}, Memory{"A", "0"}));
  EXPECT_FALSE(may_overlap(Memory{"A", "0"}, Memory{"A", "1"}));
  // Index classes of unknown regions say nothing: the bases may differ.
  EXPECT_TRUE(may_overlap(Memory{"", "0"}, Memory{"", "1"}));
}

TEST(Schedule, DirectKeepsTheOrder) {
  const std::vector<Step> steps{store({}, "x"), fetch("y", {})};
  EXPECT_EQ(schedule(steps, Reorder::direct), (Order{0, 1}));
}

TEST(Schedule, MergeFasGroupsByKindBetweenFences) {
  const std::vector<Step> steps{store({}, "x"), fetch("y", {}), step(Role::fence, std::nullopt),
                                step(Role::arithm, std::nullopt), fetch("z", {})};
  EXPECT_EQ(schedule(steps, Reorder::merge_fas), (Order{1, 0, 2, 4, 3}));
}

TEST(Schedule, MergeFasMovesADeclarationOnlyPastWhatItDoesNotRead) {
  const Step free = step(Role::declare, Effects{{}, {Variable{"n"}}});
  const Step bound = step(Role::declare, Effects{{Variable{"y"}}, {Variable{"n"}}});
  const Step unknown = step(Role::declare, std::nullopt);
  const Step after = fetch("z", {});
  EXPECT_EQ(schedule(std::vector{store({}, "x"), fetch("y", {}), free}, Reorder::merge_fas),
            (Order{2, 1, 0}));
  EXPECT_EQ(schedule(std::vector{store({}, "x"), fetch("y", {}), bound}, Reorder::merge_fas),
            (Order{1, 0, 2}));
  EXPECT_EQ(schedule(std::vector{store({}, "x"), unknown, after}, Reorder::merge_fas),
            (Order{0, 1, 2}));
}

TEST(Schedule, CheckedMovesAFetchAcrossAStoreThatCannotReachIt) {
  const std::vector<Step> apart{store({"A", "0"}, "x"), fetch("y", {"A", "1"})};
  const std::vector<Step> maybe{store({"A", "0"}, "x"), fetch("y", {"A", ""})};
  EXPECT_EQ(schedule(apart, Reorder::merge_fas_checked), (Order{1, 0}));
  EXPECT_EQ(schedule(maybe, Reorder::merge_fas_checked), (Order{0, 1}));
}

TEST(Schedule, CheckedKeepsEveryKindOfDependence) {
  const Memory a{"A", ""};
  const Memory b{"B", ""};
  const auto arithm = [](const std::string& from, const std::string& to) {
    return step(Role::arithm, Effects{{Variable{from}}, {Variable{to}}});
  };
  // Write after read, read after write, write after write.
  EXPECT_EQ(schedule(std::vector{arithm("x", "y"), fetch("x", a)}, Reorder::merge_fas_checked),
            (Order{0, 1}));
  EXPECT_EQ(schedule(std::vector{store(a, "x"), arithm("x", "x"), store(b, "x")},
                     Reorder::merge_fas_checked),
            (Order{0, 1, 2}));
  EXPECT_EQ(schedule(std::vector{arithm("y", "x"), fetch("x", a)}, Reorder::merge_fas_checked),
            (Order{0, 1}));
}

TEST(Schedule, CheckedDoesNotCrossAStepOfUnknownEffects) {
  const std::vector<Step> steps{store({"A", ""}, "x"), step(Role::fetch, std::nullopt),
                                fetch("y", {"B", ""})};
  EXPECT_EQ(schedule(steps, Reorder::merge_fas_checked), (Order{0, 1, 2}));
}

TEST(MergedText, MergesRunsOfOneClusterOnly) {
  const auto made = [](const std::string& text, Role role, int cluster) {
    return Step{.text = text, .role = role, .cluster = cluster, .reorder = Reorder::merge_fas};
  };
  const std::vector<Step> steps{made("s1 ", Role::store, 1), made("f1 ", Role::fetch, 1),
                                made("s2 ", Role::store, 2), made("f2 ", Role::fetch, 2),
                                made("s0 ", Role::store, 0), made("f0 ", Role::fetch, 0),
                                made("f2 ", Role::fetch, 2)};
  EXPECT_EQ(merged_text(steps), "f1 s1 f2 s2 s0 f0 f2 ");
}

// --- random straight-line programs over variables and arrays that overlap ---

constexpr int n_variables = 4;
constexpr int n_cells = 6;

// `x = cell`, `x = 3 x + y + k` or `cell = x` on small machines with wrapping arithmetic.
struct Instruction {
  Role role;
  int x;
  int y;
  int cell;
  unsigned constant;
};

struct Machine {
  std::array<unsigned, n_variables> variables{};
  std::array<unsigned, n_cells> cells{};

  bool operator==(const Machine&) const = default;
};

void execute(Machine& machine, const Instruction& i) {
  unsigned& x = machine.variables.at(static_cast<std::size_t>(i.x));
  const unsigned y = machine.variables.at(static_cast<std::size_t>(i.y));
  unsigned& cell = machine.cells.at(static_cast<std::size_t>(i.cell));
  if (i.role == Role::fetch) x = cell;
  if (i.role == Role::arithm) x = 3 * x + y + i.constant;
  if (i.role == Role::store) cell = x;
}

// Cells 0-3 are region A, of which some accesses do not tell the index; 4 and 5 are region B, and
// any access may come without a tag at all, as through a pointer that aliases both.
Memory tagged(int cell, std::mt19937& random) {
  switch (random() % 3) {
    case 0:
      return {cell < 4 ? "A" : "B", std::to_string(cell)};
    case 1:
      return {cell < 4 ? "A" : "B", ""};
    default:
      return {};
  }
}

Step step_of(const Instruction& i, std::mt19937& random) {
  const Variable x{fmt::format("v{}", i.x)};
  const Variable y{fmt::format("v{}", i.y)};
  if (i.role == Role::fetch) return step(i.role, Effects{{tagged(i.cell, random)}, {x}});
  if (i.role == Role::arithm) return step(i.role, Effects{{x, y}, {x}});
  return step(i.role, Effects{{x}, {tagged(i.cell, random)}});
}

TEST(Schedule, CheckedKeepsTheResultOfRandomPrograms) {
  std::mt19937 random(5);
  const auto below = [&random](int n) { return static_cast<int>(random() % unsigned(n)); };
  constexpr std::array roles{Role::fetch, Role::arithm, Role::store};
  int n_reordered = 0;
  for (int program = 0; program < 2000; ++program) {
    std::vector<Instruction> instructions;
    std::vector<Step> steps;
    for (int i = 0; i < 12; ++i) {
      instructions.push_back({roles.at(random() % 3), below(n_variables), below(n_variables),
                              below(n_cells), unsigned(random() % 10)});
      steps.push_back(step_of(instructions.back(), random));
    }
    Machine in_order;
    std::iota(in_order.variables.begin(), in_order.variables.end(), 100U);
    std::iota(in_order.cells.begin(), in_order.cells.end(), 200U);
    Machine scheduled = in_order;
    const Order order = schedule(steps, Reorder::merge_fas_checked);
    for (const Instruction& i : instructions) execute(in_order, i);
    for (const std::size_t i : order) execute(scheduled, instructions.at(i));
    ASSERT_EQ(in_order, scheduled) << "program " << program;
    ASSERT_TRUE(std::ranges::is_permutation(order, schedule(steps, Reorder::direct)));
    n_reordered += std::ranges::is_sorted(order) ? 0 : 1;
  }
  EXPECT_GT(n_reordered, 500);
}

}  // namespace
}  // namespace op2::cg
