// SPDX-License-Identifier: BSD-3-Clause
#include "exec/block_rows.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"

namespace op2::exec {
namespace {

TEST(BlockRows, AreRefusedWhereTheirArraysDoNotFit) {
  std::vector<std::int64_t> offset{0, 1, 3};
  std::vector<std::int64_t> columns{0, 0, 1};
  std::vector<double> values(12, 1);
  const auto check = [&] { check_rows(BlockRows<std::int64_t>{2, 2, offset, columns, values}); };
  EXPECT_NO_THROW(check());
  columns[1] = 2;
  EXPECT_THROW(check(), UsageError);
  columns[1] = -1;
  EXPECT_THROW(check(), UsageError);
  columns[1] = 0;
  offset[1] = 4;
  EXPECT_THROW(check(), UsageError);
  offset[1] = 1;
  values.pop_back();
  EXPECT_THROW(check(), UsageError);
}

}  // namespace
}  // namespace op2::exec
