// SPDX-License-Identifier: BSD-3-Clause
#include "api/op2.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "api/columns.hpp"
#include "api/object_states.hpp"
#include "api/shared.hpp"
#include "base/error.hpp"
#include "plan/target_table.hpp"
#include "runtime/host/threads.hpp"
#include "runtime/path_table.hpp"

namespace op2 {
namespace api {
namespace {

/// Only buffers that a loop writes are written: a view of values that are read stays one.
std::shared_ptr<mesh::Buffer> buffer_of(const View& values, std::string what) {
  const mesh::Layout rows{false, values.dim, static_cast<int>(values.scalar_bytes)};
  auto made = std::make_shared<mesh::Buffer>(shared().coherence, std::move(what), rows);
  made->reset(const_cast<void*>(values.data),
              static_cast<std::int64_t>(values.size * values.scalar_bytes));
  return made;
}

void check_range(const MapState& map) {
  const mesh::MapTable& table = *map.table;
  for (std::int64_t row = 0; row < table.n_rows(); ++row) {
    table.visit(row, [&](int slot, std::int64_t value) {
      if (value >= 0 && value < table.n_targets()) return;
      throw UsageError(fmt::format(
          "Map '{}': row {}, slot {} is {}, but Set '{}' has entities 0 to {}; is the numbering "
          "from 1, or the Map's target another Set?",
          map.name, row, slot, value, map.to->name, table.n_targets() - 1));
    });
  }
}

/// The values of a View one by one.
class Numbers {
 public:
  explicit Numbers(const View& view)
      : table_(view.data, static_cast<int>(view.scalar_bytes), static_cast<std::int64_t>(view.size),
               1, 0) {}
  [[nodiscard]] std::int64_t operator[](std::int64_t i) const { return table_.at(i, 0); }

 private:
  mesh::MapTable table_;
};

void check_begins(const std::string& name, const SetPointer& from, const View& offsets,
                  const View& values) {
  const std::int64_t n = from->size;
  if (offsets.size != static_cast<std::size_t>(n) + 1) {
    throw UsageError(
        fmt::format("RaggedMap '{}' from Set '{}': expected {} offsets, where the {} rows begin "
                    "and the last one ends, got {}",
                    name, from->name, n + 1, n, offsets.size));
  }
  const Numbers begins(offsets);
  if (begins[0] != 0) {
    throw UsageError(
        fmt::format("RaggedMap '{}': offsets must begin at 0, got {}", name, begins[0]));
  }
  for (std::int64_t row = 0; row < n; ++row) {
    if (begins[row] <= begins[row + 1]) continue;
    throw UsageError(
        fmt::format("RaggedMap '{}': offsets fall at row {}, from {} to {}; a row ends where the "
                    "next one begins",
                    name, row, begins[row], begins[row + 1]));
  }
  if (begins[n] != static_cast<std::int64_t>(values.size)) {
    throw UsageError(fmt::format("RaggedMap '{}': offsets end at {}, but there are {} values", name,
                                 begins[n], values.size));
  }
}

/// What a ragged Map owns.
struct OwnedRows {
  std::vector<std::byte> values;  // as mesh::MapTable reads them
  std::vector<std::int32_t> counts;
  std::shared_ptr<mesh::MapTable> table;
};

template <class Index>
std::shared_ptr<OwnedRows> own_rows(const std::string& name, const View& offsets,
                                    const View& values, std::int64_t n_targets) {
  const auto n_begins = static_cast<std::int64_t>(offsets.size);
  const auto n_values = static_cast<std::int64_t>(values.size);
  if (n_begins + n_values > std::numeric_limits<Index>::max()) {
    throw UsageError(fmt::format(
        "RaggedMap '{}': {} begins and entries are more than its type of index counts; make an "
        "op2::RaggedMap<std::int64_t>",
        name, n_begins + n_values));
  }
  auto owned = std::make_shared<OwnedRows>();
  owned->values.resize(static_cast<std::size_t>(n_begins + n_values) * sizeof(Index));
  auto* to = reinterpret_cast<Index*>(owned->values.data());
  const Numbers begins(offsets);
  const Numbers entries(values);
  for (std::int64_t i = 0; i < n_begins; ++i) *to++ = static_cast<Index>(begins[i] + n_begins);
  for (std::int64_t i = 0; i < n_values; ++i) *to++ = static_cast<Index>(entries[i]);
  for (std::int64_t row = 0; row + 1 < n_begins; ++row) {
    owned->counts.push_back(static_cast<std::int32_t>(begins[row + 1] - begins[row]));
  }
  owned->table = std::make_shared<mesh::MapTable>(
      owned->values.data(), static_cast<int>(sizeof(Index)), n_begins - 1, mesh::ragged, n_targets);
  return owned;
}

/// The root of the mean square, rounded up: see RaggedMap.typical_arity in Python.
int typical_of(const std::vector<std::int32_t>& counts) {
  double squares = 0.0;
  for (const std::int32_t n : counts) squares += static_cast<double>(n) * n;
  const double mean = counts.empty() ? 0.0 : squares / static_cast<double>(counts.size());
  return std::max(1, static_cast<int>(std::ceil(std::sqrt(mean))));
}

void check_side(const std::string& name, const char* side, const SetPointer& set,
                const MapState& map) {
  if (map.to == set) return;
  throw UsageError(
      fmt::format("Sparsity '{}': the {} are entities of Set '{}', but Map '{}' leads to Set '{}'",
                  name, side, set->name, map.name, map.to->name));
}

void check_offsets_given(const std::string& name, const char* what, const std::vector<int>& given,
                         int arity) {
  if (given.empty() || given.size() == static_cast<std::size_t>(arity)) return;
  throw UsageError(fmt::format("Map '{}': {}: expected {} numbers, one for each entry, got {}",
                               name, what, arity, given.size()));
}

void check_base(const SetPointer& base) {
  if (base->extrusion == nullptr) return;
  throw UsageError(
      fmt::format("ExtrudedSet: the base must be a Set that is not extruded, got ExtrudedSet '{}'",
                  base->name));
}

SetPointer extruded(const SetPointer& base, Extrusion made) {
  return std::make_shared<const SetState>(
      SetState{base->size, fmt::format("{}_extruded", base->name),
               std::make_shared<const Extrusion>(std::move(made)), std::make_shared<CellLists>()});
}

/// What a Map leads to from cells, written down for as long as a Sparsity is made.
plan::MapPointer from_cells(const std::string& name, const MapState& map, const Visited& visited,
                            const Cells& cells) {
  check_reach(fmt::format("Sparsity '{}'", name), map, visited);
  const Extrusion& columns = *visited.whole->extrusion;
  Iteration iteration;
  iteration.layers = columns.is_constant ? Layers::constant : Layers::variable;
  iteration.periodic = columns.is_periodic;
  const MapRef path = path_of(map, visited.region == Region::interior_facets);
  auto table = std::make_shared<plan::TargetTable>(
      target_table(runtime::path_table(map.table, path, iteration, cells.tables, cells.n),
                   runtime::available_threads()));
  return {table, table->map.get()};
}

/// A table of one column that owns its values.
std::shared_ptr<mesh::MapTable> copied_table(const View& values, std::int64_t n_targets) {
  struct Owned {
    std::vector<std::byte> values;
    mesh::MapTable table;
  };
  const auto* first = static_cast<const std::byte*>(values.data);
  std::vector<std::byte> own(first, first + values.size * values.scalar_bytes);
  const mesh::MapTable table(own.data(), static_cast<int>(values.scalar_bytes),
                             static_cast<std::int64_t>(values.size), 1, n_targets);
  const auto owned = std::make_shared<Owned>(Owned{std::move(own), table});
  return {owned, &owned->table};
}

}  // namespace

SetPointer made_extruded(const SetPointer& base, std::int64_t layers, bool periodic) {
  check_base(base);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (layers < 2 || layers > most) {
    throw UsageError(
        fmt::format("ExtrudedSet of Set '{}': a column of cells has at least 2 layers, and at most "
                    "{}, got {}",
                    base->name, most, layers));
  }
  return extruded(base, {base, true, periodic, {0, layers}});
}

SetPointer made_extruded(const SetPointer& base, const View& layers, bool periodic) {
  check_base(base);
  const auto n = static_cast<std::size_t>(base->size);
  if (layers.size != 2 * n) {
    throw UsageError(fmt::format(
        "ExtrudedSet of Set '{}': the layers must be a number, or numbers of shape ({}, 2), got {} "
        "numbers",
        base->name, n, layers.size));
  }
  const mesh::MapTable given(layers.data, static_cast<int>(layers.scalar_bytes), base->size, 2, 0);
  std::vector<std::int64_t> bounds;
  for (std::int64_t column = 0; column < base->size; ++column) {
    const std::int64_t lowest = given.at(column, 0);
    const std::int64_t end = given.at(column, 1);
    if (end - lowest < 1) {
      throw UsageError(
          fmt::format("ExtrudedSet of Set '{}': a column has at least 1 layer, and then no cells, "
                      "but column {} is [{}, {}] (lowest layer, one past the highest)",
                      base->name, column, lowest, end));
    }
    bounds.insert(bounds.end(), {lowest, end});
  }
  return extruded(base, {base, false, periodic, std::move(bounds)});
}

SubsetPointer made_subset(const SetPointer& whole, const View& indices, std::string name) {
  std::shared_ptr<mesh::MapTable> table = copied_table(indices, whole->size);
  std::int64_t last = -1;
  for (std::int64_t i = 0; i < table->n_rows(); ++i) {
    const std::int64_t index = table->at(i, 0);
    if (index < 0 || index >= whole->size) {
      throw UsageError(fmt::format("Subset '{}': index {} is {}, but Set '{}' has entities 0 to {}",
                                   name, i, index, whole->name, whole->size - 1));
    }
    if (index <= last) {
      throw UsageError(
          fmt::format("Subset '{}': index {} is {} and comes after {}; sort the indices and keep "
                      "each once",
                      name, i, index, last));
    }
    last = index;
  }
  return std::make_shared<const SubsetState>(SubsetState{whole, std::move(table), std::move(name)});
}

SparsityPointer made_sparsity(const SetPointer& rows, const SetPointer& columns,
                              const std::vector<MapPair>& pairs, std::string name) {
  plan::SparsitySpec spec{rows->size, columns->size, {}, rows == columns};
  for (const MapPair& pair : pairs) {
    if (pair.rows->from != pair.columns->from) {
      throw UsageError(
          fmt::format("Sparsity '{}': Map '{}' starts on Set '{}', but Map '{}' on Set '{}'; the "
                      "two of a pair start on one Set",
                      name, pair.rows->name, pair.rows->from->name, pair.columns->name,
                      pair.columns->from->name));
    }
    check_side(name, "rows", rows, *pair.rows);
    check_side(name, "columns", columns, *pair.columns);
    const Visited visited(pair.rows->from, pair.region);
    if (!visited.is_extruded()) {
      check_region(fmt::format("Sparsity '{}'", name), visited);
      spec.pairs.push_back({pair.rows->table, pair.columns->table, pair.rows->from->size});
      continue;
    }
    const std::shared_ptr<const Cells> cells = cells_of(visited, 8);
    spec.pairs.push_back({from_cells(name, *pair.rows, visited, *cells),
                          from_cells(name, *pair.columns, visited, *cells), cells->n});
  }
  auto table =
      std::make_shared<const plan::Sparsity>(build_sparsity(spec, runtime::available_threads()));
  return std::make_shared<const SparsityState>(
      SparsityState{rows, columns, std::move(table), std::move(name)});
}

DataPointer made_mat(const SparsityPointer& sparsity, const View& values, std::string name) {
  const std::int64_t wanted = sparsity->table->n_entries() * values.dim;
  if (values.size != static_cast<std::size_t>(wanted)) {
    throw UsageError(fmt::format(
        "Mat '{}': expected {} values ({} for each of the {} entries of Sparsity '{}'), got {}",
        name, wanted, values.dim, sparsity->table->n_entries(), sparsity->name, values.size));
  }
  auto buffer = buffer_of(values, fmt::format("Mat '{}'", name));
  return std::make_shared<const DataState>(nullptr, sparsity, std::move(buffer), "Mat",
                                           std::move(name));
}

MapPointer made_map(const SetPointer& from, const SetPointer& to, const View& values, Offset offset,
                    std::string name) {
  const auto arity = static_cast<std::size_t>(values.dim);
  const auto n_rows = static_cast<std::size_t>(from->size);
  if (values.size != n_rows * arity) {
    throw UsageError(
        fmt::format("Map '{}' from Set '{}': expected values of shape ({}, {}), got {} values",
                    name, from->name, n_rows, arity, values.size));
  }
  auto table = std::make_shared<mesh::MapTable>(values.data, static_cast<int>(values.scalar_bytes),
                                                from->size, values.dim, to->size);
  check_offsets_given(name, "offset", offset.layers, values.dim);
  check_offsets_given(name, "quotient", offset.quotient, values.dim);
  auto made = std::make_shared<const MapState>(
      MapState{from, to, std::move(table), std::move(name), std::move(offset)});
  check_range(*made);
  return made;
}

MapPointer made_ragged_map(const SetPointer& from, const SetPointer& to, const View& offsets,
                           const View& values, std::string name) {
  if (from->extrusion != nullptr) {
    throw UsageError(fmt::format(
        "RaggedMap '{}': Set '{}' is extruded; a ragged Map is between Sets without layers", name,
        from->name));
  }
  check_begins(name, from, offsets, values);
  const std::shared_ptr<OwnedRows> owned =
      values.scalar_bytes == 4 ? own_rows<std::int32_t>(name, offsets, values, to->size)
                               : own_rows<std::int64_t>(name, offsets, values, to->size);
  const std::shared_ptr<mesh::MapTable> table(owned, owned->table.get());
  check_range(MapState{from, to, table, name});
  const std::string counted = name + "_counts";
  const View counts{owned->counts.data(), 4, owned->counts.size(), 1};
  auto made = std::make_shared<DataState>(
      from, nullptr, buffer_of(counts, fmt::format("Dat '{}'", counted)), "Dat", counted);
  made->counted = table;
  return std::make_shared<const MapState>(
      MapState{from, to, table, std::move(name), {}, std::move(made), typical_of(owned->counts)});
}

const DataPointer& counts_of(const MapState& map) {
  return map.counts;
}

std::span<const std::int32_t> count_values(const MapState& map) {
  return {static_cast<const std::int32_t*>(map.counts->buffer->data()),
          static_cast<std::size_t>(map.from->size)};
}

DataPointer made_dat(const SetPointer& set, const View& values, std::string name) {
  if (set->extrusion != nullptr) {
    throw UnsupportedError(fmt::format(
        "ExtrudedSet '{}': values do not live on extruded Sets; make the Dat on its base Set, or "
        "on a Set of all degrees of freedom and a Map with an Offset",
        set->name));
  }
  const auto wanted = static_cast<std::size_t>(set->size) * static_cast<std::size_t>(values.dim);
  if (values.size != wanted) {
    throw UsageError(
        fmt::format("Dat '{}' on Set '{}': expected {} values (shape ({}, {})), got {}", name,
                    set->name, wanted, set->size, values.dim, values.size));
  }
  auto buffer = buffer_of(values, fmt::format("Dat '{}' on Set '{}'", name, set->name));
  return std::make_shared<const DataState>(set, nullptr, std::move(buffer), "Dat", std::move(name));
}

DataPointer made_global(const View& values, const char* kind, std::string name) {
  if (values.size != static_cast<std::size_t>(values.dim)) {
    throw UsageError(
        fmt::format("{} '{}': expected {} values, got {}", kind, name, values.dim, values.size));
  }
  auto buffer = buffer_of(values, fmt::format("{} '{}'", kind, name));
  return std::make_shared<const DataState>(nullptr, nullptr, std::move(buffer), kind,
                                           std::move(name));
}

/// The program's memory is still there, and may be read after this.
DataState::~DataState() {
  try {
    buffer->release(/*is_kept=*/true);
  } catch (const Error&) {  // whoever waits for the device has been told, or will be
  }
}

void bring_to_host(const DataState& data, bool is_written) {
  if (!data.buffer->is_tracked()) return;
  const mesh::Use use = is_written ? mesh::Use::read_write : mesh::Use::read;
  data.buffer->on_host(use, {is_written ? "values()" : "read()", -1, true});
}

void set_to_zero(const DataState& data) {
  mesh::Buffer& buffer = *data.buffer;
  if (!buffer.zero_on_device()) {
    buffer.on_host(mesh::Use::write, {"zero()", -1, true});
    if (buffer.n_bytes() > 0) {
      std::memset(buffer.data(), 0, static_cast<std::size_t>(buffer.n_bytes()));
    }
  }
  buffer.increment_version();
}

void check_changed(const MapState& map) {
  map.table->increment_version();
  check_range(map);
}

}  // namespace api

Set::Set(std::int64_t size, std::string name) {
  if (size < 0) {
    throw UsageError(
        fmt::format("Set '{}': the size must be an integer, not negative, got {}", name, size));
  }
  state_ = std::make_shared<const api::SetState>(api::SetState{size, std::move(name)});
}

std::int64_t Set::size() const {
  return state_->size;
}

const std::string& Set::name() const {
  return state_->name;
}

Subset::Subset(const Set& whole, std::span<const std::int32_t> indices, std::string name)
    : state_(api::made_subset(whole.state(), {indices.data(), 4, indices.size(), 1},
                              std::move(name))) {}

Subset::Subset(const Set& whole, std::span<const std::int64_t> indices, std::string name)
    : state_(api::made_subset(whole.state(), {indices.data(), 8, indices.size(), 1},
                              std::move(name))) {}

std::int64_t Subset::size() const {
  return state_->table->n_rows();
}

Sparsity::Sparsity(const Set& rows, const Set& columns, const std::vector<Coupling>& couplings,
                   std::string name) {
  std::vector<api::MapPair> pairs;
  for (const Coupling& coupling : couplings) pairs.push_back(coupling.maps);
  state_ = api::made_sparsity(rows.state(), columns.state(), pairs, std::move(name));
}

std::int64_t Sparsity::n_entries() const {
  return state_->table->n_entries();
}

std::span<const std::int64_t> Sparsity::row_offset() const {
  return state_->table->row_offset;
}

std::span<const std::int32_t> Sparsity::columns() const {
  if (const auto* narrow = std::get_if<std::vector<std::int32_t>>(&state_->table->columns)) {
    return *narrow;
  }
  throw UnsupportedError(
      fmt::format("Sparsity '{}': its columns are more than std::int32_t counts", state_->name));
}

}  // namespace op2
