// SPDX-License-Identifier: BSD-3-Clause
#include "api/loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "api/object_states.hpp"
#include "base/error.hpp"
#include "exec/portable.hpp"
#include "plan/plan_cache.hpp"
#include "plan/positions.hpp"
#include "runtime/host/threads.hpp"
#include "runtime/prepared_loop.hpp"

namespace op2 {
namespace api {

struct LoopState {
  std::string what;
  Arguments objects;
  std::mutex mutex;                    // guards versions
  std::vector<std::size_t> injective;  // Maps that have to be
  std::vector<std::int64_t> versions;  // [injective] that were found so
  std::unique_ptr<runtime::PreparedLoop> prepared;
};

namespace {

constexpr const char* backend_names[] = {"sequential", "openmp"};

const char* name_of(Backend backend) {
  return backend_names[static_cast<std::size_t>(backend)];
}

/// What all loops of this process share.
struct Shared {
  std::mutex mutex;  // guards options and timings
  Options options;
  std::shared_ptr<plan::PlanCache> plans = std::make_shared<plan::PlanCache>();
  std::map<std::pair<std::string, Backend>, std::shared_ptr<runtime::Timing>> timings;
};

Shared& shared() {
  static Shared state;
  return state;
}

int n_threads_of(const Options& options) {
  return options.threads > 0 ? options.threads : runtime::available_threads();
}

/// All that there is for a backend, what knows most of the mesh first.
std::vector<const CompiledLoop*> compiled_for(const LoopText& text, Backend backend) {
  std::vector<const CompiledLoop*> found;
  std::set<std::string> others;
  for (const CompiledLoop& one : text.compiled) {
    if (one.backend == backend) found.push_back(&one);
    others.insert(name_of(one.backend));
  }
  if (!found.empty()) return found;
  const std::string there = fmt::format("{}", fmt::join(others, ", "));
  throw UnsupportedError(fmt::format(
      "par_loop '{}': it was not generated for backend '{}', but for: {}; generate it with "
      "--backend {}, or choose another one by op2::init()",
      text.name, name_of(backend), there, name_of(backend)));
}

void check_map(const std::string& what, const MapState& map, const SetPointer& set,
               const std::string& whose, const SetPointer& home) {
  if (map.from != set) {
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

void check_homes(const LoopState& loop, const SetPointer& set) {
  for (std::size_t i = 0; i < loop.objects.data.size(); ++i) {
    const Argument& argument = loop.objects.data[i];
    const DataState& data = *argument.data;
    const std::string what = fmt::format("{}: arg {}", loop.what, i);
    const auto map = [&loop](int number) -> const MapState& {
      return *loop.objects.maps.at(static_cast<std::size_t>(number));
    };
    if (data.sparsity != nullptr) {
      check_map(what, map(argument.map), set, "the Mat's rows are", data.sparsity->rows);
      check_map(what, map(argument.columns), set, "its columns are", data.sparsity->columns);
    }
    if (data.home == nullptr) continue;
    if (argument.map >= 0) {
      check_map(what, map(argument.map), set, "the Dat lives", data.home);
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

bool leads_nowhere_twice(const MapState& map) {
  return shared().plans->facts(map.table, map.from->size, 1).injective;
}

/// Code for a Map that leads nowhere twice takes no care of entities that meet.
void check_injective(LoopState& loop) {
  if (loop.injective.empty()) return;
  const std::lock_guard lock(loop.mutex);
  for (std::size_t i = 0; i < loop.injective.size(); ++i) {
    const MapState& map = *loop.objects.maps[loop.injective[i]];
    const std::int64_t version = map.table->version();
    if (loop.versions[i] == version) continue;
    if (!leads_nowhere_twice(map)) {
      throw UsageError(fmt::format(
          "{}: it was generated for a Map '{}' that leads to no entity twice, but this one does; "
          "make the loop again if its values were changed, or generate it from a program whose Map "
          "does "
          "so, too",
          loop.what, map.name));
    }
    loop.versions[i] = version;
  }
}

void add_matrices(runtime::Binding& made, const LoopState& loop, int bytes) {
  for (std::size_t i = 0; i < loop.objects.data.size(); ++i) {
    const Argument& argument = loop.objects.data[i];
    if (argument.data->sparsity == nullptr) continue;
    const MapState& rows = *loop.objects.maps[static_cast<std::size_t>(argument.map)];
    const MapState& columns = *loop.objects.maps[static_cast<std::size_t>(argument.columns)];
    plan::PositionSpec spec;
    spec.sparsity = argument.data->sparsity->table;
    spec.elements = {rows.from->size, nullptr};
    spec.rows = rows.table;
    spec.columns = columns.table;
    spec.bytes = bytes;
    made.matrices.push_back(std::move(spec));
    made.matrix_paths.emplace_back(argument.map, argument.columns);
    made.matrix_users.push_back(static_cast<int>(i));
  }
}

int first_user(const std::vector<Argument>& data, int map) {
  const auto user = std::ranges::find_if(
      data, [map](const Argument& one) { return one.map == map || one.columns == map; });
  return static_cast<int>(user - data.begin());
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
  made.n_elements = visited.whole->size;
  made.iteration.index_bytes = text.index_bytes;
  if (visited.part != nullptr) {
    made.n_elements = visited.part->table->n_rows();
    made.iteration.subset = true;
    made.items = {visited.part->table};
  }
  return made;
}

runtime::LaunchOptions launch_options(const CompiledLoop& compiled, int n_threads) {
  runtime::LaunchOptions options{n_threads, compiled.block_size, 0, Tuning::of(DeviceClass::host)};
  for (const auto& [name, value] : compiled.tuning) tune(options.tuning, name, value);
  return options;
}

/// Whether what a code needs of the mesh is so.
bool suits(const CompiledLoop& compiled, const exec::Executable& executable,
           const Arguments& objects) {
  for (std::size_t i = 0; i < compiled.injective.size(); ++i) {
    if (compiled.injective[i] && !leads_nowhere_twice(*objects.maps[i])) return false;
  }
  const int width = exec::position_bytes(executable);
  return width == 0 || std::ranges::all_of(objects.data, [width](const Argument& argument) {
           const SparsityPointer& sparsity = argument.data->sparsity;
           return sparsity == nullptr ||
                  plan::position_bytes(sparsity->table->longest_row) <= width;
         });
}

struct Chosen {
  const CompiledLoop* compiled;
  std::shared_ptr<exec::Executable> executable;
};

/// The first code that suits the mesh; if none does, the last, whose checks say why.
Chosen chosen(const LoopText& text, Backend backend, const Arguments& objects) {
  Chosen found{};
  for (const CompiledLoop* one : compiled_for(text, backend)) {
    found = {one, exec::read_executable(one->executable)};
    found.executable->launch = one->launch;
    if (suits(*one, *found.executable, objects)) break;
  }
  return found;
}

void prepare(LoopState& loop, const LoopText& text, const Chosen& code, const Visited& visited) {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  auto& timing = all.timings[{text.name, code.compiled->backend}];
  if (!timing) timing = std::make_shared<runtime::Timing>();
  loop.prepared = std::make_unique<runtime::PreparedLoop>(
      code.executable, binding_of(loop, visited, text, *code.executable),
      launch_options(*code.compiled, n_threads_of(all.options)), all.plans, timing);
}

}  // namespace

Visited::Visited(const Subset& subset) : whole(subset.state()->whole), part(subset.state()) {}

Loop made_loop(const LoopText& text, const Visited& visited, Arguments arguments) {
  Backend backend{};
  {
    const std::lock_guard lock(shared().mutex);
    backend = shared().options.backend;
  }
  auto loop = std::make_shared<LoopState>();
  loop->what = fmt::format("par_loop '{}'", text.name);
  loop->objects = std::move(arguments);
  check_indices(*loop, visited, text.index_bytes);
  check_homes(*loop, visited.whole);
  check_memory(*loop);
  const Chosen code = chosen(text, backend, loop->objects);
  for (std::size_t i = 0; i < code.compiled->injective.size(); ++i) {
    if (code.compiled->injective[i]) loop->injective.push_back(i);
  }
  loop->versions.assign(loop->injective.size(), -1);
  check_injective(*loop);
  prepare(*loop, text, code, visited);
  return Loop(std::move(loop));
}

void run(LoopState& loop) {
  check_injective(loop);
  loop.prepared->run();
}

}  // namespace api

void init(const Options& options) {
  if (options.threads < 0) {
    throw UsageError(fmt::format("init: threads must be 0 or more, got {}", options.threads));
  }
  const std::lock_guard lock(api::shared().mutex);
  api::shared().options = options;
}

}  // namespace op2
