// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "maps.hpp"
#include "plan/positions.hpp"

namespace op2::plan::testing {

/// @brief The entries of all elements in a matrix that is made for them.
inline PositionSpec positions_of(const MapPointer& rows, const MapPointer& columns, std::int64_t n,
                                 int bytes = 4) {
  const SparsitySpec spec{rows->n_targets(), columns->n_targets(), {{rows, columns, n}}, false};
  PositionSpec wanted;
  wanted.sparsity = std::make_shared<const Sparsity>(build_sparsity(spec, 1));
  wanted.elements.n = n;
  wanted.rows = rows;
  wanted.columns = columns;
  wanted.bytes = bytes;
  return wanted;
}
inline PositionSpec positions_of(const TestMap<>& rows, const TestMap<>& columns, std::int64_t n,
                                 int bytes = 4) {
  return positions_of(rows.table, columns.table, n, bytes);
}

}  // namespace op2::plan::testing
