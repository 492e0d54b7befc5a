// SPDX-License-Identifier: BSD-3-Clause
#include "kir/nodes.hpp"

#include <gtest/gtest.h>

#include "kir/dump.hpp"
#include "modules.hpp"

namespace op2::kir {
namespace {

TEST(ExprFolding, AdditionOfZero) {
  EXPECT_EQ(integer(0) + name("a"), name("a"));
  EXPECT_EQ(name("a") + integer(0), name("a"));
  EXPECT_EQ(name("a") - integer(0), name("a"));
  EXPECT_EQ(dump(integer(0) - name("a")), "(0 - a)");
}

TEST(ExprFolding, MultiplicationByZeroAndOne) {
  EXPECT_EQ(integer(0) * name("a"), integer(0));
  EXPECT_EQ(name("a") * integer(0), integer(0));
  EXPECT_EQ(integer(1) * name("a"), name("a"));
  EXPECT_EQ(name("a") * integer(1), name("a"));
  EXPECT_EQ(name("a") / integer(1), name("a"));
  EXPECT_EQ(dump(name("a") * integer(2)), "(a * 2)");
}

TEST(ExprFolding, ConstantsAreAddedButNotDivided) {
  EXPECT_EQ(integer(2) + integer(3), integer(5));
  EXPECT_EQ(dump(integer(1) / name("a")), "(1 / a)");
}

TEST(ExprFolding, TheAddressOfTheFirstEntryIsTheArray) {
  EXPECT_EQ(offset("x", integer(0)), name("x"));
  EXPECT_EQ(offset("x", name("n") * integer(0)), name("x"));
  EXPECT_EQ(dump(offset("x", integer(1))), "&x[1]");
}

TEST(Module, KnowsWhetherItIsLaunched) {
  EXPECT_TRUE(has_kernels(testing::on_grid()));
  EXPECT_FALSE(has_kernels(testing::every_node()));
}

std::vector<int> sizes_of(const std::vector<RowPiece>& pieces) {
  std::vector<int> sizes;
  for (const RowPiece& piece : pieces) sizes.push_back(piece.size);
  return sizes;
}

TEST(RowPieces, AreAsWideAsLanesAndWhatIsLeftAllow) {
  EXPECT_EQ(sizes_of(row_pieces(3, 8)), (std::vector<int>{2, 1}));
  EXPECT_EQ(sizes_of(row_pieces(21, 8)), (std::vector<int>{8, 8, 4, 1}));
  EXPECT_EQ(sizes_of(row_pieces(4, 2)), (std::vector<int>{2, 2}));
  EXPECT_EQ(row_pieces(7, 4)[1].begin, 4);
  EXPECT_TRUE(row_pieces(0, 4).empty());
}

}  // namespace
}  // namespace op2::kir
