// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan_cache.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "plan/composed.hpp"

namespace op2::plan {
namespace {

/// What is left of columns that are not kept.
struct Fill {
  double fill = 1.0;
};

template <class Plan>
std::int64_t size_in_bytes(const Plan& plan) {
  if constexpr (requires { plan.bytes(); }) {
    return plan.bytes();
  } else if constexpr (requires { bytes_of(plan); }) {
    return bytes_of(plan);
  } else {
    return static_cast<std::int64_t>(sizeof(Plan));
  }
}

}  // namespace

/// Collects what a plan is derived from. The kind of plan comes first; lists go with their length,
/// so that no two specifications give the same words.
class PlanCache::KeyBuilder {
 public:
  enum class Kind : std::int64_t {
    blocks,
    elements,
    inverse,
    padded,
    pairs,
    composed_pairs,
    corners,
    part_elsewhere,
    presence,
    columns,
    further_columns,
    columns_in_order,
    column_fill,
    composed,
    composed_entries,
    facts,
    degree,
    table,
    staged,
    positions,
    interleaved,
    reordered,
    entries,
    targets,
    scatter,
    distinct
  };

  explicit KeyBuilder(Kind kind) { number(static_cast<std::int64_t>(kind)); }

  KeyBuilder& number(std::int64_t value) {
    key_.words.push_back(value);
    return *this;
  }

  /// Null is allowed: it means "no subset".
  KeyBuilder& map(const MapPointer& map) {
    static_assert(sizeof(std::intptr_t) <= sizeof(std::int64_t));
    number(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(map.get())));
    if (!map) return number(0);
    key_.dependences.push_back({map, map->version()});
    return number(key_.dependences.back().version);
  }

  KeyBuilder& elements(const Elements& elements) {
    return number(elements.n).number(elements.n_boundary).map(elements.subset);
  }

  KeyBuilder& conflicts(const ConflictSet& loop) {
    const std::vector<Conflict> kept = canonical(loop.conflicts);
    elements(loop.elements).number(static_cast<std::int64_t>(loop.origin)).map(loop.columns);
    number(static_cast<std::int64_t>(kept.size()));
    for (const Conflict& conflict : kept) {
      map(conflict.map).number(conflict.slot).number(conflict.space);
    }
    return *this;
  }

  KeyBuilder& inverse(const InverseSpec& spec) {
    elements(spec.elements).number(static_cast<std::int64_t>(spec.occurrences.size()));
    for (const Occurrence& occurrence : spec.occurrences) {
      map(occurrence.map).number(occurrence.slot);
    }
    return number(static_cast<std::int64_t>(spec.order))
        .number(static_cast<std::int64_t>(spec.origin))
        .number(spec.touched_only ? 1 : 0)
        .number(spec.n_first);
  }

  KeyBuilder& pairs(const PairLayout& layout) { return number(layout.width).number(layout.lanes); }

  KeyBuilder& columns(const InverseSpec& spec, const SlotLayout& layout) {
    return number(layout.lanes).number(layout.window).inverse(spec);
  }

  KeyBuilder& positions(const PositionSpec& spec) {
    number(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(spec.sparsity.get())));
    key_.sparsity = spec.sparsity;
    elements(spec.elements).map(spec.rows).map(spec.columns);
    return map(spec.row_mask)
        .map(spec.column_mask)
        .number(spec.row_dim)
        .number(spec.column_dim)
        .number(spec.bytes);
  }

  KeyBuilder& table(const TableSpec& spec) {
    map(spec.map).number(spec.n).number(static_cast<std::int64_t>(spec.rows.size()));
    for (const TableRow& row : spec.rows) {
      number(row.slot).number(row.offset).number(row.quotient).number(row.above);
    }
    map(spec.columns).map(spec.levels).map(spec.bounds);
    number(spec.n_visited).number(spec.first_level).number(spec.n_levels);
    return number(spec.periodic ? 1 : 0);
  }

  Key take() { return std::move(key_); }

 private:
  Key key_;
};

std::size_t PlanCache::Hash::operator()(const Words& words) const {
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()),
                               words.size() * sizeof(Words::value_type));
  return std::hash<std::string_view>{}(bytes);
}

bool PlanCache::is_stale(const Entry& entry) {
  if (entry.has_sparsity && entry.sparsity.expired()) return true;
  return std::any_of(entry.dependences.begin(), entry.dependences.end(),
                     [](const Dependence& dependence) {
                       const MapPointer map = dependence.map.lock();
                       return !map || map->version() != dependence.version;
                     });
}

void PlanCache::purge() {
  std::erase_if(entries_, [](const auto& item) { return is_stale(item.second); });
}

std::optional<std::shared_ptr<const void>> PlanCache::find(const Key& key) {
  const auto found = entries_.find(key.words);
  // A dead map's address may have been given to a new one: such an entry is stale, not a hit.
  if (found == entries_.end() || is_stale(found->second)) return std::nullopt;
  ++hits_;
  return found->second.plan;
}

void PlanCache::keep(const Key& key, std::shared_ptr<const void> plan, std::int64_t bytes) {
  ++misses_;
  purge();
  entries_.insert_or_assign(key.words, Entry{key.dependences, key.sparsity != nullptr, key.sparsity,
                                             std::move(plan), bytes});
}

template <class Result, class Build>
std::shared_ptr<const Result> PlanCache::find_or_build(const Key& key, const Build& build) {
  std::int64_t bytes = 0;
  const auto make = [&]() -> std::shared_ptr<const void> {
    auto made = std::make_shared<const Result>(build());
    bytes = size_in_bytes(*made);
    return made;
  };
  return std::static_pointer_cast<const Result>(flights_.join(
      key.words, [&] { return find(key); }, [this] { ++hits_; }, make,
      [&](const std::shared_ptr<const void>& plan) { keep(key, plan, bytes); }, {}));
}

std::shared_ptr<const BlockPlan> PlanCache::blocks(const ConflictSet& loop, std::int64_t block_size,
                                                   int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::blocks).number(block_size).conflicts(loop).take();
  return find_or_build<BlockPlan>(
      key, [&loop, block_size, n_threads] { return colour_blocks(loop, block_size, n_threads); });
}

std::shared_ptr<const ElementPlan> PlanCache::elements(const ConflictSet& loop, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::elements).conflicts(loop).take();
  return find_or_build<ElementPlan>(
      key, [&loop, n_threads] { return colour_elements(loop, n_threads); });
}

std::shared_ptr<const InverseMap> PlanCache::inverse(const InverseSpec& spec, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::inverse).inverse(spec).take();
  return find_or_build<InverseMap>(key, [&spec, n_threads] { return invert(spec, n_threads); });
}

std::shared_ptr<const PaddedInverse> PlanCache::padded(const InverseSpec& spec, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::padded).inverse(spec).take();
  return find_or_build<PaddedInverse>(
      key, [this, &spec, n_threads] { return pad(*inverse(spec, n_threads), n_threads); });
}

std::shared_ptr<const PairColumns> PlanCache::pairs(const InverseSpec& spec,
                                                    const PairLayout& layout, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::pairs).pairs(layout).inverse(spec).take();
  return find_or_build<PairColumns>(key, [this, &spec, &layout, n_threads] {
    return pair_columns(*inverse(spec, n_threads), *spec.occurrences.front().map, layout,
                        n_threads);
  });
}

std::shared_ptr<const IndexArray> PlanCache::composed_pairs(const MapPointer& map,
                                                            const InverseSpec& spec,
                                                            const PairLayout& layout,
                                                            int index_bytes, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::composed_pairs)
                      .map(map)
                      .pairs(layout)
                      .number(index_bytes)
                      .inverse(spec)
                      .take();
  return find_or_build<IndexArray>(key, [&, this] {
    return compose(*map, *inverse(spec, n_threads), layout, index_bytes, n_threads);
  });
}

std::shared_ptr<const std::vector<std::uint8_t>> PlanCache::corners(const MapPointer& of_elements,
                                                                    const MapPointer& of_targets,
                                                                    const InverseSpec& spec,
                                                                    const PairLayout& layout,
                                                                    int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::corners)
                      .map(of_elements)
                      .map(of_targets)
                      .pairs(layout)
                      .inverse(spec)
                      .take();
  return find_or_build<std::vector<std::uint8_t>>(key, [&, this] {
    return corner_codes(*of_elements, *of_targets, *inverse(spec, n_threads), layout, n_threads);
  });
}

double PlanCache::part_elsewhere(const MapPointer& of_elements, const MapPointer& of_targets,
                                 const InverseSpec& spec, const PairLayout& layout, int n_threads) {
  if (layout.lanes > 0) {
    const auto codes = corners(of_elements, of_targets, spec, layout, n_threads);
    const auto n = std::count(codes->begin(), codes->end(), 1);
    return codes->empty() ? 0.0 : static_cast<double>(n) / static_cast<double>(codes->size());
  }
  const Key key = KeyBuilder(KeyBuilder::Kind::part_elsewhere)
                      .map(of_elements)
                      .map(of_targets)
                      .inverse(spec)
                      .take();
  return *find_or_build<double>(key, [&, this] {
    return plan::part_elsewhere(*of_elements, *of_targets, *inverse(spec, n_threads), n_threads);
  });
}

double PlanCache::part_mixed(const InverseSpec& spec, const PairLayout& layout, int n_threads) {
  const auto columns = pairs(spec, layout, n_threads);
  const std::vector<std::int32_t>& slots = columns->slot_columns;
  std::int64_t n_mixed = 0;
  for (std::size_t i = 0; i + 1 < slots.size(); i += 2) n_mixed += slots[i + 1] - slots[i];
  const std::int64_t n = static_cast<std::int64_t>(slots.size() / 2) * columns->width;
  return n == 0 ? 0.0 : static_cast<double>(n_mixed) / static_cast<double>(n);
}

std::shared_ptr<const std::vector<std::uint8_t>> PlanCache::presence(const InverseSpec& spec,
                                                                     int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::presence).inverse(spec).take();
  return find_or_build<std::vector<std::uint8_t>>(
      key, [this, &spec, n_threads] { return present(*inverse(spec, n_threads)); });
}

std::shared_ptr<const SlotColumns> PlanCache::columns(const InverseSpec& spec,
                                                      const SlotLayout& layout, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::columns).columns(spec, layout).take();
  return find_or_build<SlotColumns>(key, [this, &spec, &layout, n_threads] {
    return slot_columns(*inverse(spec, n_threads), layout, n_threads);
  });
}

std::shared_ptr<const SlotColumns> PlanCache::further_columns(const InverseSpec& spec,
                                                              const InverseSpec& further,
                                                              const SlotLayout& layout,
                                                              int n_threads) {
  const Key key =
      KeyBuilder(KeyBuilder::Kind::further_columns).columns(spec, layout).inverse(further).take();
  return find_or_build<SlotColumns>(key, [&, this] {
    return slot_columns_like(*inverse(further, n_threads), *columns(spec, layout, n_threads),
                             n_threads);
  });
}

std::shared_ptr<const SlotColumns> PlanCache::columns_in_order(const InverseSpec& spec, int lanes,
                                                               int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::columns_in_order).number(lanes).inverse(spec).take();
  return find_or_build<SlotColumns>(key, [this, &spec, lanes, n_threads] {
    return slot_columns_in_order(*inverse(spec, n_threads), lanes, n_threads);
  });
}

double PlanCache::column_fill(const InverseSpec& spec, const SlotLayout& layout, double least,
                              int n_threads) {
  std::optional<SlotColumns> built;
  const auto words = [&spec, &layout](KeyBuilder::Kind kind) {
    return KeyBuilder(kind).columns(spec, layout).take();
  };
  const auto found = find_or_build<Fill>(words(KeyBuilder::Kind::column_fill), [&] {
    built = slot_columns(*inverse(spec, n_threads), layout, n_threads);
    return Fill{built->fill()};
  });
  if (built && found->fill >= least) {
    (void)find_or_build<SlotColumns>(words(KeyBuilder::Kind::columns),
                                     [&built] { return std::move(*built); });
  }
  return found->fill;
}

std::shared_ptr<const IndexArray> PlanCache::composed(const MapPointer& map,
                                                      const InverseSpec& spec,
                                                      const SlotLayout& layout, int index_bytes,
                                                      int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::composed)
                      .map(map)
                      .number(index_bytes)
                      .columns(spec, layout)
                      .take();
  const bool is_looked_up = spec.origin == EntryOrigin::position;
  const mesh::MapTable* subset = is_looked_up ? spec.elements.subset.get() : nullptr;
  return find_or_build<IndexArray>(key, [&, this] {
    return compose(*map, *columns(spec, layout, n_threads), subset, index_bytes, n_threads);
  });
}

std::shared_ptr<const IndexArray> PlanCache::composed_entries(const MapPointer& map,
                                                              const InverseSpec& spec,
                                                              bool is_padded, int index_bytes,
                                                              int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::composed_entries)
                      .map(map)
                      .number(is_padded ? 1 : 0)
                      .number(index_bytes)
                      .inverse(spec)
                      .take();
  return find_or_build<IndexArray>(key, [&, this] {
    return is_padded ? compose(*map, padded(spec, n_threads)->columns, index_bytes, n_threads)
                     : compose(*map, inverse(spec, n_threads)->entries, index_bytes, n_threads);
  });
}

std::shared_ptr<const Positions> PlanCache::positions(const PositionSpec& spec, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::positions).positions(spec).take();
  return find_or_build<Positions>(key,
                                  [&spec, n_threads] { return find_positions(spec, n_threads); });
}

std::shared_ptr<const EntryBlocks> PlanCache::entries(const PositionSpec& spec,
                                                      const EntryLayout& layout, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::entries)
                      .number(layout.n_elements)
                      .number(layout.block_size)
                      .number(layout.row_dim)
                      .number(layout.col_dim)
                      .number(layout.place_bytes)
                      .positions(spec)
                      .take();
  return find_or_build<EntryBlocks>(
      key, [&] { return list_entries(spec, *positions(spec, n_threads), layout, n_threads); });
}

std::shared_ptr<const EntryBlocks> PlanCache::targets(const MapPointer& map,
                                                      const TargetLayout& layout, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::targets)
                      .number(layout.n_elements)
                      .number(layout.block_size)
                      .number(layout.place_bytes)
                      .map(map)
                      .take();
  return find_or_build<EntryBlocks>(key, [&] { return list_targets(*map, layout, n_threads); });
}

MapPointer PlanCache::table(const TableSpec& spec, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::table).table(spec).take();
  const auto owner =
      find_or_build<TargetTable>(key, [&spec, n_threads] { return target_table(spec, n_threads); });
  return {owner, owner->map.get()};
}

std::shared_ptr<const StagedPlan> PlanCache::staged(const ConflictSet& loop,
                                                    const std::vector<MapPointer>& maps,
                                                    std::int64_t block_size, int n_threads) {
  KeyBuilder builder(KeyBuilder::Kind::staged);
  builder.number(block_size).conflicts(loop).number(static_cast<std::int64_t>(maps.size()));
  for (const MapPointer& map : maps) builder.map(map);
  return find_or_build<StagedPlan>(builder.take(), [&loop, &maps, block_size, n_threads] {
    return stage(loop, maps, block_size, n_threads);
  });
}

MapPointer PlanCache::interleaved(const MapPointer& map, const MapPointer& by,
                                  const Elements& elements, std::int64_t window, int n_threads) {
  const auto key_of = [&](KeyBuilder::Kind kind) {
    return KeyBuilder(kind).elements(elements).number(window).map(by);
  };
  const auto order = [&, this] {
    return find_or_build<Interleaved>(key_of(KeyBuilder::Kind::interleaved).take(),
                                      [&] { return interleave(*by, elements, window, n_threads); });
  };
  const Key key = key_of(KeyBuilder::Kind::reordered).map(map).take();
  const auto owner =
      find_or_build<TargetTable>(key, [&] { return reordered(*map, *order(), n_threads); });
  return {owner, owner->map.get()};
}

double PlanCache::scatter(const MapPointer& map, std::int64_t n, const ScatterLayout& layout) {
  const Key key = KeyBuilder(KeyBuilder::Kind::scatter)
                      .number(n)
                      .number(layout.window)
                      .number(layout.lanes)
                      .number(layout.sector_targets)
                      .map(map)
                      .take();
  return *find_or_build<double>(key, [&] { return plan::scatter(*map, n, layout); });
}

double PlanCache::distinct_targets(const MapPointer& map, std::int64_t n, std::int64_t block_size) {
  const Key key =
      KeyBuilder(KeyBuilder::Kind::distinct).number(n).number(block_size).map(map).take();
  return *find_or_build<double>(key, [&] { return plan::distinct_targets(*map, n, block_size); });
}

mesh::MapFacts PlanCache::facts(const MapPointer& map, std::int64_t n, int n_threads) {
  const Key key = KeyBuilder(KeyBuilder::Kind::facts).number(n).map(map).take();
  return *find_or_build<mesh::MapFacts>(
      key, [&map, n, n_threads] { return mesh::map_facts(*map, n, n_threads); });
}

std::int64_t PlanCache::largest_degree(const MapPointer& map, std::int64_t n,
                                       const std::vector<int>& slots, int n_threads) {
  KeyBuilder key(KeyBuilder::Kind::degree);
  key.number(n).map(map);
  for (const int slot : slots) key.number(slot);
  return *find_or_build<std::int64_t>(
      key.take(), [&] { return mesh::largest_degree(*map, n, slots, n_threads); });
}

PlanCache::Statistics PlanCache::statistics() {
  const std::lock_guard lock(mutex_);
  purge();
  Statistics found{hits_, misses_, static_cast<std::int64_t>(entries_.size()), 0};
  for (const auto& [words, entry] : entries_) found.bytes += entry.bytes;
  return found;
}

void PlanCache::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  hits_ = 0;
  misses_ = 0;
}

}  // namespace op2::plan
