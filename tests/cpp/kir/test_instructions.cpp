// SPDX-License-Identifier: BSD-3-Clause
#include "kir/instructions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/error.hpp"
#include "kir/dump.hpp"
#include "kir/verify.hpp"
#include "modules.hpp"

namespace op2::kir {
namespace {

constexpr Instruction all[] = {Instruction::arrive,          Instruction::fetch,
                               Instruction::lane_gather,     Instruction::lane_turn,
                               Instruction::lane_store,      Instruction::lane_add,
                               Instruction::lane_share,      Instruction::lane_pick,
                               Instruction::lane_pick_share, Instruction::lane_fold};

TEST(Instructions, EachHasARowAndSomethingThatItWrites) {
  for (const Instruction name : all) {
    const InstructionRow& row = row_of(name);
    EXPECT_EQ(row.name, name);
    EXPECT_TRUE(operand_of(name, 0).is_written);
    EXPECT_EQ(&operand_of(name, 9), &row.operands.at(row.n_operands() - 1));
  }
}

TEST(Instructions, KnowTheirScope) {
  const Stmt arrive{Intrinsic{Instruction::arrive, {}}};
  EXPECT_TRUE(has_scope(arrive, Scope::block));
  EXPECT_FALSE(has_scope(arrive, Scope::vectors));
  EXPECT_TRUE(is_instruction(arrive, Instruction::arrive));
  EXPECT_FALSE(is_instruction({Barrier{}}, Instruction::arrive));
  EXPECT_FALSE(has_scope({Barrier{}}, Scope::block));
}

TEST(Instructions, AddressesLeadToElements) {
  EXPECT_EQ(Expr{element_at(offset("x", name("n")))}, element("x", name("n")));
  EXPECT_EQ(Expr{element_at(name("x"))}, element("x", integer(0)));
  EXPECT_THROW((void)element_at(integer(1)), InternalError);
}

/// What verify() says of an instruction in a function that has `x` of numbers, a const `x_map`, and
/// vectors `v` and `w` of four lanes.
std::string said_of_instruction(Intrinsic intrinsic) {
  Module module = testing::every_node();
  Block& body = std::get<For>(module.functions[0].body[0].node).body;
  const VariableType type{DType::float64, false, false, 4};
  body.push_back({Decl{type, "v", 2, {}}});
  body.push_back({Decl{type, "w", 2, {}}});
  body.push_back({std::move(intrinsic)});
  try {
    verify(module);
  } catch (const InternalError& error) {
    const std::string text = error.what();
    return text.substr(0, text.find(": at"));
  }
  return "";
}

TEST(Instructions, OperandsAreVerified) {
  const VariableType four{DType::float64, false, false, 4};
  const Expr v = name("v");
  const Expr w = name("w");
  const Expr x = name("x");
  const auto add = [&](Expr sum, Expr pack, Expr live) {
    return said_of_instruction(
        {Instruction::lane_add, {std::move(sum), std::move(pack), std::move(live)}, four});
  };
  EXPECT_EQ(add(v, w, name("n")), "");
  EXPECT_EQ(add(x, w, name("n")), "wrap_res: 'x' is float64*");
  EXPECT_EQ(add(v, element("x", integer(0)), name("n")), "wrap_res: 'x[0]' is no array");
  EXPECT_EQ(add(v, w, v), "wrap_res: 'v' is float64x4*, no index");
  EXPECT_EQ(said_of_instruction({Instruction::lane_add, {v, w}, four}),
            "wrap_res: an instruction of 2 operands, not 3");
  EXPECT_EQ(said_of_instruction({Instruction::lane_fold, {x, v}, four}), "");
  EXPECT_EQ(
      said_of_instruction({Instruction::lane_fold, {x, v}, {DType::float32, false, false, 4}}),
      "wrap_res: 'x' is float64*");
  EXPECT_EQ(said_of_instruction({Instruction::fetch, {name("x_map"), name("x_map")}}),
            "wrap_res: 'x_map' is const");
  EXPECT_EQ(said_of_instruction({Instruction::arrive, {name("n"), name("x_map"), integer(1)}})
                .substr(0, 9),
            "wrap_res:");
}

TEST(Instructions, AGatherHasARowForEachLane) {
  const auto gather = [](int n) {
    Intrinsic made{Instruction::lane_gather, {name("v")}, {DType::float64, false, false, 4}, 2};
    for (int lane = 0; lane < n; ++lane) made.operands.push_back(offset("x", name("n")));
    return said_of_instruction(std::move(made));
  };
  EXPECT_EQ(gather(4), "");
  EXPECT_EQ(gather(3), "wrap_res: an instruction of 4 operands, not 5");
}

}  // namespace
}  // namespace op2::kir
