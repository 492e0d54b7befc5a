// SPDX-License-Identifier: BSD-3-Clause
#include "plan/composed.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "plan/at.hpp"

namespace op2::plan {
namespace {

/// The rows of a map for the element of each place, as @p element_at says: -1 for none.
template <class Index, class Value, class ElementAt>
IndexArray rows_of(const mesh::MapTable& map, std::size_t n_places, int n_threads,
                   const ElementAt& element_at) {
  const auto* values = static_cast<const Value*>(map.values());
  const std::int64_t arity = map.arity();
  std::vector<Index> out(n_places * at(arity), Index{-1});
  const auto copy = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t element = element_at(at(i));
      if (element >= map.n_rows()) {
        throw UsageError(
            fmt::format("plan: an inverse with element {} cannot be composed with a Map of {} rows",
                        element, map.n_rows()));
      }
      if (element < 0) continue;
      for (std::int64_t slot = 0; slot < arity; ++slot) {
        out[at(i * arity + slot)] = static_cast<Index>(values[element * arity + slot]);
      }
    }
  };
  parallel_for(n_threads, static_cast<std::int64_t>(n_places), copy);
  return out;
}

template <class Index, class ElementAt>
IndexArray rows_as(const mesh::MapTable& map, std::size_t n_places, int n_threads,
                   const ElementAt& element_at) {
  return map.index_bytes() == 4
             ? rows_of<Index, std::int32_t>(map, n_places, n_threads, element_at)
             : rows_of<Index, std::int64_t>(map, n_places, n_threads, element_at);
}

template <class ElementAt>
IndexArray composed_as(const mesh::MapTable& map, std::size_t n_places, int index_bytes,
                       int n_threads, const ElementAt& element_at) {
  if (index_bytes == 8) return rows_as<std::int64_t>(map, n_places, n_threads, element_at);
  if (!fits_int32(map.n_targets())) {
    throw UsageError(
        fmt::format("plan: targets below {} do not fit indices of 4 bytes", map.n_targets()));
  }
  return rows_as<std::int32_t>(map, n_places, n_threads, element_at);
}

}  // namespace

IndexArray compose(const mesh::MapTable& map, const SlotColumns& columns,
                   const mesh::MapTable* subset, int index_bytes, int n_threads) {
  return std::visit(
      [&](const auto& elements) {
        return composed_as(map, elements.size(), index_bytes, n_threads, [&](std::size_t place) {
          const std::int64_t entry = elements[place];
          const std::int64_t position = entry < 0 ? -1 - entry : entry;
          return subset != nullptr ? subset->at(position, 0) : position;
        });
      },
      columns.elements);
}

IndexArray compose(const mesh::MapTable& map, const IndexArray& entries, int index_bytes,
                   int n_threads) {
  return std::visit(
      [&](const auto& elements) {
        return composed_as(map, elements.size(), index_bytes, n_threads,
                           [&](std::size_t place) { return std::int64_t{elements[place]}; });
      },
      entries);
}

}  // namespace op2::plan
