// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/flights.hpp"
#include "mesh/map_facts.hpp"
#include "plan/colouring.hpp"
#include "plan/conflict.hpp"
#include "plan/entries.hpp"
#include "plan/interleave.hpp"
#include "plan/inverse.hpp"
#include "plan/pairs.hpp"
#include "plan/positions.hpp"
#include "plan/slot_columns.hpp"
#include "plan/staging.hpp"
#include "plan/target_table.hpp"

namespace op2::plan {

/// @brief Plans by their sources: maps (identity and version) and the specification.
///
/// Weak: the cache knows maps without keeping them, and drops the plans of dead or changed maps at
/// the next build or count. The user of a plan holds the plan. Safe to call from several threads: a
/// plan is built once, outside the lock, so requests for other plans do not wait. Common parts of
/// several plans, such as an inverse, are plans too. Thread counts are not in the key: plans do not
/// depend on them.
class PlanCache {
 public:
  [[nodiscard]] std::shared_ptr<const BlockPlan> blocks(const ConflictSet& loop,
                                                        std::int64_t block_size, int n_threads);
  [[nodiscard]] std::shared_ptr<const ElementPlan> elements(const ConflictSet& loop, int n_threads);
  [[nodiscard]] std::shared_ptr<const InverseMap> inverse(const InverseSpec& spec, int n_threads);
  [[nodiscard]] std::shared_ptr<const PaddedInverse> padded(const InverseSpec& spec, int n_threads);

  [[nodiscard]] std::shared_ptr<const PairColumns> pairs(const InverseSpec& spec,
                                                         const PairLayout& layout, int n_threads);
  /// @brief A map composed with an inverse, in the columns of pairs().
  [[nodiscard]] std::shared_ptr<const IndexArray> composed_pairs(const MapPointer& map,
                                                                 const InverseSpec& spec,
                                                                 const PairLayout& layout,
                                                                 int index_bytes, int n_threads);

  /// @brief The entries of the elements among the entries of their targets, in the columns of
  /// pairs(): see corner_codes().
  [[nodiscard]] std::shared_ptr<const std::vector<std::uint8_t>> corners(
      const MapPointer& of_elements, const MapPointer& of_targets, const InverseSpec& spec,
      const PairLayout& layout, int n_threads);
  /// @brief The part of all incidences without a use of corner codes: see part_elsewhere(); of rows
  /// in groups the part of all columns without a common code.
  [[nodiscard]] double part_elsewhere(const MapPointer& of_elements, const MapPointer& of_targets,
                                      const InverseSpec& spec, const PairLayout& layout,
                                      int n_threads);
  /// @brief The part of the columns of pairs() in groups, from 0 to 1, with both slots or with
  /// missing incidences; 0 if there are no columns.
  [[nodiscard]] double part_mixed(const InverseSpec& spec, const PairLayout& layout, int n_threads);

  /// @brief For each row of an inverse 1 with incidences, else 0.
  [[nodiscard]] std::shared_ptr<const std::vector<std::uint8_t>> presence(const InverseSpec& spec,
                                                                          int n_threads);
  [[nodiscard]] std::shared_ptr<const SlotColumns> columns(const InverseSpec& spec,
                                                           const SlotLayout& layout, int n_threads);
  /// @brief Columns of @p further on the lanes of the columns of @p spec: see slot_columns_like().
  [[nodiscard]] std::shared_ptr<const SlotColumns> further_columns(const InverseSpec& spec,
                                                                   const InverseSpec& further,
                                                                   const SlotLayout& layout,
                                                                   int n_threads);
  /// @brief Columns of all targets in their order: see slot_columns_in_order().
  [[nodiscard]] std::shared_ptr<const SlotColumns> columns_in_order(const InverseSpec& spec,
                                                                    int lanes, int n_threads);
  /// @brief The filling of columns(). The columns are kept for the next request if the filling is
  /// @p least or more.
  [[nodiscard]] double column_fill(const InverseSpec& spec, const SlotLayout& layout, double least,
                                   int n_threads);
  /// @brief A map composed with columns(); see compose().
  [[nodiscard]] std::shared_ptr<const IndexArray> composed(const MapPointer& map,
                                                           const InverseSpec& spec,
                                                           const SlotLayout& layout,
                                                           int index_bytes, int n_threads);
  /// @brief The same in the order of the incidences of inverse(), or of padded().
  [[nodiscard]] std::shared_ptr<const IndexArray> composed_entries(const MapPointer& map,
                                                                   const InverseSpec& spec,
                                                                   bool is_padded, int index_bytes,
                                                                   int n_threads);
  [[nodiscard]] std::shared_ptr<const Positions> positions(const PositionSpec& spec, int n_threads);
  /// @brief The entries of a matrix that blocks of elements add to; finds positions(), too.
  [[nodiscard]] std::shared_ptr<const EntryBlocks> entries(const PositionSpec& spec,
                                                           const EntryLayout& layout,
                                                           int n_threads);
  /// @brief The targets of a map that blocks of elements add to; see list_targets().
  [[nodiscard]] std::shared_ptr<const EntryBlocks> targets(const MapPointer& map,
                                                           const TargetLayout& layout,
                                                           int n_threads);
  /// @brief The targets of a loop whose work items are not rows of its Maps. The pointer owns them.
  [[nodiscard]] MapPointer table(const TableSpec& spec, int n_threads);
  [[nodiscard]] std::shared_ptr<const StagedPlan> staged(const ConflictSet& loop,
                                                         const std::vector<MapPointer>& maps,
                                                         std::int64_t block_size, int n_threads);
  /// @brief The rows of a map for @p elements, interleaved by the targets of @p by; lanes add to @p
  /// window targets in memory at once. The pointer owns the rows.
  [[nodiscard]] MapPointer interleaved(const MapPointer& map, const MapPointer& by,
                                       const Elements& elements, std::int64_t window,
                                       int n_threads);
  /// @brief How far apart lanes side by side add to memory; see plan::scatter().
  [[nodiscard]] double scatter(const MapPointer& map, std::int64_t n, const ScatterLayout& layout);
  /// @brief The part of different targets among a block's entries; see plan::distinct_targets().
  [[nodiscard]] double distinct_targets(const MapPointer& map, std::int64_t n,
                                        std::int64_t block_size);
  [[nodiscard]] mesh::MapFacts facts(const MapPointer& map, std::int64_t n, int n_threads);
  /// @brief The largest number of entries with the same target; see mesh::largest_degree().
  [[nodiscard]] std::int64_t largest_degree(const MapPointer& map, std::int64_t n,
                                            const std::vector<int>& slots, int n_threads);

  /// @brief The content of the cache and the number of hits.
  struct Statistics {
    std::int64_t hits = 0;
    std::int64_t misses = 0;
    std::int64_t n_plans = 0;
    std::int64_t bytes = 0;
  };
  /// @brief Drops stale plans first, so n_plans and bytes count only usable plans.
  [[nodiscard]] Statistics statistics();

  /// @brief Forget all plans and counters. Plans in use stay alive with their users.
  void clear();

 private:
  using Words = std::vector<std::int64_t>;

  struct Dependence {
    std::weak_ptr<const mesh::MapTable> map;
    std::int64_t version;
  };
  struct Key {
    Words words;                          // kind, specification, addresses and versions of the maps
    std::vector<Dependence> dependences;  // the maps named by address in the words
    std::shared_ptr<const Sparsity> sparsity;  // the same; null: none
  };
  struct Entry {
    std::vector<Dependence> dependences;
    bool has_sparsity;
    std::weak_ptr<const Sparsity> sparsity;
    std::shared_ptr<const void> plan;  // of the type for the kind
    std::int64_t bytes;
  };
  struct Hash {
    std::size_t operator()(const Words& words) const;
  };

  class KeyBuilder;

  static bool is_stale(const Entry& entry);
  void purge();
  [[nodiscard]] std::optional<std::shared_ptr<const void>> find(const Key& key);
  void keep(const Key& key, std::shared_ptr<const void> plan, std::int64_t bytes);

  template <class Result, class Build>
  std::shared_ptr<const Result> find_or_build(const Key& key, const Build& build);

  std::mutex mutex_;  // guards everything below; never held while a plan is built
  Flights<std::shared_ptr<const void>, Words, Hash> flights_{mutex_};
  std::unordered_map<Words, Entry, Hash> entries_;
  std::int64_t hits_ = 0;
  std::int64_t misses_ = 0;
};

}  // namespace op2::plan
