// SPDX-License-Identifier: BSD-3-Clause
#include "cg/array_comments.hpp"

#include <gtest/gtest.h>

namespace op2::cg {
namespace {

kir::Parameter array_parameter(kir::Role role, int index = 0,
                               kir::PlanArray array = kir::PlanArray::none) {
  return {"p", {DType::int64, true, true}, true, role, index, array};
}

TEST(ArrayComment, SaysShapeAndContents) {
  EXPECT_EQ(array_comment(array_parameter(kir::Role::plan, 0, kir::PlanArray::block_of)),
            "[n_blocks]: blocks by colour");
  const int second = abi::n_matrix_arrays;
  EXPECT_EQ(array_comment(array_parameter(kir::Role::matrix, second + abi::row_starts)),
            "[n_rows + 1]: where the blocks of each row begin");
  EXPECT_EQ(array_comment(array_parameter(kir::Role::matrix, second + abi::positions)),
            "[n_elements, row slots * column slots]: where in its row an entry's block is");
  EXPECT_EQ(array_comment(array_parameter(kir::Role::matrix, second + abi::position_begins)),
            "[n_elements + 1]: where the positions of each element begin");
}

TEST(ArrayComment, IsNotForTheUsersArraysNorForNumbers) {
  EXPECT_EQ(array_comment(array_parameter(kir::Role::data)), "");
  EXPECT_EQ(array_comment(array_parameter(kir::Role::map)), "");
  kir::Parameter number = array_parameter(kir::Role::plan, 0, kir::PlanArray::sizes);
  number.type.is_pointer = false;
  EXPECT_EQ(array_comment(number), "");
}

}  // namespace
}  // namespace op2::cg
