// SPDX-License-Identifier: BSD-3-Clause
#include "lower/passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "loops.hpp"

namespace op2::lower {
namespace {

using NameSet = std::set<std::string>;

/// Names that a block declares: variables and loop indices.
NameSet declared_in(const kir::Block& block) {
  NameSet names;
  testing::for_each_stmt(block, [&names](const kir::Stmt& stmt) {
    if (const auto* decl = std::get_if<kir::Decl>(&stmt.node)) names.insert(decl->name);
    if (const auto* loop = std::get_if<kir::For>(&stmt.node)) names.insert(loop->index);
  });
  return names;
}

void expect_no_clash(const std::string& where, const std::vector<kir::Parameter>& parameters,
                     const kir::Block& body) {
  const NameSet declared = declared_in(body);
  for (const kir::Parameter& parameter : parameters) {
    EXPECT_FALSE(declared.contains(parameter.name)) << where << ": '" << parameter.name << "'";
  }
}

/// A parameter of the user's may have any name that the passes use for variables of their own.
TEST(Passes, NoVariableHidesAnArgument) {
  NameSet names{"x"};
  const auto loop_with = [](const std::string& name) {
    return testing::make_loop(
        {testing::indirect(name, Access::inc, 0), testing::global_reduce(name + "_2", Access::inc)},
        testing::edges_to_nodes());
  };
  for (const Strategy strategy : testing::all_strategies) {
    const kir::Module module = testing::lowered(loop_with("x"), strategy);
    names.merge(declared_in(module.launch));
    for (const kir::Function& function : module.functions) {
      names.merge(declared_in(function.body));
    }
  }
  EXPECT_GT(names.size(), 10U);
  for (const std::string& name : names) {
    for (const Strategy strategy : testing::all_strategies) {
      const kir::Module module = testing::lowered(loop_with(name), strategy);
      const std::string where(name_of(strategy));
      expect_no_clash(where, module.argv, module.launch);
      for (const kir::Function& function : module.functions) {
        expect_no_clash(where + " " + function.name, function.parameters, function.body);
      }
    }
  }
}

TEST(Passes, EveryStrategyDescribesItsArgvInAbiOrder) {
  ir::Loop loop =
      testing::make_loop({testing::indirect("x", Access::inc, 0), testing::global_read("g")},
                         testing::edges_to_nodes());
  for (const Strategy strategy : testing::all_strategies) {
    std::vector<kir::Role> roles;
    for (const kir::Parameter& parameter : testing::lowered(loop, strategy).argv) {
      roles.push_back(parameter.role);
    }
    EXPECT_TRUE(std::is_sorted(roles.begin(), roles.end())) << name_of(strategy);
    EXPECT_EQ(std::count(roles.begin(), roles.end(), kir::Role::data), 2);
    EXPECT_EQ(std::count(roles.begin(), roles.end(), kir::Role::map), 1);
    EXPECT_EQ(std::count(roles.begin(), roles.end(), kir::Role::local), 0);
  }
}

}  // namespace
}  // namespace op2::lower
