// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/task_row.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/error.hpp"
#include "runtime/value_tasks.hpp"

namespace op2::runtime {
namespace {

using Tasks = std::vector<std::shared_ptr<GraphTask>>;

std::shared_ptr<mesh::Buffer> over(std::vector<double>& values) {
  return std::make_shared<mesh::Buffer>(values.data(),
                                        static_cast<std::int64_t>(8 * values.size()));
}

TEST(TaskRow, RunsItsTasksInTheirOrder) {
  std::vector<double> x = {1, 2};
  std::vector<double> y = {3, 4};
  const auto one = over(x);
  const auto other = over(y);
  TaskRow row({std::make_shared<CopyTask>(nullptr, other, one),
               std::make_shared<FillTask>(nullptr, one, std::vector<std::byte>{})});
  EXPECT_EQ(row.size(), 2U);
  EXPECT_FALSE(row.run());
  EXPECT_EQ(x, (std::vector<double>{0, 0}));
  EXPECT_EQ(y, (std::vector<double>{1, 2}));
  EXPECT_FALSE(row.run());
  EXPECT_EQ(y, (std::vector<double>{0, 0}));
  EXPECT_EQ(one->version(), 2);
}

TEST(TaskRow, RefusesWhatIsNoTask) {
  EXPECT_THROW(TaskRow(Tasks{nullptr}), UsageError);
  EXPECT_FALSE(TaskRow(Tasks{}).run());
}

}  // namespace
}  // namespace op2::runtime
