// SPDX-License-Identifier: BSD-3-Clause
#include "api/op2.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/object_states.hpp"
#include "base/error.hpp"

namespace op2 {
namespace api {
namespace {

/// Only buffers that a loop writes are written: a view of values that are read stays one.
std::shared_ptr<mesh::Buffer> buffer_of(const View& values) {
  return std::make_shared<mesh::Buffer>(
      const_cast<void*>(values.data), static_cast<std::int64_t>(values.size * values.scalar_bytes));
}

void check_range(const MapState& map) {
  const mesh::MapTable& table = *map.table;
  for (std::int64_t row = 0; row < table.n_rows(); ++row) {
    for (int slot = 0; slot < table.arity(); ++slot) {
      const std::int64_t value = table.at(row, slot);
      if (value >= 0 && value < table.n_targets()) continue;
      throw UsageError(fmt::format(
          "Map '{}': row {}, slot {} is {}, but Set '{}' has entities 0 to {}; is the numbering "
          "from 1, or the Map's target another Set?",
          map.name, row, slot, value, map.to->name, table.n_targets() - 1));
    }
  }
}

}  // namespace

MapPointer made_map(const SetPointer& from, const SetPointer& to, const View& values,
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
  auto made =
      std::make_shared<const MapState>(MapState{from, to, std::move(table), std::move(name)});
  check_range(*made);
  return made;
}

DataPointer made_dat(const SetPointer& set, const View& values, std::string name) {
  const auto wanted = static_cast<std::size_t>(set->size) * static_cast<std::size_t>(values.dim);
  if (values.size != wanted) {
    throw UsageError(
        fmt::format("Dat '{}' on Set '{}': expected {} values (shape ({}, {})), got {}", name,
                    set->name, wanted, set->size, values.dim, values.size));
  }
  return std::make_shared<const DataState>(
      DataState{set, buffer_of(values), "Dat", std::move(name)});
}

DataPointer made_global(const View& values, const char* kind, std::string name) {
  if (values.size != static_cast<std::size_t>(values.dim)) {
    throw UsageError(
        fmt::format("{} '{}': expected {} values, got {}", kind, name, values.dim, values.size));
  }
  return std::make_shared<const DataState>(
      DataState{nullptr, buffer_of(values), kind, std::move(name)});
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

}  // namespace op2
