// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/binding.hpp"

#include "runtime/path_table.hpp"

namespace op2::runtime {
namespace {

plan::TableSpec table_spec(const Binding& binding, std::size_t i) {
  return path_table(binding.maps[i], binding.paths[i], binding.iteration, binding.items,
                    binding.n_elements);
}

plan::MapPointer table_of(const Binding& binding, std::size_t i, const plan::TableSpec& spec,
                          plan::PlanCache& plans, int n_threads) {
  return for_user(binding.map_users, i, [&] { return plans.table(spec, n_threads); });
}

bool has_rows(const Binding& binding, std::size_t i) {
  return i < binding.paths.size() && !binding.paths[i].rows.empty();
}

}  // namespace

plan::Elements elements_of(const Binding& binding) {
  const bool looked_up = binding.iteration.subset && binding.iteration.layers == Layers::none;
  return {binding.n_elements, looked_up ? binding.items.front() : nullptr, binding.n_boundary};
}

plan::MapPointer targets_of(const Binding& binding, int map, plan::PlanCache& plans,
                            int n_threads) {
  const auto i = static_cast<std::size_t>(map);
  const bool is_extruded = binding.iteration.layers != Layers::none;
  if (!is_extruded && !has_rows(binding, i)) return binding.maps[i];
  const plan::TableSpec spec =
      is_extruded ? table_spec(binding, i) : path_table(binding.maps[i], binding.paths[i]);
  return table_of(binding, i, spec, plans, n_threads);
}

std::vector<plan::Occurrence> occurrences_of(const Binding& binding, int map,
                                             plan::PlanCache& plans, int n_threads) {
  const auto i = static_cast<std::size_t>(map);
  plan::MapPointer table = binding.maps[i];
  std::vector<plan::Occurrence> found;
  if (binding.iteration.layers != Layers::none) {
    table = table_of(binding, i, table_spec(binding, i), plans, n_threads);
  } else if (has_rows(binding, i)) {
    for (const RowRef& row : binding.paths[i].rows) found.push_back({table, row.slot});
    return found;
  }
  for (int slot = 0; slot < table->arity(); ++slot) found.push_back({table, slot});
  return found;
}

plan::InverseSpec inverse_of(const Binding& binding, const std::vector<int>& maps,
                             plan::IncidenceOrder order, plan::PlanCache& plans, int n_threads,
                             bool all_targets) {
  plan::InverseSpec spec;
  spec.elements = elements_of(binding);
  if (all_targets) {
    spec.elements.n_boundary = 0;
    spec.n_first = binding.n_first_targets;
  }
  spec.order = order;
  spec.origin = plan::EntryOrigin::position;
  std::int64_t n_targets = 0;
  for (const int map : maps) {
    const std::vector<plan::Occurrence> rows = occurrences_of(binding, map, plans, n_threads);
    n_targets = rows.front().map->n_targets();
    spec.occurrences.insert(spec.occurrences.end(), rows.begin(), rows.end());
  }
  const auto n_entries = binding.n_elements * static_cast<std::int64_t>(spec.occurrences.size());
  spec.touched_only = !all_targets && n_entries < n_targets;
  return spec;
}

plan::InverseSpec whole_inverse_of(const Binding& binding, const std::vector<int>& maps,
                                   plan::IncidenceOrder order, plan::PlanCache& plans,
                                   int n_threads) {
  plan::InverseSpec spec = inverse_of(binding, maps, order, plans, n_threads, true);
  spec.elements = {spec.occurrences.front().map->n_rows(), nullptr};
  return spec;
}

}  // namespace op2::runtime
