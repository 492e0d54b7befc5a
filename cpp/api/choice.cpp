// SPDX-License-Identifier: BSD-3-Clause
#include "api/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/object_states.hpp"
#include "api/shared.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"
#include "exec/portable.hpp"
#include "plan/positions.hpp"

namespace op2::api {
namespace {

/// Bytes of the values of one entity.
std::int64_t row_bytes(const DataState& data) {
  const std::int64_t n = data.home->size;
  return n == 0 ? 0 : data.buffer->n_bytes() / n;
}

const MapState& map_of(const Arguments& objects, int number) {
  return *objects.maps[static_cast<std::size_t>(number)];
}

/// All that there is for a backend, what knows most of the mesh first.
std::vector<const CompiledLoop*> compiled_for(const LoopText& text, const Target& target) {
  std::vector<const CompiledLoop*> found;
  std::set<std::string> others;
  for (const CompiledLoop& one : text.compiled) {
    const bool fits = target.info == nullptr || one.for_processor == target.info->is_cpu;
    if (one.backend == target.backend && fits) found.push_back(&one);
    others.insert(name_of(one.backend));
  }
  if (!found.empty()) return found;
  const char* wanted = name_of(target.backend);
  const std::string there = fmt::format("{}", fmt::join(others, ", "));
  throw UnsupportedError(fmt::format(
      "par_loop '{}': it was not generated for backend '{}', but for: {}; generate it with "
      "--backend {}, or choose another one by op2::init()",
      text.name, wanted, there, wanted));
}

/// Whether padding columns of a device costs little: targets have similar numbers of elements.
bool is_evenly_covered(const Arguments& objects, const Visited& visited,
                       const exec::Executable& executable, double most_padding) {
  if (visited.part != nullptr || visited.is_extruded()) return false;
  std::set<int> reduced;
  for (std::size_t i = 0; i < objects.data.size(); ++i) {
    const bool is_reduced = i < executable.data.size() && is_reduction(executable.data[i].access);
    if (is_reduced && objects.data[i].map >= 0) reduced.insert(objects.data[i].map);
  }
  double n_entries = 0;
  double n_padded = 0;
  for (const int number : reduced) {
    const MapState& map = map_of(objects, number);
    const auto facts = shared().plans->facts(map.table, map.from->size, 1);
    n_entries += static_cast<double>(map.from->size) * map.table->arity();
    n_padded += static_cast<double>(facts.degree_max) * static_cast<double>(map.to->size);
  }
  return !reduced.empty() && n_padded <= most_padding * n_entries;
}

/// Whether no target has more elements than code with columns of one length can visit.
bool fits_columns(const exec::Executable& executable, const Arguments& objects,
                  const Visited& visited) {
  const MapState& map = map_of(objects, executable.plan.occurrences.front());
  const auto facts = shared().plans->facts(map.table, map.from->size, 1);
  return visited.part == nullptr && !visited.is_extruded() && facts.degree_max > 0 &&
         facts.degree_max <= executable.plan.columns;
}

/// Whether every index into an argument, a Map or a plan's array fits, with room to stride.
bool fits_narrow(const LoopText& text, const exec::Executable& executable, const Arguments& objects,
                 const Visited& visited, double most_padding) {
  const std::int64_t n = std::max(visited.n_items(), visited.whole->size);
  const std::int64_t both = text.columns.facets ? 2 : 1;
  std::int64_t most = n * std::max(text.slots, 1);
  for (const MapPointer& map : objects.maps) {
    // of a Map that is composed with padded columns there are more rows than elements
    const auto padding = static_cast<std::int64_t>(std::ceil(most_padding)) * text.slots;
    most = std::max(most, n * std::max<std::int64_t>(padding, 1) * map->table->arity());
  }
  for (std::size_t i = 0; i < objects.data.size(); ++i) {
    const Argument& argument = objects.data[i];
    const DataState& data = *argument.data;
    const auto scalar = static_cast<std::int64_t>(size_of(executable.data.at(i).storage));
    const std::int64_t arity = argument.map < 0 ? 1 : map_of(objects, argument.map).table->arity();
    if (data.sparsity != nullptr) {
      const auto columns = map_of(objects, argument.columns).table->arity();
      const std::int64_t n_entries = std::max<std::int64_t>(data.sparsity->table->n_entries(), 1);
      const std::int64_t dim = data.buffer->n_bytes() / n_entries / scalar;
      most = std::max(
          {most, n * arity * columns * dim * both * both, data.buffer->n_bytes() / scalar});
    } else if (data.home != nullptr) {
      const std::int64_t dim = row_bytes(data) / scalar;
      most = std::max({most, data.home->size * dim, n * arity * dim * both});
    }
  }
  return most <= std::numeric_limits<std::int32_t>::max() / 2;
}

/// Whether what a code needs of the mesh is so.
bool suits(const CompiledLoop& compiled, const exec::Executable& executable, const LoopText& text,
           const Arguments& objects, const Visited& visited) {
  for (std::size_t i = 0; i < compiled.injective.size(); ++i) {
    if (compiled.injective[i] && !leads_nowhere_twice(*objects.maps[i])) return false;
  }
  if (compiled.index_bytes == 4 && !compiled.images.empty() &&
      !fits_narrow(text, executable, objects, visited, tuning_of(compiled).most_padding)) {
    return false;
  }
  if (executable.plan.columns > 0 && !fits_columns(executable, objects, visited)) return false;
  if (compiled.padded &&
      !is_evenly_covered(objects, visited, executable, tuning_of(compiled).most_padding)) {
    return false;
  }
  const int width = exec::position_bytes(executable);
  return width == 0 || std::ranges::all_of(objects.data, [width](const Argument& argument) {
           const SparsityPointer& sparsity = argument.data->sparsity;
           return sparsity == nullptr ||
                  plan::position_bytes(sparsity->table->longest_row) <= width;
         });
}

void check_float64(const exec::Executable& executable, const runtime::DeviceInfo& info) {
  const bool needs_it = std::ranges::any_of(executable.data, [](const exec::DataUse& use) {
    return use.seen == DType::float64 || use.seen == DType::complex128;
  });
  if (info.float64 || !needs_it) return;
  throw UnsupportedError(
      fmt::format("par_loop '{}': it computes in double precision, which device '{}' does not have",
                  executable.name, info.name));
}

}  // namespace

Chosen chosen(const LoopText& text, const Target& target, const Arguments& objects,
              const Visited& visited) {
  Chosen found{};
  for (const CompiledLoop* one : compiled_for(text, target)) {
    found = {one, exec::read_executable(one->executable)};
    found.executable->launch = one->launch;
    if (suits(*one, *found.executable, text, objects, visited)) break;
  }
  if (target.info != nullptr) check_float64(*found.executable, *target.info);
  return found;
}

bool leads_nowhere_twice(const MapState& map) {
  return shared().plans->facts(map.table, map.from->size, 1).injective;
}

Tuning tuning_of(const CompiledLoop& compiled) {
  const DeviceClass on_device = compiled.for_processor ? DeviceClass::processor : DeviceClass::gpu;
  Tuning tuning = Tuning::of(compiled.images.empty() ? DeviceClass::host : on_device);
  for (const auto& [name, value] : compiled.tuning) tune(tuning, name, value);
  return tuning;
}

std::int64_t useful_bytes(const Arguments& objects, const Visited& visited,
                          const exec::Executable& executable) {
  const std::int64_t n = visited.n_items();
  std::map<const DataState*, std::int64_t> dats;
  std::map<int, std::int64_t> maps;
  for (std::size_t i = 0; i < objects.data.size(); ++i) {
    const Argument& argument = objects.data[i];
    const DataState& data = *argument.data;
    std::int64_t arity = 1;
    if (argument.map >= 0) {
      const mesh::MapTable& table = *map_of(objects, argument.map).table;
      arity = table.arity();
      // of a matrix with places, those of columns are not read
      maps[argument.map] = visited.n_entities() * arity * table.index_bytes();
    }
    std::int64_t moved = 0;
    if (data.sparsity != nullptr) {
      const int columns = map_of(objects, argument.columns).table->arity();
      moved = 2 * data.buffer->n_bytes() +
              n * arity * columns * plan::position_bytes(data.sparsity->table->longest_row);
    } else if (data.home != nullptr) {
      const Access access = i < executable.data.size() ? executable.data[i].access : Access::rw;
      const int ways = access == Access::read || access == Access::write ? 1 : 2;
      const std::int64_t rows = argument.map < 0 ? n : std::min(n * arity, data.home->size);
      moved = rows * row_bytes(data) * ways;
    }
    dats[&data] = std::max(dats[&data], moved);
  }
  std::int64_t sum = 0;
  for (const auto& [data, moved] : dats) sum += moved;
  for (const auto& [map, moved] : maps) sum += moved;
  return sum;
}

}  // namespace op2::api
