// SPDX-License-Identifier: BSD-3-Clause
#include "plan/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/column_layout.hpp"
#include "base/corner_codes.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "plan/at.hpp"
#include "plan/composed.hpp"

namespace op2::plan {
namespace {

/// An incidence, or what stands in the place of one.
struct Incident {
  std::int64_t entry;
  bool is_there;
};

std::int64_t width_of(const InverseMap& inverse, int wanted) {
  if (wanted == 0) return inverse.degree_max;
  if (inverse.degree_max > 0 && inverse.degree_max <= wanted) return wanted;
  throw InternalError(fmt::format("a target has {} incidences where {} were told to be the most",
                                  inverse.degree_max, wanted));
}

/// Where columns lie in memory.
struct Layout {
  std::int64_t width;
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::int64_t lanes = 1;     // rows of a group, if there are groups
  std::int64_t n_places = 0;  // of rows: more than there are, if the last group is not full

  [[nodiscard]] bool is_in_groups() const { return lanes > 1; }
  [[nodiscard]] std::int64_t size() const { return width * n_places; }
  [[nodiscard]] std::int64_t place(std::int64_t row, std::int64_t column) const {
    return row / lanes * row_stride + row % lanes + column * column_stride;
  }
};

Layout layout_of(const InverseMap& inverse, const PairLayout& wanted) {
  const std::int64_t width = width_of(inverse, wanted.width);
  if (wanted.lanes > 0) {
    if (inverse.order != IncidenceOrder::by_slot) {
      throw InternalError("columns of pairs in groups: the inverse is not ordered by slot");
    }
    const std::int64_t lanes = wanted.lanes;
    const std::int64_t n_groups = (inverse.n_rows + lanes - 1) / lanes;
    return {width, width * lanes, lanes, lanes, n_groups * lanes};
  }
  if (abi::is_by_rows(wanted.width)) return {width, width, 1, 1, inverse.n_rows};
  return {width, 1, inverse.n_rows, 1, inverse.n_rows};
}

/// The incidences of a row: slot 0 comes before slot 1.
struct Row {
  std::int64_t first;
  std::int64_t n;
  std::int64_t n_of_slot_0 = 0;
};

template <class Entry>
Row row_by_slot(const InverseMap& inverse, const std::vector<Entry>& entries, std::int64_t row) {
  Row out{inverse.offset[at(row)], inverse.offset[at(row + 1)] - inverse.offset[at(row)]};
  while (out.n_of_slot_0 < out.n && entries[at(out.first + out.n_of_slot_0)] % 2 == 0) {
    ++out.n_of_slot_0;
  }
  return out;
}

template <class Entry>
Incident incidence_at(const InverseMap& inverse, const std::vector<Entry>& entries,
                      const Layout& layout, std::int64_t row, std::int64_t column) {
  const std::int64_t first = inverse.offset[at(row)];
  const std::int64_t n = inverse.offset[at(row + 1)] - first;
  const Incident none{n > 0 ? entries[at(first)] : 0, false};
  if (!layout.is_in_groups())
    return column < n ? Incident{entries[at(first + column)], true} : none;
  const std::int64_t n_of_slot_0 = row_by_slot(inverse, entries, row).n_of_slot_0;
  if (column < n_of_slot_0) return {entries[at(first + column)], true};
  const std::int64_t place = n - (layout.width - column);
  return place >= n_of_slot_0 ? Incident{entries[at(first + place)], true} : none;
}

/// Call @p fill(place in the columns, row, incidence) for all of them.
template <class Fill>
void over_columns(const InverseMap& inverse, const Layout& layout, int n_threads,
                  const Fill& fill) {
  std::visit(
      [&](const auto& entries) {
        parallel_for(n_threads, layout.n_places, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t column = 0; column < layout.width; ++column) {
            for (std::int64_t place = begin; place < end; ++place) {
              const std::int64_t row = std::min(place, inverse.n_rows - 1);
              fill(layout.place(place, column), row,
                   incidence_at(inverse, entries, layout, row, column));
            }
          }
        });
      },
      inverse.entries);
}

void check_element(std::int64_t element, const mesh::MapTable& map) {
  if (element < map.n_rows()) return;
  throw UsageError(
      fmt::format("plan: an inverse with element {} cannot be composed with a Map of {} rows",
                  element, map.n_rows()));
}

/// What is compared where elements and targets lead to the same Set.
struct Shared {
  const mesh::MapTable& of_elements;
  const mesh::MapTable& of_targets;
};

void check_shared(const Shared& maps, const InverseMap& inverse) {
  const int n_corners = maps.of_targets.arity();
  if (!abi::fits_corner_code(maps.of_elements.arity(), n_corners)) {
    throw InternalError(fmt::format("{} entries among {} of a target do not fit a byte",
                                    maps.of_elements.arity(), n_corners));
  }
  if (maps.of_elements.n_targets() != maps.of_targets.n_targets()) {
    throw UsageError(fmt::format("plan: Maps to Sets of size {} and {} share no entries",
                                 maps.of_elements.n_targets(), maps.of_targets.n_targets()));
  }
  if (maps.of_targets.n_rows() < inverse.n_targets) {
    throw UsageError(fmt::format("plan: an inverse with {} targets, and a Map of {} rows for them",
                                 inverse.n_targets, maps.of_targets.n_rows()));
  }
}

std::int64_t target_of_row(const InverseMap& inverse, std::int64_t row) {
  if (!inverse.lists_rows) return row;
  return std::visit([row](const auto& rows) -> std::int64_t { return rows[at(row)]; },
                    inverse.rows);
}

std::uint8_t corner_code(const Shared& maps, std::int64_t element, std::int64_t target) {
  const int n_corners = maps.of_targets.arity();
  std::int64_t code = 0;
  for (int entry = 0; entry < maps.of_elements.arity(); ++entry) {
    const std::int64_t wanted = maps.of_elements.at(element, entry);
    int corner = 0;
    while (corner < n_corners && maps.of_targets.at(target, corner) != wanted) ++corner;
    if (corner == n_corners) return 1;
    code += corner * abi::corner_bit(entry, 0, n_corners);
  }
  return static_cast<std::uint8_t>(code);
}

/// [n_groups, 2] as PairColumns says.
std::vector<std::int32_t> slot_columns(const InverseMap& inverse, const Layout& layout,
                                       int n_threads) {
  const std::int64_t n_groups = layout.n_places / layout.lanes;
  std::vector<std::int32_t> out(at(2 * n_groups));
  std::visit(
      [&](const auto& entries) {
        parallel_for(n_threads, n_groups, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t group = begin; group < end; ++group) {
            std::int64_t of_slot_0 = layout.width;
            std::int64_t of_slot_1 = layout.width;
            const std::int64_t past = std::min((group + 1) * layout.lanes, inverse.n_rows);
            for (std::int64_t row = group * layout.lanes; row < past; ++row) {
              const Row found = row_by_slot(inverse, entries, row);
              of_slot_0 = std::min(of_slot_0, found.n_of_slot_0);
              of_slot_1 = std::min(of_slot_1, found.n - found.n_of_slot_0);
            }
            out[at(2 * group)] = static_cast<std::int32_t>(of_slot_0);
            out[at(2 * group + 1)] = static_cast<std::int32_t>(layout.width - of_slot_1);
          }
        });
      },
      inverse.entries);
  return out;
}

/// Codes of groups, [n_groups, width], from those of the rows, [n_groups, width, lanes].
std::vector<std::uint8_t> common_codes(const std::vector<std::uint8_t>& codes,
                                       const Layout& layout) {
  std::vector<std::uint8_t> out(at(layout.size() / layout.lanes));
  for (std::size_t column = 0; column < out.size(); ++column) {
    const auto first = codes.begin() + static_cast<std::ptrdiff_t>(column * at(layout.lanes));
    const bool is_common = std::all_of(first, first + layout.lanes,
                                       [first](std::uint8_t code) { return code == *first; });
    out[column] = is_common ? *first : 1;
  }
  return out;
}

}  // namespace

std::int64_t PairColumns::bytes() const {
  return bytes_of(rows) + bytes_of(neighbours) + bytes_of(slot_columns);
}

PairColumns pair_columns(const InverseMap& inverse, const mesh::MapTable& map,
                         const PairLayout& wanted, int n_threads) {
  if (inverse.n_occurrences != 2 || map.arity() != 2 || map.n_targets() < inverse.n_targets) {
    throw InternalError("pair_columns: not the inverse of a Map that leads to two targets");
  }
  PairColumns out;
  out.n_rows = inverse.n_rows;
  const Layout layout = layout_of(inverse, wanted);
  out.width = layout.width;
  out.n_core_rows = inverse.n_core_rows;
  out.lists_rows = inverse.lists_rows;
  out.rows = inverse.rows;
  const bool is_wide = std::holds_alternative<std::vector<std::int64_t>>(inverse.entries);
  const std::int64_t most =
      is_wide ? std::numeric_limits<std::int64_t>::max() : 2 * map.n_targets();
  out.neighbours = make_index_array(layout.size(), most);
  std::visit(
      [&](auto& neighbours) {
        using Index = typename std::decay_t<decltype(neighbours)>::value_type;
        over_columns(inverse, layout, n_threads,
                     [&](std::int64_t to, std::int64_t /*row*/, const Incident& place) {
                       const std::int64_t slot = place.entry % 2;
                       const std::int64_t across =
                           map.at(place.entry / 2, static_cast<int>(1 - slot));
                       neighbours[at(to)] =
                           static_cast<Index>(across * 4 + slot * 2 + (place.is_there ? 0 : 1));
                     });
      },
      out.neighbours);
  if (layout.is_in_groups()) out.slot_columns = slot_columns(inverse, layout, n_threads);
  return out;
}

IndexArray compose(const mesh::MapTable& map, const InverseMap& inverse, const PairLayout& wanted,
                   int index_bytes, int n_threads) {
  const Layout layout = layout_of(inverse, wanted);
  std::vector<std::int64_t> elements(at(layout.size()));
  over_columns(inverse, layout, n_threads,
               [&](std::int64_t to, std::int64_t /*row*/, const Incident& place) {
                 elements[at(to)] = place.entry / inverse.n_occurrences;
               });
  return compose(map, std::move(elements), index_bytes, n_threads);
}

std::vector<std::uint8_t> corner_codes(const mesh::MapTable& of_elements,
                                       const mesh::MapTable& of_targets, const InverseMap& inverse,
                                       const PairLayout& wanted, int n_threads) {
  const Shared maps{of_elements, of_targets};
  check_shared(maps, inverse);
  const Layout layout = layout_of(inverse, wanted);
  std::vector<std::uint8_t> codes(at(layout.size()));
  over_columns(inverse, layout, n_threads,
               [&](std::int64_t to, std::int64_t row, const Incident& place) {
                 const std::int64_t element = place.entry / inverse.n_occurrences;
                 check_element(element, of_elements);
                 codes[at(to)] = corner_code(maps, element, target_of_row(inverse, row));
               });
  return layout.is_in_groups() ? common_codes(codes, layout) : codes;
}

double part_elsewhere(const mesh::MapTable& of_elements, const mesh::MapTable& of_targets,
                      const InverseMap& inverse, int n_threads) {
  const Shared maps{of_elements, of_targets};
  check_shared(maps, inverse);
  std::atomic<std::int64_t> n_elsewhere{0};
  over_columns(inverse, layout_of(inverse, {}), n_threads,
               [&](std::int64_t /*to*/, std::int64_t row, const Incident& place) {
                 if (!place.is_there) return;
                 const std::int64_t element = place.entry / inverse.n_occurrences;
                 check_element(element, of_elements);
                 const std::int64_t target = target_of_row(inverse, row);
                 if (corner_code(maps, element, target) == 1) ++n_elsewhere;
               });
  const std::int64_t n = inverse.n_entries();
  return n == 0 ? 0.0 : static_cast<double>(n_elsewhere) / static_cast<double>(n);
}

}  // namespace op2::plan
