// SPDX-License-Identifier: BSD-3-Clause
#include "api/loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "api/choice.hpp"
#include "api/columns.hpp"
#include "api/graph_builder.hpp"
#include "api/object_states.hpp"
#include "api/shared.hpp"
#include "base/error.hpp"
#include "plan/positions.hpp"
#include "runtime/prepared_loop.hpp"

namespace op2 {
namespace api {

struct LoopState {
  LoopState(LoopText made_of, Visited over) : text(std::move(made_of)), visited(std::move(over)) {}

  const LoopText text;
  const std::string name = text.name;
  const Visited visited;
  Arguments objects;
  std::string what;
  Target target;
  std::shared_ptr<runtime::DeviceMirror> mirror;  // null on the host
  int n_threads = 1;

  std::mutex mutex;                        // guards what follows
  std::vector<std::int64_t> versions;      // of Maps, that the code was chosen for
  std::vector<exec::DataUse> uses;         // by the code
  const CompiledLoop* compiled = nullptr;  // of the text
  std::shared_ptr<runtime::PreparedLoop> prepared;
};

namespace {

void check_map(const std::string& what, const MapState& map, const Visited& visited,
               const std::string& whose, const SetPointer& home) {
  const SetPointer& set = visited.whole;
  if (map.from != set && map.from != visited.base()) {
    throw UsageError(
        fmt::format("{}: Map '{}' starts on Set '{}', but the loop runs over '{}'; pass a Map {} → "
                    "{}",
                    what, map.name, map.from->name, set->name, set->name, home->name));
  }
  if (map.to != home) {
    throw UsageError(fmt::format(
        "{}: Map '{}' leads from Set '{}' to Set '{}', but {} on Set '{}'; pass a Map {} → {}",
        what, map.name, map.from->name, map.to->name, whose, home->name, map.from->name,
        home->name));
  }
}

void check_homes(const LoopState& loop) {
  const Visited& visited = loop.visited;
  const SetPointer& set = visited.base();
  for (std::size_t i = 0; i < loop.objects.data.size(); ++i) {
    const Argument& argument = loop.objects.data[i];
    const DataState& data = *argument.data;
    const std::string what = fmt::format("{}: arg {}", loop.what, i);
    const auto map = [&loop](int number) -> const MapState& {
      return *loop.objects.maps.at(static_cast<std::size_t>(number));
    };
    if (data.sparsity != nullptr) {
      check_map(what, map(argument.map), visited, "the Mat's rows are", data.sparsity->rows);
      check_map(what, map(argument.columns), visited, "its columns are", data.sparsity->columns);
    }
    if (data.home == nullptr) continue;
    if (argument.map >= 0) {
      check_map(what, map(argument.map), visited, "the Dat lives", data.home);
    } else if (data.home != set) {
      throw UsageError(fmt::format(
          "{}: Dat '{}' lives on Set '{}', but the loop runs over '{}'; pass a Map {} → {}", what,
          data.name, data.home->name, set->name, set->name, data.home->name));
    }
  }
}

void check_indices(const LoopState& loop, const Visited& visited, int bytes) {
  if (visited.part == nullptr || visited.part->table->index_bytes() == bytes) return;
  throw UsageError(
      fmt::format("{}: it was generated for indices of {} bytes, but those of Subset '{}' have {}",
                  loop.what, bytes, visited.part->name, visited.part->table->index_bytes()));
}

int first_user(const std::vector<Argument>& data, int map) {
  const auto user = std::ranges::find_if(
      data, [map](const Argument& one) { return one.map == map || one.columns == map; });
  return static_cast<int>(user - data.begin());
}

std::string_view kind_of(const Extrusion* columns) {
  if (columns == nullptr) return "no columns";
  if (columns->is_periodic) {
    return columns->is_constant ? "periodic columns with one number of layers"
                                : "periodic columns with layers of their own";
  }
  return columns->is_constant ? "columns with one number of layers"
                              : "columns with layers of their own";
}

/// The code was made for one kind of columns, and for cells or pairs of them.
void check_columns(const LoopState& loop) {
  const Visited& visited = loop.visited;
  check_region(loop.what, visited);
  const ColumnKind& kind = loop.text.columns;
  const Extrusion* got = visited.whole->extrusion.get();
  const Extrusion wanted{nullptr, kind.layers == Layers::constant, kind.periodic, {}};
  const std::string_view expected = kind_of(kind.layers == Layers::none ? nullptr : &wanted);
  if (kind_of(got) != expected) {
    throw UsageError(fmt::format("{}: it was generated for a Set of {}, but '{}' is one of {}",
                                 loop.what, expected, visited.whole->name, kind_of(got)));
  }
  if (kind.facets == (visited.region == Region::interior_facets)) return;
  const char* what = kind.facets ? "pairs of cells; pass Region::interior_facets"
                                 : "single cells; pass another region than interior_facets";
  throw UsageError(fmt::format("{}: it was generated for {}", loop.what, what));
}

/// Where Maps lead from the cells, as their values are now.
void check_cells(const LoopState& loop) {
  for (std::size_t i = 0; i < loop.objects.maps.size(); ++i) {
    const MapState& map = *loop.objects.maps[i];
    const std::string what =
        fmt::format("{}: arg {}", loop.what, first_user(loop.objects.data, static_cast<int>(i)));
    if (i < loop.text.paths.size()) check_offsets(what, map, loop.text.paths[i]);
    check_reach(what, map, loop.visited);
  }
}

/// The code was made for objects that share no memory where they are different ones.
void check_memory(const LoopState& loop) {
  const std::vector<Argument>& data = loop.objects.data;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const mesh::Buffer& one = *data[i].data->buffer;
    const auto* begin = static_cast<const std::byte*>(one.data());
    for (std::size_t k = i + 1; k < data.size(); ++k) {
      const mesh::Buffer& other = *data[k].data->buffer;
      const auto* there = static_cast<const std::byte*>(other.data());
      if (data[i].data == data[k].data || one.n_bytes() == 0 || other.n_bytes() == 0) continue;
      if (begin >= there + other.n_bytes() || there >= begin + one.n_bytes()) continue;
      throw UsageError(fmt::format(
          "{}: arg {} ({} '{}') and arg {} ({} '{}') share memory, for which it was not generated; "
          "pass memory of its own to each",
          loop.what, i, data[i].data->kind, data[i].data->name, k, data[k].data->kind,
          data[k].data->name));
    }
  }
}

bool has_equal_rows(const mesh::MapTable& one, const mesh::MapTable& other) {
  if (&one == &other) return true;
  if (one.n_rows() != other.n_rows()) return false;
  for (std::int64_t row = 0; row <= one.n_rows(); ++row) {
    if (one.begin(row) != other.begin(row)) return false;
  }
  return true;
}

/// Counts that a loop reads are those of the ragged Maps it goes by.
void check_counts(const LoopState& loop) {
  std::vector<const DataState*> counts;
  for (const Argument& argument : loop.objects.data) {
    if (argument.data->counted != nullptr) counts.push_back(argument.data.get());
  }
  for (const MapPointer& map : loop.objects.maps) {
    const auto is_counted = [&map](const DataState* one) {
      return has_equal_rows(*one->counted, *map->table);
    };
    if (!map->table->is_ragged() || counts.empty() || std::ranges::any_of(counts, is_counted)) {
      continue;
    }
    throw UsageError(fmt::format(
        "{}: it reads Dat '{}', but goes by Map '{}', whose rows are of other lengths; pass one "
        "Map for both",
        loop.what, counts.front()->name, map->name));
  }
}

/// What cannot be chosen otherwise: nobody has code for rows of any length where those are packed.
void check_rows(const LoopState& loop, const CompiledLoop& compiled) {
  for (std::size_t i = 0; i < compiled.longest.size(); ++i) {
    const MapState& map = *loop.objects.maps[i];
    const int most = compiled.longest[i];
    if (most == 0 || !map.table->is_ragged()) continue;
    const std::span<const std::int32_t> counts = count_values(map);
    const auto longest = std::ranges::max_element(counts);
    if (longest == counts.end() || *longest <= most) continue;
    throw UsageError(fmt::format(
        "{}: row {} of Map '{}' has {} entries, and here a row may have {}, as an element's values "
        "are packed",
        loop.what, longest - counts.begin(), map.name, *longest, most));
  }
}

/// What cannot be chosen otherwise: nobody has code for a Map that leads somewhere twice.
void check_suits(const LoopState& loop, const CompiledLoop& compiled) {
  for (std::size_t i = 0; i < compiled.injective.size(); ++i) {
    const MapState& map = *loop.objects.maps[i];
    if (!compiled.injective[i] || leads_nowhere_twice(map)) continue;
    throw UsageError(fmt::format(
        "{}: it was generated for a Map '{}' that leads to no entity twice, but this one does; "
        "generate it from a program whose Map does so, too",
        loop.what, map.name));
  }
}

/// @param[in] bytes Of positions that the code reads; 0: it reads none, and rows say how wide.
void add_matrices(runtime::Binding& made, const LoopState& loop, int bytes) {
  for (std::size_t i = 0; i < loop.objects.data.size(); ++i) {
    const Argument& argument = loop.objects.data[i];
    if (argument.data->sparsity == nullptr) continue;
    const MapState& rows = *loop.objects.maps[static_cast<std::size_t>(argument.map)];
    const MapState& columns = *loop.objects.maps[static_cast<std::size_t>(argument.columns)];
    plan::PositionSpec spec;
    spec.sparsity = argument.data->sparsity->table;
    spec.elements = {rows.from->size, nullptr};  // of cells the PreparedLoop knows
    spec.rows = rows.table;
    spec.columns = columns.table;
    spec.bytes = bytes > 0 ? bytes : plan::position_bytes(spec.sparsity->longest_row);
    made.matrices.push_back(std::move(spec));
    made.matrix_paths.emplace_back(argument.map, argument.columns);
    made.matrix_users.push_back(static_cast<int>(i));
  }
}

runtime::Binding binding_of(const LoopState& loop, const Visited& visited, const LoopText& text,
                            const exec::Executable& executable) {
  runtime::Binding made;
  for (const Argument& argument : loop.objects.data)
    made.arguments.push_back(argument.data->buffer);
  for (const DataPointer& constant : loop.objects.constants) {
    made.constants.push_back(constant->buffer);
  }
  for (std::size_t i = 0; i < loop.objects.maps.size(); ++i) {
    made.maps.push_back(loop.objects.maps[i]->table);
    made.map_users.push_back(first_user(loop.objects.data, static_cast<int>(i)));
  }
  add_matrices(made, loop, exec::position_bytes(executable));
  made.spaces = text.spaces;
  made.paths = text.paths;
  made.iteration.index_bytes = text.index_bytes;
  made.iteration.layers = text.columns.layers;
  made.iteration.periodic = text.columns.periodic;
  if (visited.is_extruded()) {
    const std::shared_ptr<const Cells> cells = cells_of(visited, text.index_bytes);
    made.n_elements = cells->n;
    made.items = cells->tables;
    made.iteration.subset = visited.part != nullptr && text.columns.layers == Layers::constant;
    return made;
  }
  made.n_elements = visited.n_entities();
  if (visited.part != nullptr) {
    made.iteration.subset = true;
    made.items = {visited.part->table};
  }
  return made;
}

void prepare(LoopState& loop, Chosen code, const std::shared_ptr<runtime::DeviceMirror>& mirror,
             int n_threads) {
  if (mirror) {
    auto device = std::make_shared<exec::DeviceCode>(*code.executable->device);
    device->program = program_on(*mirror->device(), loop.text.name, code.compiled->images);
    code.executable->device = std::move(device);
  }
  runtime::LaunchOptions options{n_threads, code.compiled->block_size,
                                 useful_bytes(loop.objects, loop.visited, *code.executable),
                                 tuning_of(*code.compiled)};
  Shared& all = shared();
  std::shared_ptr<runtime::Timing> timing;
  {
    const std::lock_guard lock(all.mutex);
    MetLoops& known = all.met[{loop.text.name, code.compiled->backend, code.executable->strategy}];
    if (!known.timing) known.timing = std::make_shared<runtime::Timing>(all.coherence->trace());
    known.rejected.insert(code.rejected.begin(), code.rejected.end());
    if (!code.measured.empty()) known.measured.insert(code.measured);
    timing = known.timing;
  }
  loop.uses = code.executable->data;
  loop.prepared = std::make_shared<runtime::PreparedLoop>(
      code.executable, binding_of(loop, loop.visited, loop.text, *code.executable), options,
      all.plans, std::move(timing), mirror);
}

std::vector<std::int64_t> versions_of(const Arguments& objects) {
  std::vector<std::int64_t> versions;
  for (const MapPointer& map : objects.maps) versions.push_back(map->table->version());
  return versions;
}

/// Choose the code that suits the Maps as they are now, and prepare it unless it is prepared.
void choose(LoopState& loop) {
  std::vector<std::int64_t> versions = versions_of(loop.objects);
  check_cells(loop);
  const Chosen code = chosen(loop.text, loop.target, loop.objects, loop.visited);
  check_suits(loop, *code.compiled);
  check_rows(loop, *code.compiled);
  if (code.compiled != loop.compiled) prepare(loop, code, loop.mirror, loop.n_threads);
  loop.compiled = code.compiled;
  loop.versions = std::move(versions);
}

}  // namespace

Loop made_loop(const LoopText& text, const Visited& visited, Arguments arguments) {
  auto loop = std::make_shared<LoopState>(text, visited);
  {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    loop->target.backend = all.options.backend;
    loop->target.tuned = all.tuned;
    loop->mirror = all.mirror;
    loop->n_threads = n_threads_of(all.options);
  }
  if (loop->mirror) loop->target.info = &loop->mirror->device()->info();
  loop->what = fmt::format("par_loop '{}'", text.name);
  loop->objects = std::move(arguments);
  check_indices(*loop, visited, text.index_bytes);
  check_columns(*loop);
  check_homes(*loop);
  check_counts(*loop);
  check_memory(*loop);
  choose(*loop);
  return Loop(std::move(loop));
}

std::vector<NodeUse> uses_of(LoopState& loop) {
  const std::lock_guard lock(loop.mutex);
  std::vector<NodeUse> found;
  for (std::size_t i = 0; i < loop.objects.data.size(); ++i) {
    const exec::DataUse use = i < loop.uses.size() ? loop.uses[i] : exec::DataUse{Access::rw};
    found.push_back({loop.objects.data[i].data, use.storage, use.access});
  }
  for (const DataPointer& one : loop.objects.constants) {
    found.push_back({one, DType::float64, Access::read});
  }
  return found;
}

const std::string& name_of(const LoopState& loop) {
  return loop.name;
}

void run(LoopState& loop) {
  std::shared_ptr<runtime::PreparedLoop> prepared;
  {
    const std::lock_guard lock(loop.mutex);
    if (versions_of(loop.objects) != loop.versions) choose(loop);
    prepared = loop.prepared;
  }
  prepared->run();
}

}  // namespace api
}  // namespace op2
