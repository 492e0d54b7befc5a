// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "base/overload.hpp"
#include "plan/conflict.hpp"
#include "plan/index_array.hpp"

namespace op2::plan::testing {

inline std::vector<std::int64_t> widen(const IndexArray& indices) {
  return std::visit(overload{[](const std::vector<std::int32_t>& narrow) {
                               return std::vector<std::int64_t>(narrow.begin(), narrow.end());
                             },
                             [](const std::vector<std::int64_t>& wide) { return wide; }},
                    indices);
}

inline std::int64_t entry_of(const IndexArray& indices, std::int64_t i) {
  return std::visit(overload{[i](const std::vector<std::int32_t>& narrow) {
                               return std::int64_t{narrow.at(static_cast<std::size_t>(i))};
                             },
                             [i](const std::vector<std::int64_t>& wide) {
                               return wide.at(static_cast<std::size_t>(i));
                             }},
                    indices);
}

/// A map with the values it points to.
template <class Index = std::int32_t>
struct TestMap {
  std::vector<Index> values;
  std::shared_ptr<mesh::MapTable> table;

  TestMap(std::vector<Index> entries, int arity, std::int64_t n_targets)
      : values(std::move(entries)),
        table(std::make_shared<mesh::MapTable>(values.data(), static_cast<int>(sizeof(Index)),
                                               static_cast<std::int64_t>(values.size()) / arity,
                                               arity, n_targets)) {}
};

/// A ragged map, in the form of mesh::MapTable.
struct RaggedTestMap {
  std::vector<std::int32_t> values;
  std::shared_ptr<mesh::MapTable> table;

  RaggedTestMap(const std::vector<std::vector<std::int32_t>>& rows, std::int64_t n_targets) {
    auto end = static_cast<std::int32_t>(rows.size() + 1);
    values.push_back(end);
    for (const auto& row : rows) values.push_back(end += static_cast<std::int32_t>(row.size()));
    for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
    table = std::make_shared<mesh::MapTable>(
        values.data(), 4, static_cast<std::int64_t>(rows.size()), mesh::ragged, n_targets);
  }
};

/// Entries near the element's own place, as in a numbering with locality; `spread` 1 is no
/// locality at all. One entry in ten is negative if asked for, one row in eight names a target
/// twice.
template <class Index = std::int32_t>
TestMap<Index> random_map(std::int64_t n, int arity, std::int64_t n_targets, double spread,
                          bool with_negative, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::uniform_int_distribution<int> die(0, 1000);
  std::vector<Index> values;
  for (std::int64_t e = 0; e < n; ++e) {
    for (int s = 0; s < arity; ++s) {
      const double centre = static_cast<double>(e) / static_cast<double>(n);
      const double place = centre + spread * uniform(engine);
      auto target = static_cast<std::int64_t>(place * static_cast<double>(n_targets)) % n_targets;
      if (target < 0) target += n_targets;
      if (with_negative && die(engine) < 100) target = -1;
      if (s > 0 && die(engine) < 125) target = values.back();
      values.push_back(static_cast<Index>(target));
    }
  }
  return TestMap<Index>(std::move(values), arity, n_targets);
}

/// Edges of a path of n + 1 targets: element e touches e and e + 1.
inline TestMap<> path_map(std::int64_t n) {
  std::vector<std::int32_t> values;
  for (std::int64_t e = 0; e < n; ++e) {
    values.push_back(static_cast<std::int32_t>(e));
    values.push_back(static_cast<std::int32_t>(e + 1));
  }
  return TestMap<>(std::move(values), 2, n + 1);
}

}  // namespace op2::plan::testing
