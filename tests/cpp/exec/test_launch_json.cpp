// SPDX-License-Identifier: BSD-3-Clause
#include "exec/launch_json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace op2::exec {
namespace {

TEST(LaunchJson, HasAllKindsOfSteps) {
  const auto number = [](std::int64_t n) { return Value{Number{n}}; };
  const Value colour{Variable{"colour"}};
  const Value next{Operation{Operator::add, {colour, number(1)}}};
  LaunchProgram program;
  program.kernels = {{"res_0", 128}};
  LaunchStep launch{0, GridKind::items, {Entry{1, 4, {next}}}, {}};
  launch.arguments = {MemorySlot{false, 0}, MemorySlot{true, 0}, Value{BlocksOf{{number(9)}}},
                      Value{Operation{Operator::least, {number(-1), Value{StrideOf{0}}}}}};
  const When when{{Choice{{Value{IsThere{1}}, number(1), number(0)}}}, {{launch}}};
  program.steps = {{Set{"n", number(3)}},
                   {Allocate{0, 8, {Variable{"n"}}, true}},
                   {Repeat{"colour", number(0), {Variable{"n"}}, {{when}}}}};
  std::array<abi::Parameter, 2> arguments;
  arguments[0].name = "arg0";
  arguments[1].name = "offset";
  arguments[1].role = abi::Role::plan;
  std::string expected =
      "[{'step': 'set', 'variable': 'n', 'value': '3'}, "
      "{'step': 'allocate', 'memory': 'scratch0', 'bytes': 'n * 8', 'zero': true}, "
      "{'step': 'repeat', 'variable': 'colour', 'begin': '0', 'end': 'n', 'body': "
      "[{'step': 'when', 'condition': 'is_there(offset) ? 1 : 0', 'then': "
      "[{'step': 'launch', 'kernel': 'res_0', 'most_lanes': 128, 'grid': 'items', "
      "'items': 'offset[colour + 1]', 'arguments': ['arg0', 'scratch0', "
      "'blocks_for(9)', 'least(-1, stride_of(arg0))']}]}]}]";
  std::ranges::replace(expected, '\'', '"');
  EXPECT_EQ(launch_json(program, arguments), expected);
  EXPECT_EQ(launch_json({}, {}), "[]");
}

TEST(LaunchJson, NamesAllKindsOfGrids) {
  for (std::size_t kind = 0; kind < grid_names.size(); ++kind) {
    LaunchProgram program;
    program.kernels = {{"k", 32}};
    program.steps = {{LaunchStep{0, static_cast<GridKind>(kind), {Number{1}}, {}}}};
    const std::string name(grid_names[kind]);
    EXPECT_NE(launch_json(program, {}).find("\"grid\": \"" + name + '"'), std::string::npos);
    EXPECT_EQ(read_launch_program(canonical(program), {}), program);
  }
}

}  // namespace
}  // namespace op2::exec
