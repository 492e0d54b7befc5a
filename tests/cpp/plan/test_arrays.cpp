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

/// A loop over 20 elements of a path, the last ones of which are at a boundary.
PlanRequest request_with(const testing::TestMap<>& map, const abi::PlanSpec& spec,
                         std::int64_t n_boundary) {
  PlanRequest request;
  request.spec = spec;
  request.items = abi::inversion_of(spec) == nullptr ? abi::Items::elements : abi::Items::targets;
  request.n_elements = 20;
  request.n_boundary = n_boundary;
  request.maps = {map.table};
  request.block_size = 3;
  request.conflicts = {{20, nullptr, n_boundary}, {{map.table, all_slots, 0}}};
  request.inverse = {{20, nullptr, n_boundary}, {{map.table, 0}, {map.table, 1}}};
  request.inverse.order = incidence_order(spec);
  return request;
}

/// Blocks of a loop over 2^16 elements, each with some targets of its own.
std::int64_t n_blocks(int n_targets, std::int64_t n = 1 << 16) {
  const std::vector<std::int32_t> values(static_cast<std::size_t>(n * n_targets), 0);
  const auto map = std::make_shared<const mesh::MapTable>(values.data(), 4, n, n_targets, 1);
  PlanRequest request;
  request.spec = abi::BlocksPlan{std::vector{0}};
  request.n_elements = n;
  request.maps = {map};
  request.conflicts = {{n, nullptr, 0}, {{map, all_slots, 0}}};
  request.n_threads = 4;
  PlanCache cache;
  return make_plan(request, cache).n_items;
}

TEST(MakePlan, ElementsWithManyTargetsHaveSmallerBlocks) {
  EXPECT_EQ(n_blocks(2), 16);  // a light element: 4096 in a block
  EXPECT_EQ(n_blocks(3), 16);
  EXPECT_EQ(n_blocks(8), 64);
  EXPECT_EQ(n_blocks(27), 205);        // 320 elements in a block
  EXPECT_EQ(n_blocks(343, 2197), 69);  // two vectors of 16
  EXPECT_EQ(n_blocks(2, 2197), 9);     // at least 256 in a block
}

TEST(MakePlan, WorkItemsOfTheCoreAreCounted) {
  const auto map = path_map(20);  // 21 targets
  PlanCache cache;
  const auto counts = [&](const abi::PlanSpec& spec, std::int64_t n_boundary) {
    const LoopPlan plan = make_plan(request_with(map, spec, n_boundary), cache);
    return std::pair(plan.n_core_items, plan.n_items);
  };
  using Counts = std::pair<std::int64_t, std::int64_t>;
  using Specs = std::vector<abi::PlanSpec>;
  for (const auto& spec : Specs{abi::NoPlan{}, abi::ColoursPlan{{0}}, abi::InterleavedPlan{0}}) {
    EXPECT_EQ(counts(spec, 0), Counts(20, 20));
    EXPECT_EQ(counts(spec, 6), Counts(14, 20));
    EXPECT_EQ(counts(spec, 20), Counts(0, 20));
  }
  for (const auto& spec : Specs{abi::BlocksPlan{std::vector{0}}, abi::StagedPlan{{0}, 3, {}}}) {
    EXPECT_EQ(counts(spec, 0), Counts(7, 7));
    EXPECT_EQ(counts(spec, 6), Counts(5, 7));  // of 14 elements and of 6
    EXPECT_EQ(counts(spec, 20), Counts(0, 7));
  }
  const abi::EntriesPlan entries{3};
  EXPECT_EQ(counts(entries, 0), Counts(7, 7));
  EXPECT_EQ(counts(entries, 6), Counts(4, 7));  // the fifth block has two of the core
  for (const auto& spec :
       Specs{abi::InversePlan{{{0}}}, abi::PaddedPlan{{{0}}}, abi::PairsPlan{{{0}}}}) {
    EXPECT_EQ(counts(spec, 0), Counts(21, 21));
    EXPECT_EQ(counts(spec, 6), Counts(14, 21));
    EXPECT_EQ(counts(spec, 20), Counts(0, 21));
  }
  const abi::ColumnsPlan columns{{{0}}, 4};
  EXPECT_EQ(counts(columns, 0), Counts(6, 6));
  EXPECT_EQ(counts(columns, 6), Counts(3, 6));  // the fourth group has two of the core
  EXPECT_EQ(counts(columns, 20), Counts(0, 6));
}

TEST(MakePlan, APhaseSeesItsOwnColours) {
  const auto map = path_map(20);
  PlanCache cache;
  const LoopPlan plan = make_plan(request_with(map, abi::ColoursPlan{{0}}, 6), cache);
  const auto offset_of = [](const Arrays& arrays) {
    const HostArray& array = arrays.at(parameter(PlanArray::colour_offset, DType::int64));
    const auto* values = static_cast<const std::int64_t*>(array.data);
    const HostArray& sizes = arrays.at(parameter(PlanArray::sizes, DType::int64));
    EXPECT_EQ(*static_cast<const std::int64_t*>(sizes.data), array.n_bytes / 8 - 1);
    return std::vector<std::int64_t>(values, values + array.n_bytes / 8);
  };
  using Offsets = std::vector<std::int64_t>;
  EXPECT_EQ(offset_of(plan.arrays), (Offsets{0, 7, 14, 17, 20}));
  EXPECT_EQ(offset_of(plan.arrays.with_colours_of(0, 14)), (Offsets{0, 7, 14}));
  EXPECT_EQ(offset_of(plan.arrays.with_colours_of(14, 20)), (Offsets{14, 17, 20}));
  const LoopPlan inverse = make_plan(request_with(map, abi::InversePlan{{{0}}}, 6), cache);
  const Arrays same = inverse.arrays.with_colours_of(0, 14);
  EXPECT_EQ(same.at(parameter(PlanArray::touched, DType::int32)).data,
            inverse.arrays.at(parameter(PlanArray::touched, DType::int32)).data);
}

TEST(MakePlan, RowsOfOtherMapsMayReplaceTheIncidences) {
  const testing::TestMap<> map({2, 0, 1, 0}, 1, 3);
  const testing::TestMap<> other({4, 5, 6, 7}, 1, 8);
  PlanCache cache;
  const auto rows_of = [&](const abi::PlanSpec& spec) {
    PlanRequest request;
    request.spec = spec;
    request.n_elements = 4;
    request.maps = {map.table, other.table};
    request.inverse = {{4, nullptr}, {{map.table, 0}}};
    request.further = {request.inverse};
    request.composed = {other.table};
    request.items = abi::Items::targets;
    const LoopPlan plan = make_plan(request, cache);
    const HostArray& rows = plan.arrays.at(parameter(PlanArray::composed_rows, DType::int32));
    // the first array of incidences is that of the further inverse
    EXPECT_EQ(plan.arrays.at(parameter(PlanArray::incidences, DType::int32)).n_bytes, 16);
    const auto* values = static_cast<const std::int32_t*>(rows.data);
    return std::vector<std::int32_t>(values, values + rows.n_bytes / 4);
  };
  using Rows = std::vector<std::int32_t>;
  EXPECT_EQ(rows_of(abi::InversePlan{{{0}, true, {{0}}}, {{1}}, false}), (Rows{5, 7, 6, 4}));
  EXPECT_EQ(rows_of(abi::PaddedPlan{{{0}, true, {{0}}}, {{1}}, false}), (Rows{5, 6, 4, 7, -1, -1}));
}

TEST(MakePlan, SumsOfTargetsBehindAllElementsAreNoneOfTheCore) {
  const auto map = path_map(20);
  PlanCache cache;
  PlanRequest request = request_with(map, abi::InversePlan{{{0}}}, 6);
  request.items = abi::Items::elements;
  request.inverse.elements.n_boundary = 0;
  const LoopPlan plan = make_plan(request, cache);
  EXPECT_EQ(plan.n_core_items, 0);
  EXPECT_EQ(plan.n_items, 20);
}

TEST(MakePlan, ArraysOutliveTheCache) {
  const auto map = path_map(6);
  LoopPlan plan;
  {
    PlanCache cache;
    PlanRequest request;
    request.spec = abi::ColoursPlan{{0}};
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
  request.spec = abi::PairsPlan{{{0}}, {{1}}, 1, {{1, 2}}};
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

TEST(MakePlan, ColumnsOfPairsMayHaveCorners) {
  const testing::TestMap<> edge_cells({0, 1}, 2, 2);
  const testing::TestMap<> edge_nodes({2, 1}, 2, 4);
  const testing::TestMap<> cell_nodes({0, 1, 2, 3, 2, 1}, 3, 4);
  PlanCache cache;
  PlanRequest request;
  request.spec = abi::ColumnsPlan{{{0}, true}, 2, {{1}}, true, {{1, 2}}};
  request.n_elements = 1;
  request.inverse = {
      {1, nullptr}, {{edge_cells.table, 0}, {edge_cells.table, 1}}, IncidenceOrder::by_slot};
  request.composed = {edge_nodes.table};
  request.corners = {{edge_nodes.table, cell_nodes.table}};
  const LoopPlan plan = make_plan(request, cache);
  const HostArray& slots = plan.arrays.at(parameter(PlanArray::slot_columns, DType::int32));
  ASSERT_EQ(slots.n_bytes, 8);
  EXPECT_EQ(static_cast<const std::int32_t*>(slots.data)[0], 0);
  EXPECT_EQ(static_cast<const std::int32_t*>(slots.data)[1], 1);
  const HostArray& codes = plan.arrays.at(parameter(PlanArray::corners, DType::uint8));
  ASSERT_EQ(codes.n_bytes, 1);
  EXPECT_EQ(*static_cast<const std::uint8_t*>(codes.data), 1);  // the two cells differ
}

}  // namespace
}  // namespace op2::plan
