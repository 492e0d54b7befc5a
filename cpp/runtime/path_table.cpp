// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/path_table.hpp"

namespace op2::runtime {

plan::TableSpec path_table(const plan::MapPointer& map, const MapRef& path,
                           const Iteration& iteration,
                           const std::vector<std::shared_ptr<mesh::MapTable>>& items,
                           std::int64_t n) {
  plan::TableSpec spec;
  spec.map = map;
  spec.n = n;
  spec.periodic = iteration.periodic;
  for (const RowRef& row : path.rows) {
    spec.rows.push_back({row.slot, row.offset, row.quotient, row.above});
  }
  if (iteration.layers == Layers::variable) {
    spec.columns = items[0];
    spec.levels = items[1];
    spec.bounds = items[2];
    return spec;
  }
  const mesh::MapTable& layers = *items[0];
  spec.n_visited = layers.at(0, 0);
  spec.first_level = layers.at(0, 1);
  spec.n_levels = layers.at(0, 3);
  if (iteration.subset) spec.columns = items[1];
  return spec;
}

plan::TableSpec path_table(const plan::MapPointer& map, const MapRef& path) {
  plan::TableSpec spec;
  spec.map = map;
  spec.n = map->n_rows();
  for (const RowRef& row : path.rows) spec.rows.push_back({row.slot, 0, 0, 0});
  return spec;
}

}  // namespace op2::runtime
