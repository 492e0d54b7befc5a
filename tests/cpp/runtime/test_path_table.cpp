// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/path_table.hpp"

#include <gtest/gtest.h>

namespace op2::runtime {
namespace {

using Table = std::shared_ptr<mesh::MapTable>;

template <class T>
Table table(const std::vector<T>& values, int arity, std::int64_t n_targets) {
  const auto n = static_cast<std::int64_t>(values.size()) / arity;
  return std::make_shared<mesh::MapTable>(values.data(), static_cast<int>(sizeof(T)), n, arity,
                                          n_targets);
}

std::vector<std::int64_t> values_of(const plan::TableSpec& spec) {
  const plan::TargetTable found = plan::target_table(spec, 1);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < found.map->n_rows(); ++i) {
    for (int slot = 0; slot < found.map->arity(); ++slot) values.push_back(found.map->at(i, slot));
  }
  return values;
}

TEST(PathTable, EntriesInAnotherOrder) {
  const std::vector<std::int32_t> entries = {0, 1, 2, 3};
  const Table map = table(entries, 2, 4);
  const MapRef path{2, 0, 2, {{1, 0, 0, 0}, {0, 0, 0, 0}}};
  EXPECT_EQ(values_of(path_table(map, path)), (std::vector<std::int64_t>{1, 0, 3, 2}));
}

TEST(PathTable, CellsOfConstantLayers) {
  const std::vector<std::int32_t> entries = {0, 10};
  const std::vector<std::int64_t> layers = {2, 1, 0, 3};  // visited, first level, layer, levels
  const Table map = table(entries, 1, 20);
  const MapRef path{2, 0, 1, {{0, 1, 0, 0}, {0, 1, 0, 1}}};
  Iteration iteration;
  iteration.layers = Layers::constant;
  const std::vector<Table> items = {table(layers, 4, 100)};
  EXPECT_EQ(values_of(path_table(map, path, iteration, items, 4)),
            (std::vector<std::int64_t>{1, 2, 2, 3, 11, 12, 12, 13}));
}

TEST(PathTable, CellsOfVariableLayers) {
  const std::vector<std::int32_t> entries = {0, 10};
  const std::vector<std::int32_t> columns = {0, 1, 1};
  const std::vector<std::int32_t> levels = {0, 0, 1};
  const std::vector<std::int64_t> bounds = {0, 1, 0, 2};
  const Table map = table(entries, 1, 20);
  Iteration iteration;
  iteration.layers = Layers::variable;
  const std::vector<Table> items = {table(columns, 1, 2), table(levels, 1, 9), table(bounds, 2, 9)};
  const MapRef path{1, 0, 1, {{0, 2, 0, 0}}};
  EXPECT_EQ(values_of(path_table(map, path, iteration, items, 3)),
            (std::vector<std::int64_t>{0, 10, 12}));
}

}  // namespace
}  // namespace op2::runtime
