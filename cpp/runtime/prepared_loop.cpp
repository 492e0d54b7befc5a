// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/prepared_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "exec/portable.hpp"
#include "runtime/host/contention.hpp"
#include "runtime/host/threads.hpp"
#include "runtime/nvtx.hpp"

namespace op2::runtime {
namespace {

constexpr std::size_t scratch_alignment = 64;

/// Sets the phase that runs, and resets it at the end whatever happens.
class PhaseScope {
 public:
  PhaseScope(Phase& where, Phase phase) : where_(where) { where_ = phase; }
  ~PhaseScope() { where_ = Phase::all; }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;
  PhaseScope(PhaseScope&&) = delete;
  PhaseScope& operator=(PhaseScope&&) = delete;

 private:
  Phase& where_;
};

/// Whether elements that follow each other may lead to one target, as the cells of a column do that
/// change what belongs to all of it.
bool is_common_to_neighbours(const mesh::MapTable& table, std::int64_t n_elements) {
  for (std::int64_t i = 1; i < n_elements; ++i) {
    if (table.at(i, 0) == table.at(i - 1, 0)) return true;
  }
  return false;
}

/// What an argument of generated code is, by its number. Tables of loops that were compiled ahead
/// may be damaged, or of other loops.
template <class Items>
const auto& item_of(const Items& items, const abi::Parameter& argument) {
  const auto index = static_cast<std::size_t>(argument.index);
  if (argument.index >= 0 && index < items.size()) return items[index];
  throw UsageError(
      fmt::format("its code's argument '{}' is {} number {}, of which there are {}: the table "
                  "of loops that it is from does not fit; make it again",
                  argument.name, exec::name_of(argument.role), argument.index, items.size()));
}

}  // namespace

PreparedLoop::PreparedLoop(ExecutablePtr executable, Binding binding, LaunchOptions options,
                           std::shared_ptr<plan::PlanCache> plans, std::shared_ptr<Timing> timing,
                           std::shared_ptr<DeviceMirror> mirror)
    : executable_(std::move(executable)),
      binding_(std::move(binding)),
      options_(options),
      plans_(std::move(plans)),
      argv_(executable_->arguments.size()),
      team_(timing->team_choice(binding_.n_elements,
                                TeamRules::of(options_.tuning, binding_.n_elements))),
      mirror_(std::move(mirror)),
      timing_(std::move(timing)) {
  if ((executable_->device != nullptr) != (mirror_ != nullptr)) {
    throw InternalError("a loop of a device needs one, and a loop of the host none");
  }
  note_uses();
  kept_uses_ = uses_;
  for (mesh::BufferUse& use : kept_uses_) {
    if (use.use == mesh::Use::write) use.use = mesh::Use::read_write;
  }
  handles_.resize(uses_.size());
}

void PreparedLoop::note_uses() {
  what_ = fmt::format("par_loop '{}'", executable_->name);
  for (const abi::Parameter& argument : executable_->arguments) {
    if (argument.role == abi::Role::data) {
      uses_.push_back(
          {item_of(binding_.arguments, argument).get(), use_of(argument), argument.index});
    } else if (argument.role == abi::Role::constant) {
      uses_.push_back({item_of(binding_.constants, argument).get(), mesh::Use::read, -1});
    }
  }
}

/// What is overwritten completely need not be copied to where it will be.
mesh::Use PreparedLoop::use_of(const abi::Parameter& argument) const {
  if (argument.type.is_const) return mesh::Use::read;
  const auto index = static_cast<std::size_t>(argument.index);
  const bool is_overwritten = index < executable_->data.size() &&
                              executable_->data[index].is_overwritten &&
                              binding_.arguments[index]->n_rows() == binding_.n_elements;
  return is_overwritten ? mesh::Use::write : mesh::Use::read_write;
}

bool PreparedLoop::run() {
  const std::lock_guard lock(mutex_);
  return run_now();
}

bool PreparedLoop::run(Phase phase) {
  const std::lock_guard lock(mutex_);
  const PhaseScope scope(phase_, phase);
  return run_now();
}

bool PreparedLoop::run_with(std::vector<std::shared_ptr<mesh::Buffer>> arguments) {
  check_number(arguments.size());
  const std::lock_guard lock(mutex_);
  exchange(arguments);
  try {
    const bool has_copied = run_now();
    exchange(arguments);
    return has_copied;
  } catch (...) {
    exchange(arguments);
    throw;
  }
}

std::shared_ptr<PreparedLoop> PreparedLoop::rebound(
    std::vector<std::shared_ptr<mesh::Buffer>> arguments) {
  check_number(arguments.size());
  const std::lock_guard lock(mutex_);  // run_with() changes what is copied here
  Binding binding = binding_;
  binding.arguments = std::move(arguments);
  return std::make_shared<PreparedLoop>(executable_, std::move(binding), options_, plans_, timing_,
                                        mirror_);
}

void PreparedLoop::check_number(std::size_t n_arguments) const {
  if (n_arguments == binding_.arguments.size()) return;
  throw InternalError(
      fmt::format("{} has {} arguments, got {}", what_, binding_.arguments.size(), n_arguments));
}

void PreparedLoop::exchange(std::vector<std::shared_ptr<mesh::Buffer>>& arguments) {
  binding_.arguments.swap(arguments);
  for (auto* uses : {&uses_, &kept_uses_}) {
    for (mesh::BufferUse& use : *uses) {
      if (use.argument < 0) continue;  // a constant
      use.buffer = binding_.arguments[static_cast<std::size_t>(use.argument)].get();
    }
  }
}

bool PreparedLoop::run_now() {
  check_fork();
  const NamedRange range(what_.c_str());
  ensure_plan();
  const bool has_copied = mirror_ ? run_on_device() : run_on_host();
  if (phase_ != Phase::core) count_run();
  return has_copied;
}

PreparedLoop::Range PreparedLoop::range_of(Phase phase) const {
  switch (phase) {
    case Phase::all:
      return {0, plan_.n_items};
    case Phase::core:
      return {0, plan_.n_core_items};
    case Phase::boundary:
      return {plan_.n_core_items, plan_.n_items};
  }
  throw InternalError("range_of: not a Phase");
}

bool PreparedLoop::is_split() const {
  return options_.is_deterministic && plan_.n_core_items > 0 && plan_.n_core_items < plan_.n_items;
}

std::int64_t PreparedLoop::useful_bytes() const {
  if (phase_ == Phase::all || plan_.n_items == 0) return options_.useful_bytes;
  return options_.useful_bytes / plan_.n_items * range_of(phase_).size();
}

void PreparedLoop::count_run() {
  timing_->count(1, options_.useful_bytes, options_.operations, options_.float_bytes);
}

void PreparedLoop::note(std::string_view kind, std::int64_t begin, std::int64_t n_bytes) const {
  if (!timing_->trace->is_on()) return;
  timing_->trace->add(
      {executable_->name, std::string(kind), "host", begin, trace_clock() - begin, n_bytes});
}

/// The very first call pays for what a driver puts off until then: it is no sample of the others.
/// Of a call in parts all are measured, or none.
bool PreparedLoop::is_measured() {
  const Trace& trace = *timing_->trace;
  const bool is_first = !has_run_;
  has_run_ = has_run_ || phase_ != Phase::core;
  if (!trace.is_on() || (is_first && trace.every() > 1)) return false;
  if (std::exchange(trace_number_, trace.number()) != trace.number()) n_profiled_ = 0;
  const bool is_sample = n_profiled_ % trace.every() == 0;
  if (phase_ != Phase::core) ++n_profiled_;
  return is_sample;
}

bool PreparedLoop::run_saving(const std::vector<int>& also) {
  {
    const std::lock_guard lock(mutex_);
    saved_.clear();
    save_also_ = also;
    is_saving_ = true;  // what would be overwritten unseen has to be put back
  }
  try {
    const bool has_copied = run();
    is_saving_ = false;
    return has_copied;
  } catch (...) {
    is_saving_ = false;
    throw;
  }
}

void PreparedLoop::save(std::size_t use) {
  const mesh::BufferUse& used = uses_[use];
  const bool is_asked_for =
      std::find(save_also_.begin(), save_also_.end(), used.argument) != save_also_.end();
  const std::int64_t n_bytes = used.buffer->n_bytes();
  if ((used.use == mesh::Use::read && !is_asked_for) || n_bytes == 0) return;
  Saved& kept = saved_.emplace_back(Saved{use, n_bytes, nullptr, nullptr});
  if (mirror_ == nullptr) {
    kept.on_host = spare(use, n_bytes);
    if (!kept.on_host) {
      kept.on_host = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(n_bytes));
    }
    std::memcpy(kept.on_host.get(), used.buffer->data(), static_cast<std::size_t>(n_bytes));
  } else {
    kept.on_device = mirror_->device()->allocate(n_bytes, "what " + what_ + " may have to restore");
    mirror_->device()->copy(kept.on_device.get(), 0, handles_[use], 0, n_bytes);
  }
}

// New pages cost more than what is copied into them.
std::unique_ptr<std::byte[]> PreparedLoop::spare(std::size_t use, std::int64_t n_bytes) {
  for (Saved& one : spares_) {
    if (one.use == use && one.n_bytes == n_bytes) return std::move(one.on_host);
  }
  return nullptr;
}

void PreparedLoop::restore() {
  const std::lock_guard lock(mutex_);
  for (const Saved& kept : saved_) {
    mesh::Buffer& buffer = *uses_[kept.use].buffer;
    if (kept.on_host) {
      std::memcpy(buffer.data(), kept.on_host.get(), static_cast<std::size_t>(buffer.n_bytes()));
      continue;
    }
    void* const handle = buffer.on_device(mirror_->device(), mesh::Use::write, {what_});
    mirror_->device()->copy(handle, 0, kept.on_device.get(), 0, buffer.n_bytes());
  }
  saved_.clear();
}

void PreparedLoop::forget_saved() {
  const std::lock_guard lock(mutex_);
  spares_ = mirror_ == nullptr ? std::exchange(saved_, {}) : std::vector<Saved>{};
  saved_.clear();
}

bool PreparedLoop::run_on_host() {
  const bool has_copied = make_ready_on_host();
  const std::int64_t start = trace_clock();
  const int status = launch(context_);
  note_launch(start, context_.flags != 0);
  check(status);
  return has_copied;
}

bool PreparedLoop::make_ready_on_host() {
  const bool has_copied = mesh::bring_to_host(current_uses(), {what_});
  for (std::size_t i = 0; is_saving_ && i < uses_.size(); ++i) save(i);
  count_writes();
  std::fill(std::begin(error_), std::end(error_), 0);
  if (plan_.n_items > 0) gather_addresses();
  const bool alone = plan_.n_items == 0 || is_alone();
  context_.flags = alone ? OP2_ONE_THREAD : 0;
  if (!alone) note_parallel_region();
  return has_copied;
}

bool PreparedLoop::make_ready_for_team() {
  check_fork();
  ensure_plan();
  count_run();
  return make_ready_on_host();
}

int PreparedLoop::launch(const op2_context_v1& context) {
  if (phase_ != Phase::all) return launch(context, range_of(phase_));
  if (!is_split()) return launch(context, range_of(Phase::all));
  const int status = launch(context, range_of(Phase::core));
  const int second = launch(context, range_of(Phase::boundary));  // a team's threads do alike
  return status != 0 ? status : second;
}

int PreparedLoop::launch(const op2_context_v1& context, Range range) {
  if (range.size() == 0) return 0;
  return executable_->launch(&context, range.begin, range.end, argv_.data(),
                             static_cast<unsigned int>(argv_.size()));
}

void PreparedLoop::note_launch(std::int64_t start, bool was_alone) {
  const std::int64_t nanoseconds = trace_clock() - start;
  // a team is chosen by what whole loops take
  const bool is_whole = phase_ == Phase::all && plan_.n_items > 0;
  if (context_.n_threads > 1 && is_whole) team_->note(was_alone, nanoseconds);
  timing_->nanoseconds += nanoseconds;
  note("loop", start, useful_bytes());
}

bool PreparedLoop::is_alone() {
  if (!executable_->is_parallel || context_.n_threads == 1) return true;
  if (forked_after_parallel_region()) return true;  // the team did not come along
  return team_->is_alone(contention().round(trace_clock()));
}

bool PreparedLoop::bring_to_device() {
  // A loop over nothing moves nothing.
  const bool has_items = range_of(phase_).size() > 0;
  std::vector<std::shared_ptr<void>> held;  // to be taken again by the launches
  const auto largest = std::ranges::max_element(whole_, {}, &DeviceLoop::changing_bytes);
  if (has_items && largest != whole_.end()) held = (*largest)->scratch(executable_->name);
  const bool has_copied = has_items && mirror_->coherence().to_device(
                                           mirror_->device(), current_uses(), handles_, {what_});
  for (std::size_t i = 0; is_saving_ && has_items && i < uses_.size(); ++i) save(i);
  count_writes();
  return has_copied;
}

bool PreparedLoop::run_on_device() {
  const bool has_copied = bring_to_device();
  const std::int64_t start = trace_clock();
  const bool is_sample = is_measured();
  if (range_of(phase_).size() > 0) {
    note_parallel_region();  // a driver's threads do not come along either
    Meter& meter = mirror_->meter();
    std::unique_ptr<DeviceSpan> span = is_sample ? meter.open() : nullptr;
    if (phase_ == Phase::all) {
      for (DeviceLoop* loop : whole_) loop->run(handles_, executable_->name, span.get());
    } else {
      device_loop(phase_).run(handles_, executable_->name, span.get());
    }
    if (span) {
      const bool ends_call = phase_ != Phase::core || range_of(Phase::boundary).size() == 0;
      meter.close(std::move(span), timing_, executable_->name,
                  {.n_calls = ends_call ? 1 : 0, .n_bytes = useful_bytes()});
    }
  }
  timing_->nanoseconds += trace_clock() - start;
  note("enqueue", start, 0);
  return has_copied;
}

Device* PreparedLoop::recorder() {
  if (mirror_ == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  check_fork();
  ensure_plan();
  const bool is_repeatable = std::all_of(
      whole_.begin(), whole_.end(), [](const DeviceLoop* loop) { return loop->is_repeatable(); });
  return is_repeatable ? mirror_->device().get() : nullptr;
}

std::string PreparedLoop::why_not_recorded() {
  if (mirror_ == nullptr) return {};
  const std::lock_guard lock(mutex_);
  std::int64_t n_bytes = 0;
  for (const DeviceLoop* loop : whole_) n_bytes = std::max(n_bytes, loop->changing_bytes());
  if (n_bytes == 0) return {};
  return fmt::format(
      "{} allocates {} bytes of scratch memory for each run, because that is more than "
      "kept_scratch_bytes = {}; tuning={{'kept_scratch_bytes': {}}} lets it keep them",
      what_, n_bytes, options_.tuning.kept_scratch_bytes, n_bytes);
}

std::size_t PreparedLoop::n_launches() const {
  return std::accumulate(
      whole_.begin(), whole_.end(), std::size_t{0},
      [](std::size_t n, const DeviceLoop* loop) { return n + loop->n_launches(); });
}

Device* PreparedLoop::recorder(Phase phase) {
  Device* device = recorder();
  if (device == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  return device_loop(phase).is_repeatable() ? device : nullptr;
}

std::size_t PreparedLoop::n_launches(Phase phase) const {
  const std::unique_ptr<DeviceLoop>& loop = device_loops_.at(static_cast<std::size_t>(phase));
  return loop && range_of(phase).size() > 0 ? loop->n_launches() : 0;
}

bool PreparedLoop::make_ready(Phase phase, std::vector<std::uintptr_t>& state) {
  const std::lock_guard lock(mutex_);
  const PhaseScope scope(phase_, phase);
  return ready_now(state);
}

void PreparedLoop::launch_ready(Phase phase) {
  const std::lock_guard lock(mutex_);
  if (range_of(phase).size() == 0) return;
  note_parallel_region();
  device_loop(phase).run(handles_, executable_->name);
}

bool PreparedLoop::make_ready(std::vector<std::uintptr_t>& state) {
  const std::lock_guard lock(mutex_);
  return ready_now(state);
}

bool PreparedLoop::ready_now(std::vector<std::uintptr_t>& state) {
  check_fork();
  ensure_plan();
  state.push_back(n_device_loops_);
  const bool has_copied = bring_to_device();
  for (void* handle : handles_) state.push_back(reinterpret_cast<std::uintptr_t>(handle));
  return has_copied;
}

void PreparedLoop::launch_ready() {
  const std::lock_guard lock(mutex_);
  if (plan_.n_items == 0) return;
  note_parallel_region();
  for (DeviceLoop* loop : whole_) loop->run(handles_, executable_->name);
}

void PreparedLoop::count_replays(std::int64_t n) {
  const std::lock_guard lock(mutex_);
  timing_->count(n, options_.useful_bytes, options_.operations, options_.float_bytes);
  for (std::int64_t i = 1; i < n; ++i) count_writes();  // the first were make_ready()'s
}

void PreparedLoop::count_writes() {
  if (phase_ == Phase::core) return;
  for (const mesh::BufferUse& use : uses_) {
    if (use.use != mesh::Use::read) use.buffer->increment_version();
  }
}

void PreparedLoop::check_fork() const {
  if (mirror_ == nullptr || !forked_after_parallel_region()) return;
  throw ExecutionError(fmt::format(
      "par_loop '{}': this process was forked after a parallel loop had run, and the device did "
      "not come along; start worker processes with the 'spawn' method, or run their loops on "
      "backend 'sequential'",
      executable_->name));
}

void PreparedLoop::prepare() {
  const std::lock_guard lock(mutex_);
  ensure_plan();
}

void PreparedLoop::ensure_plan() {
  if (has_plan_ && !plan_is_stale()) return;
  has_plan_ = false;  // also if building the new one fails
  const std::int64_t start = trace_clock();
  for_loop(executable_->name, [this] { build_plan(); });
  if (mirror_ == nullptr) {
    size_scratch();
  } else {
    device_loops_ = {};
    whole_.clear();
    if (is_split()) {
      whole_ = {&device_loop(Phase::core), &device_loop(Phase::boundary)};
    } else {
      whole_ = {&device_loop(Phase::all)};
    }
    ++n_device_loops_;
  }
  timing_->plan_nanoseconds += trace_clock() - start;
  note("plan", start, plan_.n_bytes);
  has_plan_ = true;
}

DeviceLoop& PreparedLoop::device_loop(Phase phase) {
  std::unique_ptr<DeviceLoop>& loop = device_loops_.at(static_cast<std::size_t>(phase));
  if (loop) return *loop;
  std::vector<plan::MapPointer> tables = plan_.tables;
  tables.insert(tables.end(), binding_.items.begin(), binding_.items.end());
  std::vector<std::int64_t> strides;
  for (const auto& argument : binding_.arguments) strides.push_back(argument->n_rows());
  const auto item_bytes = options_.useful_bytes / std::max<std::int64_t>(plan_.n_items, 1);
  const Range range = range_of(phase);
  loop = std::make_unique<DeviceLoop>(
      *executable_, mirror_, tables,
      DevicePlan{
          phase == Phase::all ? plan_.arrays : plan_.arrays.with_colours_of(range.begin, range.end),
          range.size(), options_.block_size, std::move(strides), matrix_arrays_, item_bytes,
          options_.tuning, range.begin});
  return *loop;
}

bool PreparedLoop::plan_is_stale() const {
  for (std::size_t i = 0; i < map_versions_.size(); ++i) {
    if (binding_.maps[i]->version() != map_versions_[i]) return true;
  }
  return false;
}

void PreparedLoop::build_plan() {
  map_versions_.clear();
  for (const auto& map : binding_.maps) map_versions_.push_back(map->version());
  find_positions();
  plan_ = plan::make_plan(plan_request(), *plans_);
}

plan::PlanRequest PreparedLoop::plan_request() const {
  const abi::PlanSpec& spec = executable_->plan;
  plan::PlanRequest request;
  request.spec = spec;
  request.items = executable_->items;
  request.n_elements = binding_.n_elements;
  request.n_boundary = binding_.n_boundary;
  request.maps.assign(binding_.maps.begin(), binding_.maps.end());
  request.block_size = options_.block_size;
  request.n_threads = options_.n_threads;
  request.tuning = options_.tuning;
  request.conflicts = conflicts();
  if (const abi::Inversion* inversion = abi::inversion_of(spec)) invert(*inversion, request);
  const auto targets = [this](int map) {
    return targets_of(binding_, map, *plans_, options_.n_threads);
  };
  const auto compose = [&](const abi::ComposedMaps& composed) {
    for (const int map : composed.maps) request.composed.push_back(targets(map));
  };
  const auto compose_pairs = [&](const auto& pairs) {
    compose(pairs.composed);
    for (const abi::CornerMaps& maps : pairs.corners) {
      request.corners.push_back({targets(maps.of_elements), targets(maps.of_targets)});
    }
  };
  if (const auto* plain = std::get_if<abi::InversePlan>(&spec)) compose(plain->composed);
  if (const auto* padded = std::get_if<abi::PaddedPlan>(&spec)) compose(padded->composed);
  if (const auto* columns = std::get_if<abi::ColumnsPlan>(&spec)) compose_pairs(*columns);
  if (const auto* pairs = std::get_if<abi::PairsPlan>(&spec)) compose_pairs(*pairs);
  if (std::holds_alternative<abi::EntriesPlan>(spec)) request.matrices = positions_;
  return request;
}

void PreparedLoop::invert(const abi::Inversion& inversion, plan::PlanRequest& request) const {
  const plan::IncidenceOrder order = plan::incidence_order(request.spec);
  request.inverse = inverse_of(binding_, inversion.maps, order, *plans_, options_.n_threads,
                               inversion.all_targets);
  // rows that sum what all elements have left are in no phase
  if (request.items == abi::Items::elements) request.inverse.elements.n_boundary = 0;
  if (inversion.all_targets) request.n_boundary = 0;
  for (const std::vector<int>& maps : inversion.further) {
    request.further.push_back(whole_inverse_of(binding_, maps, order, *plans_, options_.n_threads));
  }
}

plan::ConflictSet PreparedLoop::conflicts() const {
  plan::ConflictSet set{elements_of(binding_), {}, plan::EntryOrigin::position};
  const bool is_staged = std::holds_alternative<abi::StagedPlan>(executable_->plan);
  for (const int map : plan::conflicts_of(executable_->plan)) {
    const auto i = static_cast<std::size_t>(map);
    if (binding_.maps[i]->is_ragged()) {
      set.conflicts.push_back({binding_.maps[i], plan::all_slots, binding_.spaces[i]});
      continue;
    }
    const std::vector<plan::Occurrence> rows =
        occurrences_of(binding_, map, *plans_, options_.n_threads);
    const plan::MapPointer& table = rows.front().map;
    // a block of a GPU has as many elements as it has lanes
    const bool has_columns =
        binding_.iteration.layers != Layers::none && table->arity() == 1 && !is_staged;
    if (has_columns && is_common_to_neighbours(*table, binding_.n_elements)) set.columns = table;
    if (static_cast<int>(rows.size()) == table->arity()) {
      set.conflicts.push_back({table, plan::all_slots, binding_.spaces[i]});
      continue;
    }
    for (const plan::Occurrence& row : rows) {
      set.conflicts.push_back({row.map, row.slot, binding_.spaces[i]});
    }
  }
  return set;
}

/// Positions are found for all elements, so that parts of a Set share them; of extruded Sets, for
/// the cells that this loop visits.
plan::PositionSpec PreparedLoop::position_spec(std::size_t matrix) {
  plan::PositionSpec spec = binding_.matrices[matrix];
  const auto [row_path, column_path] = binding_.matrix_paths[matrix];
  spec.rows = targets_of(binding_, row_path, *plans_, options_.n_threads);
  spec.columns = targets_of(binding_, column_path, *plans_, options_.n_threads);
  matrix_maps_.insert(matrix_maps_.end(), {spec.rows, spec.columns});
  if (binding_.iteration.layers != Layers::none) spec.elements = {binding_.n_elements, nullptr};
  return spec;
}

void PreparedLoop::find_positions() {
  matrix_arrays_.clear();
  matrix_maps_.clear();
  positions_.clear();
  for (std::size_t i = 0; i < binding_.matrices.size(); ++i) {
    const plan::PositionSpec& spec = positions_.emplace_back(position_spec(i));
    const auto positions = for_user(binding_.matrix_users, i,
                                    [&] { return plans_->positions(spec, options_.n_threads); });
    matrix_arrays_.push_back(plan::array_of(spec.sparsity->row_offset, spec.sparsity));
    matrix_arrays_.push_back(plan::array_of(positions->values, positions));
    matrix_arrays_.push_back(plan::array_of(positions->begins, positions));
  }
  for (const abi::Parameter& argument : executable_->arguments) {
    if (argument.role != abi::Role::matrix) continue;
    (void)item_of(matrix_arrays_, argument);
    if (argument.index % abi::n_matrix_arrays != abi::positions) continue;
    const auto& spec =
        binding_.matrices[static_cast<std::size_t>(argument.index / abi::n_matrix_arrays)];
    if (size_of(argument.type.dtype) != static_cast<std::size_t>(spec.bytes)) {
      throw InternalError("positions have another width than the generated code expects");
    }
  }
}

int PreparedLoop::threads_for_size() const {
  // one or all: a smaller team ends libgomp's other threads, which the next loop starts anew
  // an element that moves or computes more than a light one counts as several
  constexpr std::int64_t light_bytes = 128;
  constexpr std::int64_t light_operations = 64;
  const std::int64_t n_counted = std::max({binding_.n_elements, options_.useful_bytes / light_bytes,
                                           options_.operations / light_operations});
  const bool has_work = binding_.n_elements > 1 && n_counted / options_.tuning.thread_elements > 1;
  return has_work ? options_.n_threads : 1;
}

void PreparedLoop::size_scratch() {
  context_ = {};
  context_.n_threads = threads_for_size();
  context_.error = error_;
  const abi::ScratchSpec& spec = executable_->scratch;
  std::int64_t n_slots = context_.n_threads;
  if (spec.chunk > 0) n_slots = (plan_.n_items + spec.chunk - 1) / spec.chunk;
  if (spec.chunk < 0) n_slots = plan_.n_items;
  const std::int64_t bytes = n_slots * spec.per_slot + plan_.n_items * spec.per_item;
  scratch_.reset();
  if (bytes > 0) {
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes) +
                                                           scratch_alignment);
  }
  context_.scratch_bytes = bytes;
  auto start = reinterpret_cast<std::uintptr_t>(scratch_.get());
  start = (start + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
  context_.scratch = reinterpret_cast<void*>(start);
}

void PreparedLoop::gather_addresses() {
  for (std::size_t i = 0; i < executable_->arguments.size(); ++i) {
    const abi::Parameter& argument = executable_->arguments[i];
    switch (argument.role) {
      case abi::Role::data:
        argv_[i] = item_of(binding_.arguments, argument)->data();
        break;
      case abi::Role::constant:
        argv_[i] = item_of(binding_.constants, argument)->data();
        break;
      // Launches take one kind of pointer; the generated code restores const.
      case abi::Role::map:
        argv_[i] = const_cast<void*>(item_of(plan_.tables, argument)->values());
        break;
      case abi::Role::matrix:
        argv_[i] = const_cast<void*>(item_of(matrix_arrays_, argument).data);
        break;
      case abi::Role::items:
        argv_[i] = const_cast<void*>(item_of(binding_.items, argument)->values());
        break;
      case abi::Role::plan:
        argv_[i] = const_cast<void*>(plan_.arrays.at(argument).data);
        break;
      case abi::Role::local:
      case abi::Role::stride:
        throw InternalError("a number cannot be an argument");
    }
  }
}

void PreparedLoop::check(int status) const {
  const long code = error_[0] != 0 ? error_[0] : status;
  if (code == 0) return;
  throw ExecutionError(
      fmt::format("par_loop '{}': check {} failed: argument {}, element {}, value {}",
                  executable_->name, code, error_[1], error_[2], error_[3]));
}

}  // namespace op2::runtime
