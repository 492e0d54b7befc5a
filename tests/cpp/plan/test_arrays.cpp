// SPDX-License-Identifier: BSD-3-Clause
#include "plan/arrays.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using abi::PlanArray;
using op2::testing::message_of;
using testing::path_map;

abi::Parameter parameter(PlanArray array, DType dtype, int number = 0) {
  return {"p", {dtype, true, true}, true, abi::Role::plan, number, array};
}

TEST(Arrays, AreFoundByNameAndNumber) {
  Arrays arrays;
  const std::vector<std::int32_t> first{1}, second{2};
  arrays.add(PlanArray::composed_rows, {first.data(), 4, 4});
  arrays.add(PlanArray::composed_rows, {second.data(), 4, 4}, 1);
  arrays.add(PlanArray::touched, {});
  EXPECT_EQ(arrays.at(parameter(PlanArray::composed_rows, DType::int32, 1)).data, second.data());
  EXPECT_EQ(arrays.at(parameter(PlanArray::touched, DType::int64)).data, nullptr);
  EXPECT_EQ(message_of<InternalError>(
                [&] { (void)arrays.at(parameter(PlanArray::composed_rows, DType::int64)); }),
            "plan array 'p' has entries of 4 bytes, and the generated code expects 8");
  EXPECT_EQ(message_of<InternalError>(
                [&] { (void)arrays.at(parameter(PlanArray::sizes, DType::int64)); }),
            "the plan has no array 'sizes' number 0, which 'p' refers to");
}

TEST(MakePlan, WithoutAPlanItemsAreElements) {
  const auto map = path_map(3);
  PlanCache cache;
  PlanRequest request;
  request.n_elements = 3;
  request.maps = {map.table};
  const LoopPlan plan = make_plan(request, cache);
  EXPECT_EQ(plan.n_items, 3);
  EXPECT_EQ(plan.tables, request.maps);
  EXPECT_EQ(plan.n_bytes, 0);
}

TEST(MakePlan, ArraysOutliveTheCache) {
  const auto map = path_map(6);
  LoopPlan plan;
  {
    PlanCache cache;
    PlanRequest request;
    request.spec.kind = abi::PlanKind::colours;
    request.n_elements = 6;
    request.maps = {map.table};
    request.conflicts = {{6, nullptr}, {{map.table, all_slots, 0}}};
    plan = make_plan(request, cache);
  }
  EXPECT_EQ(plan.n_colours, 2);
  const HostArray& elements = plan.arrays.at(parameter(PlanArray::elements, DType::int32));
  EXPECT_EQ(elements.n_bytes, 24);
  EXPECT_EQ(static_cast<const std::int32_t*>(elements.data)[1], 2);
}

TEST(MakePlan, PairsMayHaveCorners) {
  const testing::TestMap<> edge_cells({0, 1}, 2, 2);
  const testing::TestMap<> edge_nodes({2, 1}, 2, 4);
  const testing::TestMap<> cell_nodes({0, 1, 2, 3, 2, 1}, 3, 4);
  PlanCache cache;
  PlanRequest request;
  request.spec = {.kind = abi::PlanKind::padded,
                  .conflicts = {},
                  .occurrences = {},
                  .composed = {1},
                  .pairs = true,
                  .columns = 1};
  request.spec.corners = {{1, 2}};
  request.n_elements = 1;
  request.inverse = {{1, nullptr}, {{edge_cells.table, 0}, {edge_cells.table, 1}}};
  request.composed = {edge_nodes.table};
  request.corners = {{edge_nodes.table, cell_nodes.table}};
  const LoopPlan plan = make_plan(request, cache);
  const HostArray& codes = plan.arrays.at(parameter(PlanArray::corners, DType::uint8));
  ASSERT_EQ(codes.n_bytes, 2);
  const auto* values = static_cast<const std::uint8_t*>(codes.data);
  EXPECT_EQ(values[0], 2 * 2 + 8 * 1);
  EXPECT_EQ(values[1], 2 * 1 + 8 * 2);
  EXPECT_EQ(plan.n_bytes, 2 * 4 + 4 * 4 + 2);  // neighbours, rows, codes
}

}  // namespace
}  // namespace op2::plan
