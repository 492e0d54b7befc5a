// SPDX-License-Identifier: BSD-3-Clause
#include "api/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/object_states.hpp"
#include "api/shared.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"
#include "exec/portable.hpp"
#include "plan/positions.hpp"
#include "plan/widths.hpp"

namespace op2::api {
namespace {

const MapState& map_of(const Arguments& objects, int number) {
  return *objects.maps[static_cast<std::size_t>(number)];
}

/// Entries of a row, for sizes.
int arity_of(const MapState& map) {
  return map.table->is_ragged() ? map.typical_arity : map.table->arity();
}

/// All that there is for a backend, what knows most of the mesh first.
std::vector<const CompiledLoop*> compiled_for(const LoopText& text, const Target& target) {
  std::vector<const CompiledLoop*> found;
  std::set<std::string> others;
  for (const CompiledLoop& one : text.compiled) {
    const bool fits = target.info == nullptr || one.for_processor == target.info->is_cpu;
    if (one.backend == target.backend && fits) found.push_back(&one);
    others.insert(one.backend);
  }
  if (!found.empty()) return found;
  const std::string there = fmt::format("{}", fmt::join(others, ", "));
  throw UnsupportedError(fmt::format(
      "par_loop '{}': it was not generated for backend '{}', but for: {}; generate it with "
      "--backend {}, or choose another one by op2::init()",
      text.name, target.backend, there, target.backend));
}

/// The loop as the rules about meshes see it, if @p executable runs it.
plan::LoopSizes sizes_of(const Arguments& objects, const Visited& visited,
                         const exec::Executable& executable) {
  plan::LoopSizes sizes{.n_items = visited.n_items(),
                        .n_entities = visited.n_entities(),
                        .n_whole = visited.whole->size,
                        .is_whole = visited.part == nullptr && !visited.is_extruded()};
  for (const MapPointer& map : objects.maps) {
    const bool is_ragged = map->table->is_ragged();  // then there are begins, too
    sizes.maps.push_back({reinterpret_cast<std::intptr_t>(map.get()),
                          is_ragged ? nullptr : map->table,
                          map->to->size,
                          arity_of(*map) + (is_ragged ? 1 : 0),
                          map->table->index_bytes(),
                          {}});
  }
  for (std::size_t i = 0; i < objects.data.size(); ++i) {
    const Argument& argument = objects.data[i];
    const DataState& data = *argument.data;
    plan::SizedArgument& sized = sizes.arguments.emplace_back();
    sized.data = reinterpret_cast<std::intptr_t>(&data);
    sized.map = sized.target = argument.map;
    // what is not known to be read or written may be both
    const bool is_known = i < executable.data.size();
    sized.access = is_known ? executable.data[i].access : Access::rw;
    const auto scalar =
        static_cast<std::int64_t>(size_of(is_known ? executable.data[i].storage : DType::float64));
    const std::int64_t arity = argument.map < 0 ? 1 : arity_of(map_of(objects, argument.map));
    if (data.sparsity != nullptr) {
      const std::int64_t n_entries = std::max<std::int64_t>(data.sparsity->table->n_entries(), 1);
      sized.columns = argument.columns;
      sized.matrix_bytes = data.buffer->n_bytes();
      sized.matrix_scalars = sized.matrix_bytes / scalar;
      sized.n_scalars =
          arity * arity_of(map_of(objects, argument.columns)) * (sized.matrix_scalars / n_entries);
      sized.position_bytes = plan::position_bytes(data.sparsity->table->longest_row);
    } else if (data.home != nullptr && data.home->size > 0) {
      sized.n_rows = data.home->size;
      sized.row_bytes = data.buffer->n_bytes() / sized.n_rows;
      sized.row_scalars = sized.row_bytes / scalar;
      sized.n_scalars = arity * sized.row_scalars;
    }
  }
  return sizes;
}

/// The same with all that widths of indices depend on.
plan::LoopSizes sizes_of(const LoopText& text, const Arguments& objects, const Visited& visited,
                         const exec::Executable& executable) {
  plan::LoopSizes sizes = sizes_of(objects, visited, executable);
  sizes.n_slots = text.slots;
  if (!text.columns.facets) return sizes;
  for (plan::SizedArgument& argument : sizes.arguments) {
    argument.n_scalars *= argument.columns < 0 ? 2 : 4;
  }
  return sizes;
}

/// Whether no target has more elements than code with columns of one length can visit.
bool fits_columns(const abi::PairsPlan& plan, const Arguments& objects, const Visited& visited) {
  if (plan.columns == 0) return true;
  const MapState& map = map_of(objects, plan.inversion.maps.front());
  const std::int64_t most = shared().plans->largest_degree(map.table, map.from->size, {}, 1);
  return visited.part == nullptr && !visited.is_extruded() && most > 0 && most <= plan.columns;
}

/// Why what a code needs of the mesh is not so; empty: it is.
std::string why_unsuited(const CompiledLoop& compiled, const exec::Executable& executable,
                         const LoopText& text, const Arguments& objects, const Visited& visited) {
  for (std::size_t i = 0; i < compiled.injective.size(); ++i) {
    if (compiled.injective[i] && !leads_nowhere_twice(*objects.maps[i])) {
      return fmt::format("Map '{}' leads to an entity twice", objects.maps[i]->name);
    }
  }
  const double most_padding = tuning_of(compiled).most_padding;
  const plan::LoopSizes sizes = sizes_of(text, objects, visited, executable);
  if (compiled.index_bytes == 4 && !compiled.images.empty() &&
      !plan::fits_narrow(sizes, most_padding)) {
    return "the mesh is beyond indices of 4 bytes";
  }
  const auto* pairs = std::get_if<abi::PairsPlan>(&executable.plan);
  if (pairs != nullptr && !fits_columns(*pairs, objects, visited)) {
    return fmt::format("targets have more elements than {}", pairs->columns);
  }
  if (compiled.padded && !plan::is_evenly_covered(sizes, most_padding, *shared().plans, 1)) {
    return "targets have numbers of elements that differ much";
  }
  const int width = exec::position_bytes(executable);
  const auto is_long = [width](const Argument& argument) {
    const SparsityPointer& sparsity = argument.data->sparsity;
    return sparsity != nullptr && plan::position_bytes(sparsity->table->longest_row) > width;
  };
  if (width == 0 || std::ranges::none_of(objects.data, is_long)) return "";
  return fmt::format("a row of a matrix is longer than positions of {} bytes count", width);
}

/// The measurement for a loop, and code of the measured way moved to the front.
std::optional<TunedAnswer> put_measured_first(std::vector<const CompiledLoop*>& codes,
                                              const Target& target, const Visited& visited) {
  if (target.tuned == nullptr || target.tuned->is_empty()) return {};
  const std::string device = target.info == nullptr ? processor_name() : target.info->name;
  const auto known =
      target.tuned->find(target.backend, device, codes.front()->key, visited.n_items());
  if (!known) return {};
  const auto is_measured = [&known](const CompiledLoop* one) {
    return one->way == known->entry->way;
  };
  std::stable_partition(codes.begin(), codes.end(), is_measured);
  return known;
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
  std::vector<const CompiledLoop*> codes = compiled_for(text, target);
  const std::optional<TunedAnswer> known = put_measured_first(codes, target, visited);
  for (const CompiledLoop* one : codes) {
    found.compiled = one;
    found.executable = exec::read_executable(one->executable);
    found.executable->launch = one->launch;
    std::string why = why_unsuited(*one, *found.executable, text, objects, visited);
    if (why.empty()) break;
    found.rejected.push_back(std::move(why));
  }
  if (target.info != nullptr) check_float64(*found.executable, *target.info);
  if (known && found.compiled->way == known->entry->way) {
    found.measured =
        fmt::format("measured ({}): {:.1f} us, {:.1f} us by the rules: {}", known->level,
                    known->entry->us, known->entry->rule_us, known->entry->way);
  }
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
  return plan::useful_bytes({sizes_of(objects, visited, executable)});
}

}  // namespace op2::api
