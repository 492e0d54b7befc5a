// SPDX-License-Identifier: BSD-3-Clause
#include "api/renumber.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/object_states.hpp"
#include "base/error.hpp"
#include "plan/permutation.hpp"
#include "runtime/host/threads.hpp"

namespace op2 {
namespace {

using Numbers = std::vector<std::int64_t>;
using Orders = std::map<const api::SetState*, Numbers>;
using Bytes = std::vector<std::byte>;

constexpr const char* who = "renumber";

const Numbers& found_in(const Orders& orders, const api::SetState* set) {
  static const Numbers unchanged;
  const auto found = orders.find(set);
  return found == orders.end() ? unchanged : found->second;
}

Numbers ordered(const std::vector<std::uint64_t>& keys, int n_threads) {
  const std::vector<std::int64_t> whole{0, static_cast<std::int64_t>(keys.size())};
  return plan::order_by_key(keys, whole, n_threads);
}

Orders inverses(const Orders& orders, int n_threads) {
  Orders made;
  for (const auto& [set, order] : orders) made[set] = plan::inverse_permutation(order, n_threads);
  return made;
}

/// Order one more Set that a Map connects to those ordered already; elements by their targets
/// first, since an order that comes from few neighbours is the better.
bool spread_once(const std::vector<MapMemory>& maps, Orders& orders, int n_threads) {
  for (const MapMemory& one : maps) {
    const api::MapState& map = *one.map;
    if (!orders.contains(map.to.get()) || orders.contains(map.from.get())) continue;
    const Numbers numbers = plan::inverse_permutation(orders.at(map.to.get()), n_threads);
    orders[map.from.get()] = ordered(plan::target_keys(*map.table, numbers, n_threads), n_threads);
    return true;
  }
  for (const MapMemory& one : maps) {
    const api::MapState& map = *one.map;
    if (!orders.contains(map.from.get()) || orders.contains(map.to.get())) continue;
    const auto keys = plan::visitor_keys(*map.table, orders.at(map.from.get()));
    orders[map.to.get()] = ordered(keys, n_threads);
    return true;
  }
  return false;
}

std::span<std::byte> bytes_of(const api::DataState& dat) {
  return {static_cast<std::byte*>(dat.buffer->data()),
          static_cast<std::size_t>(dat.buffer->n_bytes())};
}

/// Two Dats over one memory would be moved twice.
void check_apart(const std::vector<DatMemory>& dats) {
  for (std::size_t i = 0; i < dats.size(); ++i) {
    for (std::size_t k = i + 1; k < dats.size(); ++k) {
      const auto one = bytes_of(*dats[i].dat);
      const auto other = bytes_of(*dats[k].dat);
      if (one.empty() || other.empty()) continue;
      if (one.data() >= other.data() + other.size()) continue;
      if (other.data() >= one.data() + one.size()) continue;
      throw UsageError(
          fmt::format("{}: Dats '{}' and '{}' share memory; give each its own, or one "
                      "of them only",
                      who, dats[i].dat->name, dats[k].dat->name));
    }
  }
}

void check_ground(const std::vector<MapMemory>& maps) {
  for (const MapMemory& one : maps) {
    for (const api::SetPointer& set : {one.map->from, one.map->to}) {
      if (set->extrusion == nullptr) continue;
      throw UsageError(
          fmt::format("{}: Map '{}': Set '{}' is extruded, and has the numbers of Set "
                      "'{}'; renumber that before it is extruded",
                      who, one.map->name, set->name, set->extrusion->base->name));
    }
  }
}

/// The program may have changed the values since they were checked, and they are used as places.
void check_values(const std::vector<MapMemory>& maps) {
  for (const MapMemory& one : maps) api::check_changed(*one.map);
}

}  // namespace

struct Renumbering::State {
  std::vector<MapMemory> maps;
  std::vector<DatMemory> dats;
  Orders orders;
  bool is_undone = false;

  /// Move everything; new values are all made before the first old one is overwritten.
  void apply(const Orders& order, const Orders& numbers, int n_threads) {
    std::vector<Bytes> of_maps;
    for (const MapMemory& one : maps) {
      Bytes& moved = of_maps.emplace_back(one.bytes.size());
      plan::relabel(*one.map->table, found_in(order, one.map->from.get()),
                    found_in(numbers, one.map->to.get()), moved, n_threads);
    }
    std::vector<Bytes> of_dats;
    for (const DatMemory& one : dats) {
      api::bring_to_host(*one.dat, true);
      const std::span<std::byte> values = bytes_of(*one.dat);
      Bytes& moved = of_dats.emplace_back(values.size());
      const Numbers& rows = found_in(order, one.dat->home.get());
      if (rows.empty()) {
        std::ranges::copy(values, moved.begin());
      } else {
        plan::permute_rows(values, moved, rows, n_threads);
      }
    }
    for (std::size_t i = 0; i < maps.size(); ++i) {
      std::ranges::copy(of_maps[i], maps[i].bytes.begin());
      api::check_changed(*maps[i].map);
    }
    for (std::size_t i = 0; i < dats.size(); ++i) {
      std::ranges::copy(of_dats[i], bytes_of(*dats[i].dat).begin());
      dats[i].dat->buffer->increment_version();
    }
  }
};

MapMemory::MapMemory(api::MapPointer moved, std::span<std::byte> values)
    : map(std::move(moved)), bytes(values) {
  const mesh::MapTable& table = *map->table;
  const auto n_bytes =
      static_cast<std::size_t>(table.n_rows() * table.arity() * table.index_bytes());
  if (bytes.size() == n_bytes && (n_bytes == 0 || bytes.data() == table.values())) return;
  throw UsageError(
      fmt::format("{}: Map '{}' has its values elsewhere; pass the memory that it was made of", who,
                  map->name));
}

std::span<const std::int64_t> Renumbering::order(const Set& set) const {
  const auto found = state_->orders.find(set.state().get());
  if (found != state_->orders.end() && !state_->is_undone) return found->second;
  throw UsageError(
      fmt::format("Renumbering: Set '{}' {}", set.name(),
                  state_->is_undone ? "has its original numbers again" : "was not renumbered"));
}

void Renumbering::undo() {
  if (state_->is_undone) {
    throw UsageError("Renumbering.undo: nothing to undo; it was undone already");
  }
  check_values(state_->maps);
  const int n_threads = runtime::available_threads();
  state_->apply(inverses(state_->orders, n_threads), state_->orders, n_threads);
  state_->is_undone = true;
}

namespace api {

Renumbering renumbered(const std::vector<MapMemory>& maps, const std::vector<DatMemory>& dats,
                       const DatMemory& root, std::span<const double> coordinates, int dim,
                       Curve curve) {
  auto state = std::make_shared<Renumbering::State>();
  state->maps = maps;
  state->dats = dats;
  const auto is_root = [&root](const DatMemory& one) { return one.dat == root.dat; };
  if (std::ranges::none_of(dats, is_root)) state->dats.push_back(root);
  check_ground(maps);
  check_apart(state->dats);
  check_values(maps);
  const int n_threads = runtime::available_threads();
  state->orders[root.dat->home.get()] =
      ordered(plan::curve_keys(curve, coordinates, dim, n_threads), n_threads);
  while (spread_once(maps, state->orders, n_threads)) {
  }
  state->apply(state->orders, inverses(state->orders, n_threads), n_threads);
  return Renumbering(std::move(state));
}

}  // namespace api
}  // namespace op2
