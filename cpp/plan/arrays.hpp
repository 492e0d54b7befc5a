// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "base/abi_types.hpp"
#include "base/tuning.hpp"
#include "plan/conflict.hpp"
#include "plan/index_array.hpp"
#include "plan/inverse.hpp"
#include "plan/plan_cache.hpp"

namespace op2::plan {

/// @brief An array of a plan on the host, and who keeps it.
struct HostArray {
  const void* data = nullptr;  ///< null: absent, or empty
  std::int64_t n_bytes = 0;
  int entry_bytes = 0;  ///< 0: absent
  std::shared_ptr<const void> owner = nullptr;
};

/// @brief @p values, kept by @p owner.
template <class T, class Allocator>
[[nodiscard]] HostArray array_of(const std::vector<T, Allocator>& values,
                                 const std::shared_ptr<const void>& owner) {
  return {values.data(), bytes_of(values), static_cast<int>(sizeof(T)), owner};
}
/// @brief The same of indices of either width.
template <class... Vectors>
[[nodiscard]] HostArray array_of(const std::variant<Vectors...>& indices,
                                 const std::shared_ptr<const void>& owner) {
  return std::visit([&owner](const auto& values) { return array_of(values, owner); }, indices);
}

/// @brief The arrays of a loop's plan, by name: what runs, records and writes loops down looks them
/// up here.
class Arrays {
 public:
  /// @param[in] number Among the arrays of this name.
  void add(abi::PlanArray array, HostArray values, int number = 0);

  /// @brief What a parameter of role plan refers to.
  /// @throws InternalError if the plan has no such array, or its entries have another width than
  /// the generated code was told.
  [[nodiscard]] const HostArray& at(const abi::Parameter& parameter) const;

  /// @brief The same arrays for a launch over work items [begin, end), which sees the colours of
  /// these items only: those of others would be launches of nothing.
  /// @pre No colour has items on both sides of @p begin or @p end.
  [[nodiscard]] Arrays with_colours_of(std::int64_t begin, std::int64_t end) const;

 private:
  struct Entry {
    abi::PlanArray array;
    int number;
    HostArray values;
  };
  std::vector<Entry> entries_;
};

/// @brief What abi::CornerMaps names.
struct CornerTables {
  MapPointer of_elements;
  MapPointer of_targets;
};

/// @brief What the plan of a loop is made from.
struct PlanRequest {
  abi::PlanSpec spec;
  abi::Items items = abi::Items::elements;
  std::int64_t n_elements = 0;
  std::int64_t n_boundary = 0;   ///< of them, as Elements says; so say those of the fields below
  std::vector<MapPointer> maps;  ///< unique Maps
  ConflictSet conflicts;         ///< by conflicts_of()
  InverseSpec inverse;           ///< by Inversion::maps, if the plan has an inversion
  std::vector<InverseSpec> further;         ///< by Inversion::further
  std::vector<MapPointer> composed;         ///< targets of ComposedMaps::maps
  std::vector<CornerTables> corners = {};   ///< by the plan's corners
  std::vector<PositionSpec> matrices = {};  ///< all of the loop, for an EntriesPlan
  std::int64_t block_size = 0;  ///< elements of a block, wanted by the user; 0: by the size
  int n_threads = 1;
  Tuning tuning = {};
};

/// @brief The plan of a loop as it is launched.
struct LoopPlan {
  Arrays arrays;
  std::int64_t n_items = 0;
  /// Work items [0, n_core_items) use no element at the boundary. All if there is none; where a
  /// plan does not know, 0, which is always right.
  std::int64_t n_core_items = 0;
  std::int64_t n_colours = 0;
  std::int64_t n_bytes = 0;
  std::vector<MapPointer> tables;  ///< [maps] what the loop reads: they, or in the plan's order
};

/// @brief Maps whose targets differ between the elements, or blocks, of a colour; none if the plan
/// has no colours.
[[nodiscard]] std::vector<int> conflicts_of(const abi::PlanSpec& spec);

/// @brief The order of the incidences of a target in such a plan.
[[nodiscard]] IncidenceOrder incidence_order(const abi::PlanSpec& spec);

/// @brief Build what the strategy asks for, or find it in the cache.
[[nodiscard]] LoopPlan make_plan(const PlanRequest& request, PlanCache& plans);

}  // namespace op2::plan
