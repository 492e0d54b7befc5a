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

/// The rows of a map in the order of @p elements, which number rows of @p subset, if there is one.
template <class Index, class Value, class Entry>
IndexArray rows_of(const mesh::MapTable& map, const std::vector<Entry>& elements,
                   const mesh::MapTable* subset, int n_threads) {
  const auto* values = static_cast<const Value*>(map.values());
  const std::int64_t arity = map.arity();
  std::vector<Index> out(elements.size() * at(arity));
  const auto copy = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t entry = elements[at(i)];
      const std::int64_t position = entry < 0 ? -1 - entry : entry;
      const std::int64_t element = subset != nullptr ? subset->at(position, 0) : position;
      if (element >= map.n_rows()) {
        throw UsageError(
            fmt::format("plan: an inverse with element {} cannot be composed with a Map of {} rows",
                        element, map.n_rows()));
      }
      for (std::int64_t slot = 0; slot < arity; ++slot) {
        out[at(i * arity + slot)] = static_cast<Index>(values[element * arity + slot]);
      }
    }
  };
  parallel_for(n_threads, static_cast<std::int64_t>(elements.size()), copy);
  return out;
}

template <class Index, class Entry>
IndexArray rows_as(const mesh::MapTable& map, const std::vector<Entry>& elements,
                   const mesh::MapTable* subset, int n_threads) {
  return map.index_bytes() == 4 ? rows_of<Index, std::int32_t>(map, elements, subset, n_threads)
                                : rows_of<Index, std::int64_t>(map, elements, subset, n_threads);
}

}  // namespace

IndexArray compose(const mesh::MapTable& map, const SlotColumns& columns,
                   const mesh::MapTable* subset, int index_bytes, int n_threads) {
  if (index_bytes == 4 && !fits_int32(map.n_targets())) {
    throw UsageError(
        fmt::format("plan: targets below {} do not fit indices of 4 bytes", map.n_targets()));
  }
  return std::visit(
      [&](const auto& elements) {
        return index_bytes == 4 ? rows_as<std::int32_t>(map, elements, subset, n_threads)
                                : rows_as<std::int64_t>(map, elements, subset, n_threads);
      },
      columns.elements);
}

}  // namespace op2::plan
