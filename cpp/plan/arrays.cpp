// SPDX-License-Identifier: BSD-3-Clause
#include "plan/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/error.hpp"
#include "base/plan_arrays.hpp"
#include "plan/at.hpp"

namespace op2::plan {
namespace {

using abi::PlanArray;

HostArray numbers(std::vector<std::int64_t> values) {
  const auto held = std::make_shared<const std::vector<std::int64_t>>(std::move(values));
  return array_of(*held, held);
}

/// Targets of an element in one space, divided by two; at least 1. An element with more targets
/// takes longer and has more neighbours, so that smaller blocks, and more, keep all threads busy.
std::int64_t pairs_of_targets(const ConflictSet& conflicts) {
  std::map<int, std::int64_t> targets;
  for (const auto& [map, slot, space] : conflicts.conflicts) {
    const std::int64_t n_rows = std::max<std::int64_t>(map->n_rows(), 1);
    targets[space] += slot != all_slots ? 1 : (map->begin(map->n_rows()) - map->begin(0)) / n_rows;
  }
  std::int64_t most = 2;
  for (const auto& [space, n] : targets) most = std::max(most, n);
  return most / 2;
}

/// Few colours and little revisiting between blocks, and still many to balance with
/// (docs/notebook). Small loops are cut so that every thread has some.
std::int64_t size_of_blocks(const abi::BlocksPlan& spec, const PlanRequest& request) {
  constexpr std::int64_t most_blocks = 8;  // times as many, for elements with many targets
  constexpr std::int64_t whole_vectors = 16;
  const std::int64_t n = request.n_elements;
  const Tuning& tuning = request.tuning;
  if (!spec.conflicts) return std::max<std::int64_t>(n, 1);
  if (request.block_size > 0) return request.block_size;
  const std::int64_t pairs = pairs_of_targets(request.conflicts);
  const std::int64_t least = std::min<std::int64_t>(
      std::max(tuning.least_block_elements / pairs, whole_vectors), tuning.least_block_elements);
  const std::int64_t most = std::max(least, tuning.block_elements / pairs);
  const std::int64_t n_blocks =
      tuning.blocks_a_thread * std::min(pairs, most_blocks) * request.n_threads;
  const std::int64_t size = std::clamp(n / n_blocks, least, most);
  return pairs == 1 ? size : (size + whole_vectors - 1) / whole_vectors * whole_vectors;
}

void use(const abi::NoPlan& /*spec*/, const PlanRequest& request, PlanCache& /*plans*/,
         LoopPlan& plan) {
  plan.n_core_items = request.n_elements - request.n_boundary;
}

void use(const abi::BlocksPlan& spec, const PlanRequest& request, PlanCache& plans,
         LoopPlan& plan) {
  const auto blocks =
      plans.blocks(request.conflicts, size_of_blocks(spec, request), request.n_threads);
  plan.n_items = static_cast<std::int64_t>(blocks->block_of.size());
  plan.n_core_items = blocks->n_core_blocks;
  plan.n_colours = static_cast<std::int64_t>(blocks->colour_offset.size()) - 1;
  plan.n_bytes = blocks->bytes();
  plan.arrays.add(PlanArray::sizes, numbers({plan.n_colours}));
  plan.arrays.add(PlanArray::colour_offset, array_of(blocks->colour_offset, blocks));
  plan.arrays.add(PlanArray::block_of, array_of(blocks->block_of, blocks));
  plan.arrays.add(PlanArray::block_offset, array_of(blocks->block_offset, blocks));
}

void use(const abi::ColoursPlan& /*spec*/, const PlanRequest& request, PlanCache& plans,
         LoopPlan& plan) {
  const auto colours = plans.elements(request.conflicts, request.n_threads);
  plan.n_core_items = request.conflicts.elements.n_core();
  plan.n_colours = static_cast<std::int64_t>(colours->colour_offset.size()) - 1;
  plan.n_bytes = colours->bytes();
  plan.arrays.add(PlanArray::sizes, numbers({plan.n_colours}));
  plan.arrays.add(PlanArray::colour_offset, array_of(colours->colour_offset, colours));
  plan.arrays.add(PlanArray::elements, array_of(colours->elements, colours));
}

void use(const abi::StagedPlan& spec, const PlanRequest& request, PlanCache& plans,
         LoopPlan& plan) {
  std::vector<MapPointer> maps;
  for (const int map : spec.maps) {
    maps.push_back(request.maps[static_cast<std::size_t>(map)]);
  }
  const auto staged = plans.staged(request.conflicts, maps, spec.block_size, request.n_threads);
  plan.n_items = static_cast<std::int64_t>(staged->block_of.size());
  plan.n_core_items = staged->n_core_blocks;
  plan.n_colours = static_cast<std::int64_t>(staged->colour_offset.size()) - 1;
  plan.n_bytes = staged->bytes();
  int number = 0;
  for (const StagingList& list : staged->lists) {
    plan.arrays.add(PlanArray::staged_targets, array_of(list.targets, staged), number);
    plan.arrays.add(PlanArray::staged_positions, array_of(list.positions, staged), number++);
  }
  plan.arrays.add(PlanArray::n_staged, array_of(staged->n_targets, staged));
  plan.arrays.add(PlanArray::first_staged, array_of(staged->first_target, staged));
  plan.arrays.add(PlanArray::staged_blocks, array_of(staged->block_of, staged));
  plan.arrays.add(PlanArray::first_element, array_of(staged->first, staged));
  plan.arrays.add(PlanArray::n_elements, array_of(staged->n_elements, staged));
  plan.arrays.add(PlanArray::n_lane_colours, array_of(staged->n_thread_colours, staged));
  plan.arrays.add(PlanArray::lane_colour, array_of(staged->thread_colour, staged));
  plan.arrays.add(PlanArray::sizes, numbers({plan.n_colours}));
  plan.arrays.add(PlanArray::colour_offset, array_of(staged->colour_offset, staged));
}

void add_lists(const std::shared_ptr<const EntryBlocks>& lists, int number, LoopPlan& plan) {
  plan.n_bytes += lists->bytes();
  plan.arrays.add(PlanArray::first_entry, array_of(lists->first_entry, lists), number);
  plan.arrays.add(PlanArray::entry_place, array_of(lists->places, lists), number);
  plan.arrays.add(PlanArray::first_summand, array_of(lists->first_summand, lists), number);
  plan.arrays.add(PlanArray::summand, array_of(lists->summands, lists), number);
}

void use(const abi::EntriesPlan& spec, const PlanRequest& request, PlanCache& plans,
         LoopPlan& plan) {
  plan.n_items = (request.n_elements + spec.block_size - 1) / spec.block_size;
  // a block with elements on both sides is none of the core
  plan.n_core_items = (request.n_elements - request.n_boundary) / spec.block_size;
  plan.arrays.add(PlanArray::sizes, numbers({request.n_elements}));
  int number = 0;
  for (const abi::ListedMatrix& listed : spec.matrices) {
    const auto entries = plans.entries(
        request.matrices.at(at(listed.matrix)),
        {request.n_elements, spec.block_size, listed.row_dim, listed.col_dim, spec.place_bytes},
        request.n_threads);
    add_lists(entries, number++, plan);
  }
  for (const int map : spec.maps) {
    add_lists(
        plans.targets(request.maps.at(at(map)),
                      {request.n_elements, spec.block_size, spec.place_bytes}, request.n_threads),
        number++, plan);
  }
}

void use(const abi::InterleavedPlan& spec, const PlanRequest& request, PlanCache& plans,
         LoopPlan& plan) {
  const MapPointer& by = request.maps[at(spec.map)];
  const Elements elements{request.n_elements, nullptr, request.n_boundary};
  plan.n_core_items = elements.n_core();
  for (MapPointer& map : plan.tables) {
    map =
        plans.interleaved(map, by, elements, request.tuning.interleaved_window, request.n_threads);
    plan.n_bytes += (map->begin(request.n_elements) - map->begin(0)) * map->index_bytes();
  }
}

/// Work items are rows of an inverse, unless elements come first and rows after them: these rows
/// sum what all elements have left.
template <class Inverse>
void use_rows(const PlanRequest& request, const std::shared_ptr<const Inverse>& inverse,
              LoopPlan& plan) {
  if (request.items != abi::Items::elements) {
    plan.n_items = inverse->n_rows;
    plan.n_core_items = inverse->n_core_rows;
  }
  plan.n_bytes = inverse->bytes();
  HostArray touched = array_of(inverse->rows, inverse);
  if (!inverse->lists_rows) touched = {};
  plan.arrays.add(PlanArray::touched, std::move(touched));
}

/// How many arrays there are before those of further inverses.
struct Numbers {
  int offset;
  int entries;
};

/// Inverses of other members; their rows are those of the first one.
void use_further(const PlanRequest& request, PlanCache& plans, LoopPlan& plan, Numbers number) {
  int n_presences = 0;
  for (const InverseSpec& spec : request.further) {
    const auto inverse = plans.inverse(spec, request.n_threads);
    if (inverse->n_rows != plan.n_items) {
      throw InternalError(
          fmt::format("inverses of one loop have {} and {} rows", plan.n_items, inverse->n_rows));
    }
    plan.n_bytes += inverse->bytes();
    plan.arrays.add(PlanArray::incidence_offset, array_of(inverse->offset, inverse),
                    number.offset++);
    plan.arrays.add(PlanArray::incidences, array_of(inverse->entries, inverse), number.entries++);
    const auto presence = plans.presence(spec, request.n_threads);
    plan.n_bytes += bytes_of(*presence);
    plan.arrays.add(PlanArray::has_incidences, array_of(*presence, presence), n_presences++);
  }
}

/// Add the rows of each composed Map, as @p rows_of finds them.
template <class RowsOf>
void add_composed(const PlanRequest& request, LoopPlan& plan, const RowsOf& rows_of) {
  int number = 0;
  for (const MapPointer& map : request.composed) {
    const auto rows = rows_of(map);
    plan.arrays.add(PlanArray::composed_rows, array_of(*rows, rows), number++);
    plan.n_bytes += bytes_of(*rows);
  }
}

/// The array of all incidences, and Maps in the same order.
void use_entries(const auto& spec, const PlanRequest& request, PlanCache& plans,
                 HostArray incidences, bool is_padded, LoopPlan& plan) {
  if (spec.has_entries) plan.arrays.add(PlanArray::incidences, std::move(incidences));
  add_composed(request, plan, [&](const MapPointer& map) {
    return plans.composed_entries(map, request.inverse, is_padded, spec.composed.bytes,
                                  request.n_threads);
  });
  use_further(request, plans, plan,
              {.offset = is_padded ? 0 : 1, .entries = spec.has_entries ? 1 : 0});
}

void use(const abi::InversePlan& spec, const PlanRequest& request, PlanCache& plans,
         LoopPlan& plan) {
  const auto inverse = plans.inverse(request.inverse, request.n_threads);
  use_rows(request, inverse, plan);
  plan.arrays.add(PlanArray::sizes, numbers({inverse->n_rows}));
  plan.arrays.add(PlanArray::incidence_offset, array_of(inverse->offset, inverse));
  use_entries(spec, request, plans, array_of(inverse->entries, inverse), false, plan);
}

void add_corners(const PlanRequest& request, const PairLayout& layout, PlanCache& plans,
                 LoopPlan& plan) {
  int number = 0;
  for (const CornerTables& maps : request.corners) {
    const auto codes = plans.corners(maps.of_elements, maps.of_targets, request.inverse, layout,
                                     request.n_threads);
    plan.arrays.add(PlanArray::corners, array_of(*codes, codes), number++);
    plan.n_bytes += bytes_of(*codes);
  }
}

void use(const abi::PairsPlan& spec, const PlanRequest& request, PlanCache& plans, LoopPlan& plan) {
  const auto pairs =
      plans.pairs(request.inverse, {.width = spec.columns, .lanes = 0}, request.n_threads);
  use_rows(request, pairs, plan);
  plan.arrays.add(PlanArray::sizes, numbers({pairs->n_rows, pairs->width}));
  plan.arrays.add(PlanArray::neighbours, array_of(pairs->neighbours, pairs));
  add_composed(request, plan, [&](const MapPointer& map) {
    return plans.composed_pairs(map, request.inverse, {.width = spec.columns, .lanes = 0},
                                spec.composed.bytes, request.n_threads);
  });
  add_corners(request, {.width = spec.columns, .lanes = 0}, plans, plan);
  use_further(request, plans, plan, {.offset = 0, .entries = 0});
}

void use(const abi::PaddedPlan& spec, const PlanRequest& request, PlanCache& plans,
         LoopPlan& plan) {
  const auto inverse = plans.padded(request.inverse, request.n_threads);
  use_rows(request, inverse, plan);
  plan.arrays.add(PlanArray::sizes, numbers({inverse->n_rows, inverse->width}));
  use_entries(spec, request, plans, array_of(inverse->columns, inverse), true, plan);
}

void add_further(const std::shared_ptr<const SlotColumns>& columns, int number, LoopPlan& plan) {
  plan.arrays.add(PlanArray::column_offset, array_of(columns->column_offset, columns), number);
  plan.arrays.add(PlanArray::column_slot, array_of(columns->slot, columns), number);
  plan.arrays.add(PlanArray::column_elements, array_of(columns->elements, columns), number);
  plan.n_bytes += columns->bytes();
}

/// All targets in their order, the first inverse in columns of neighbours.
void use_pairs(const abi::ColumnsPlan& spec, const PlanRequest& request, PlanCache& plans,
               LoopPlan& plan) {
  const PairLayout layout{.width = 0, .lanes = spec.lanes};
  const auto pairs = plans.pairs(request.inverse, layout, request.n_threads);
  plan.n_items = (pairs->n_rows + spec.lanes - 1) / spec.lanes;
  plan.n_core_items = plan.n_items;
  plan.n_bytes = pairs->bytes();
  plan.arrays.add(PlanArray::sizes, numbers({pairs->n_rows, pairs->width}));
  plan.arrays.add(PlanArray::neighbours, array_of(pairs->neighbours, pairs));
  plan.arrays.add(PlanArray::slot_columns, array_of(pairs->slot_columns, pairs));
  add_composed(request, plan, [&](const MapPointer& map) {
    return plans.composed_pairs(map, request.inverse, layout, spec.composed.bytes,
                                request.n_threads);
  });
  add_corners(request, layout, plans, plan);
  int number = 0;
  for (const InverseSpec& further : request.further) {
    const auto more = plans.columns_in_order(further, spec.lanes, request.n_threads);
    add_further(more, number++, plan);
  }
}

void use(const abi::ColumnsPlan& spec, const PlanRequest& request, PlanCache& plans,
         LoopPlan& plan) {
  if (spec.are_pairs) return use_pairs(spec, request, plans, plan);
  const SlotLayout layout{spec.lanes, request.tuning.slot_window};
  const auto columns = plans.columns(request.inverse, layout, request.n_threads);
  plan.n_items = columns->n_groups();
  plan.n_core_items = columns->n_core_groups;
  plan.n_bytes = columns->bytes();
  plan.arrays.add(PlanArray::sizes, numbers({columns->n_rows}));
  plan.arrays.add(PlanArray::column_offset, array_of(columns->column_offset, columns));
  plan.arrays.add(PlanArray::column_slot, array_of(columns->slot, columns));
  plan.arrays.add(PlanArray::column_elements, array_of(columns->elements, columns));
  plan.arrays.add(PlanArray::column_targets, array_of(columns->targets, columns));
  add_composed(request, plan, [&](const MapPointer& map) {
    return plans.composed(map, request.inverse, layout, spec.composed.bytes, request.n_threads);
  });
  int number = 1;
  for (const InverseSpec& further : request.further) {
    const auto more = plans.further_columns(request.inverse, further, layout, request.n_threads);
    add_further(more, number++, plan);
  }
}

}  // namespace

void Arrays::add(abi::PlanArray array, HostArray values, int number) {
  entries_.push_back({array, number, std::move(values)});
}

const HostArray& Arrays::at(const abi::Parameter& parameter) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.array == parameter.array && entry.number == parameter.index;
  });
  if (found == entries_.end()) {
    throw InternalError(fmt::format("the plan has no array '{}' number {}, which '{}' refers to",
                                    facts_of(parameter.array).name, parameter.index,
                                    parameter.name));
  }
  const auto wanted = static_cast<int>(size_of(parameter.type.dtype));
  const int there = found->values.entry_bytes;
  if (there != 0 && there != wanted) {
    throw InternalError(
        fmt::format("plan array '{}' has entries of {} bytes, and the generated code expects {}",
                    parameter.name, there, wanted));
  }
  return found->values;
}

Arrays Arrays::with_colours_of(std::int64_t begin, std::int64_t end) const {
  Arrays out = *this;
  const auto entry_of = [&out](PlanArray array) {
    return std::find_if(out.entries_.begin(), out.entries_.end(),
                        [array](const Entry& entry) { return entry.array == array; });
  };
  const auto found = entry_of(PlanArray::colour_offset);
  if (found == out.entries_.end()) return out;
  HostArray& offset = found->values;
  const std::span all(static_cast<const std::int64_t*>(offset.data),
                      plan::at(offset.n_bytes / offset.entry_bytes));
  const auto colour_at = [&all](std::int64_t item) {
    return std::lower_bound(all.begin(), all.end(), item) - all.begin();
  };
  const std::int64_t first = colour_at(begin);
  const std::int64_t n_colours = colour_at(end) - first;
  offset.data = all.data() + first;
  offset.n_bytes = (n_colours + 1) * offset.entry_bytes;
  entry_of(PlanArray::sizes)->values = numbers({n_colours});
  return out;
}

std::vector<int> conflicts_of(const abi::PlanSpec& spec) {
  if (const auto* blocks = std::get_if<abi::BlocksPlan>(&spec)) {
    return blocks->conflicts.value_or(std::vector<int>{});
  }
  if (const auto* colours = std::get_if<abi::ColoursPlan>(&spec)) return colours->conflicts;
  if (const auto* staged = std::get_if<abi::StagedPlan>(&spec)) return staged->conflicts;
  return {};
}

IncidenceOrder incidence_order(const abi::PlanSpec& spec) {
  return std::holds_alternative<abi::ColumnsPlan>(spec) ? IncidenceOrder::by_slot
                                                        : IncidenceOrder::by_element;
}

LoopPlan make_plan(const PlanRequest& request, PlanCache& plans) {
  LoopPlan plan;
  plan.n_items = request.n_elements;
  plan.tables = request.maps;
  std::visit([&](const auto& spec) { use(spec, request, plans, plan); }, request.spec);
  if (request.n_boundary == 0) plan.n_core_items = plan.n_items;
  // a row without elements repeats one, though it may be the only one of its part
  if (request.n_boundary == request.n_elements && request.n_boundary > 0) plan.n_core_items = 0;
  return plan;
}

}  // namespace op2::plan
