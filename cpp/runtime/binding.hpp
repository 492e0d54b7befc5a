// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/paths.hpp"
#include "mesh/buffer.hpp"
#include "mesh/map_table.hpp"
#include "plan/plan_cache.hpp"

namespace op2::runtime {

/// @brief The data of one loop, in the order of its symbolic form.
struct Binding {
  std::vector<std::shared_ptr<mesh::Buffer>> arguments;  ///< one for each argument
  std::vector<std::shared_ptr<mesh::Buffer>> constants;
  std::vector<std::shared_ptr<mesh::MapTable>> maps;  ///< unique Maps
  std::vector<int> spaces;         ///< of each Map: Maps of equal space lead to the same memory
  std::int64_t n_elements = 0;     ///< work items
  std::vector<MapRef> paths = {};  ///< of each Map: the entries used; empty: all, in order
  Iteration iteration = {};
  /// Lists of the elements behind the items: lower::item_locals.
  std::vector<std::shared_ptr<mesh::MapTable>> items = {};
  std::vector<plan::PositionSpec> matrices;  ///< one for each matrix among the arguments
  /// Of each matrix the paths to rows and to columns, as numbers of Maps.
  std::vector<std::pair<int, int>> matrix_paths = {};
  /// For messages: the first argument by each Map, and the argument of each matrix; empty: unknown.
  std::vector<int> map_users = {};
  std::vector<int> matrix_users = {};
  std::int64_t n_boundary = 0;  ///< of the work items, the last ones: plan::Elements
  /// Where a loop visits all targets: only the first so many, those of the process; -1: all.
  std::int64_t n_first_targets = -1;
};

/// @brief Run an action for an argument of a loop; errors name the argument.
/// @param[in] users Binding::map_users or matrix_users.
template <class Action>
auto for_user(const std::vector<int>& users, std::size_t i, const Action& action)
    -> decltype(action()) {
  try {
    return action();
  } catch (const UsageError& error) {
    if (i >= users.size()) throw;
    throw UsageError(fmt::format("arg {}: {}", users[i], error.what()));
  }
}

/// @brief Run an action for a loop; errors name the loop.
template <class Action>
auto for_loop(const std::string& name, const Action& action) -> decltype(action()) {
  try {
    return action();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("par_loop '{}': {}", name, error.what()));
  }
}

/// @brief The elements behind the items of a loop, for plans.
[[nodiscard]] plan::Elements elements_of(const Binding& binding);

/// @brief The targets of a path: the Map itself, or the plan's table where the rows differ from the
/// Map's.
[[nodiscard]] plan::MapPointer targets_of(const Binding& binding, int map, plan::PlanCache& plans,
                                          int n_threads);

/// @brief The places of the rows of an argument through a Map, in order.
[[nodiscard]] std::vector<plan::Occurrence> occurrences_of(const Binding& binding, int map,
                                                           plan::PlanCache& plans, int n_threads);

/// @brief The inverse of some Maps of a loop, slot after slot, by position.
///
/// Only for touched targets, where the loop cannot touch all of them.
/// @param[in] all_targets For all targets whether touched or not, in their order whatever the
/// boundary.
[[nodiscard]] plan::InverseSpec inverse_of(const Binding& binding, const std::vector<int>& maps,
                                           plan::IncidenceOrder order, plan::PlanCache& plans,
                                           int n_threads, bool all_targets = false);

/// @brief The inverse of some Maps for all of their elements, which differ from the items of the
/// loop, and for all targets.
[[nodiscard]] plan::InverseSpec whole_inverse_of(const Binding& binding,
                                                 const std::vector<int>& maps,
                                                 plan::IncidenceOrder order, plan::PlanCache& plans,
                                                 int n_threads);

}  // namespace op2::runtime
