// SPDX-License-Identifier: BSD-3-Clause
#include "plan/composed.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace op2::plan {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

template <class Entry>
void check(const mesh::MapTable& map, const std::vector<Entry>& entries, int n_occurrences) {
  const auto last = std::max_element(entries.begin(), entries.end());
  if (last != entries.end() && *last / n_occurrences >= map.n_rows()) {
    throw UsageError(
        fmt::format("plan: an inverse with element {} cannot be composed with a Map of {} rows",
                    *last / n_occurrences, map.n_rows()));
  }
}

/// Call @p fill with a vector of the Map's index type, and with its values as such.
template <class Fill>
IndexArray of_type(const mesh::MapTable& map, std::int64_t size, const Fill& fill) {
  const auto made = [&](auto out) -> IndexArray {
    using Index = typename decltype(out)::value_type;
    out.resize(at(size));
    fill(out, static_cast<const Index*>(map.values()));
    return out;
  };
  if (map.index_bytes() == 4) return made(std::vector<std::int32_t>());
  return made(std::vector<std::int64_t>());
}

/// The first incidence of a row; -1 if it has none.
template <class Entry>
std::int64_t first_of(const PaddedInverse& inverse, const std::vector<Entry>& columns,
                      std::int64_t row) {
  for (std::int64_t column = 0; column < inverse.width; ++column) {
    const Entry entry = columns[at(column * inverse.n_rows + row)];
    if (entry >= 0) return entry;
  }
  return -1;
}

}  // namespace

IndexArray compose(const mesh::MapTable& map, const InverseMap& inverse, int n_threads) {
  const auto over = [&](const auto& entries) {
    check(map, entries, inverse.n_occurrences);
    const std::int64_t arity = map.arity();
    const auto fill = [&](auto& out, const auto* values) {
      parallel_for(n_threads, inverse.n_entries(), [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t k = begin; k < end; ++k) {
          const std::int64_t element = entries[at(k)] / inverse.n_occurrences;
          std::copy_n(values + element * arity, arity, out.data() + k * arity);
        }
      });
    };
    return of_type(map, inverse.n_entries() * arity, fill);
  };
  return std::visit(
      overload{[&over](const std::vector<std::int32_t>& narrow) { return over(narrow); },
               [&over](const std::vector<std::int64_t>& wide) { return over(wide); }},
      inverse.entries);
}

IndexArray compose(const mesh::MapTable& map, const PaddedInverse& inverse, int n_threads) {
  const std::int64_t arity = map.arity();
  const std::int64_t n_rows = inverse.n_rows;
  const auto over = [&](const auto& columns) {
    check(map, columns, inverse.n_occurrences);
    const auto fill = [&](auto& out, const auto* values) {
      parallel_for(n_threads, n_rows, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t spare = std::max<std::int64_t>(first_of(inverse, columns, row), 0);
          for (std::int64_t column = 0; column < inverse.width; ++column) {
            const std::int64_t entry = columns[at(column * n_rows + row)];
            const std::int64_t element = (entry < 0 ? spare : entry) / inverse.n_occurrences;
            for (std::int64_t slot = 0; slot < arity; ++slot) {
              out[at((column * arity + slot) * n_rows + row)] = values[element * arity + slot];
            }
          }
        }
      });
    };
    return of_type(map, map.n_rows() == 0 ? 0 : inverse.width * arity * n_rows, fill);
  };
  return std::visit(
      overload{[&over](const std::vector<std::int32_t>& narrow) { return over(narrow); },
               [&over](const std::vector<std::int64_t>& wide) { return over(wide); }},
      inverse.columns);
}

IndexArray compose(const mesh::MapTable& map, const SlotColumns& columns,
                   const mesh::MapTable* subset, int index_bytes, int n_threads) {
  if (index_bytes == 4 && !fits_int32(map.n_targets())) {
    throw UsageError(
        fmt::format("plan: targets below {} do not fit indices of 4 bytes", map.n_targets()));
  }
  const std::int64_t arity = map.arity();
  const std::int64_t n = columns.n_columns() * columns.lanes;
  const auto write = [&](const auto& elements, const auto* values, auto& out) {
    using Index = typename std::decay_t<decltype(out)>::value_type;
    out.resize(at(n * arity));
    parallel_for(n_threads, n, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t entry = elements[at(i)];
        const std::int64_t position = entry < 0 ? -1 - entry : entry;
        const std::int64_t element = subset != nullptr ? subset->at(position, 0) : position;
        if (element >= map.n_rows()) {
          throw UsageError(fmt::format(
              "plan: an inverse with element {} cannot be composed with a Map of {} rows", element,
              map.n_rows()));
        }
        for (std::int64_t slot = 0; slot < arity; ++slot) {
          out[at(i * arity + slot)] = static_cast<Index>(values[element * arity + slot]);
        }
      }
    });
  };
  const auto from = [&](const auto& elements, auto out) -> IndexArray {
    if (map.index_bytes() == 4) {
      write(elements, static_cast<const std::int32_t*>(map.values()), out);
    } else {
      write(elements, static_cast<const std::int64_t*>(map.values()), out);
    }
    return out;
  };
  return std::visit(
      [&](const auto& elements) {
        return index_bytes == 4 ? from(elements, std::vector<std::int32_t>())
                                : from(elements, std::vector<std::int64_t>());
      },
      columns.elements);
}

}  // namespace op2::plan
