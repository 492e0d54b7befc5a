// SPDX-License-Identifier: BSD-3-Clause
#include "lower/names_used.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace op2::lower {
namespace {

using Names = std::set<std::string>;

Names used_by(kir::Stmt stmt) {
  return names_used({std::move(stmt)});
}

TEST(NamesUsed, SeesEveryKindOfStatement) {
  const kir::Rows rows{DType::float64, 1, 2, "x", "x_map", kir::name("n")};
  EXPECT_EQ(used_by({kir::Decl{{}, "new", 0, {kir::name("a") + kir::name("b")}}}),
            (Names{"a", "b"}));
  EXPECT_EQ(used_by({kir::Assign{kir::element("y", kir::name("i")), kir::Update::add,
                                 kir::element("z", kir::name("j"))}}),
            (Names{"i", "j", "y", "z"}));
  EXPECT_EQ(used_by({kir::Atomic{DType::int32, kir::element("y", kir::name("i")), kir::Update::min,
                                 kir::name("v")}}),
            (Names{"i", "v", "y"}));
  EXPECT_EQ(used_by({kir::CallUser{{kir::offset("q", kir::name("n")), kir::name("g")}}}),
            (Names{"g", "n", "q"}));
  EXPECT_EQ(used_by({kir::Call{"wrap", {kir::name("begin")}}}), (Names{"begin"}));
  EXPECT_EQ(used_by({kir::Gather{"pack", rows}}), (Names{"n", "pack", "x", "x_map"}));
  EXPECT_EQ(used_by({kir::Scatter{"pack", rows, kir::Update::add, kir::Sync::none}}),
            (Names{"n", "pack", "x", "x_map"}));
}

TEST(NamesUsed, SeesWhatALoopStepsBy) {
  kir::For loop{kir::Axis::serial, "i", kir::name("from"), kir::name("to"), {}};
  loop.step_name = "stride";
  EXPECT_EQ(used_by({loop}), (Names{"from", "stride", "to"}));
}

TEST(NamesUsed, LooksIntoNestedStatements) {
  const kir::Stmt inner{kir::CallUser{{kir::name("deep")}}};
  EXPECT_EQ(
      used_by({kir::For{kir::Axis::serial, "i", kir::name("from"), kir::name("to"), {inner}}}),
      (Names{"deep", "from", "to"}));
  EXPECT_EQ(used_by({kir::If{kir::less(kir::name("a"), kir::integer(1)), {inner}}}),
            (Names{"a", "deep"}));
  EXPECT_EQ(used_by({kir::Region{{inner}}}), (Names{"deep"}));
}

TEST(NamesUsed, SeesEveryKindOfExpression) {
  EXPECT_EQ(used_by({kir::CallUser{{kir::minimum(kir::name("a"), kir::name("b")),
                                    kir::select(kir::name("c"), kir::name("d"), kir::name("e")),
                                    kir::scratch_at(kir::name("f")), kir::widen(kir::name("g")),
                                    kir::equal(kir::name("h"), kir::integer(1)),
                                    kir::builtin(kir::Builtin::n_threads)}}}),
            (Names{"a", "b", "c", "d", "e", "f", "g", "h"}));
}

}  // namespace
}  // namespace op2::lower
