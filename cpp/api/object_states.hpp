// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/columns.hpp"
#include "api/states.hpp"
#include "mesh/buffer.hpp"
#include "mesh/map_table.hpp"
#include "plan/sparsity.hpp"

namespace op2::api {

/// The lists of loops over an extruded Set, or over a part of the Set. Plans know lists by address,
/// so each list is made once.
struct CellLists {
  template <class Index>
  struct Columns {
    std::vector<Index> values;
    std::shared_ptr<mesh::MapTable> table;
  };

  std::mutex mutex;                                                      // guards the members below
  std::map<std::pair<Region, int>, std::shared_ptr<const Cells>> cells;  // by bytes of indices
  Columns<std::int32_t> narrow_columns;
  Columns<std::int64_t> wide_columns;
};

struct SetState {
  std::int64_t size;
  std::string name;
  std::shared_ptr<const Extrusion> extrusion = nullptr;  ///< null: not extruded
  std::shared_ptr<CellLists> lists = nullptr;            ///< of an extruded Set
};

struct SubsetState {
  SetPointer whole;
  std::shared_ptr<mesh::MapTable> table;
  std::string name;
  std::shared_ptr<CellLists> lists = std::make_shared<CellLists>();
};

struct MapState {
  SetPointer from;
  SetPointer to;
  std::shared_ptr<mesh::MapTable> table;
  std::string name;
  Offset offset = {};            ///< of a Map that starts on columns
  DataPointer counts = nullptr;  ///< of a ragged Map: entries of each row
  int typical_arity = 0;         ///< of a ragged Map: the root of the mean square of counts
};

struct SparsityState {
  SetPointer rows;
  SetPointer columns;
  std::shared_ptr<const plan::Sparsity> table;
  std::string name;
};

struct DataState {
  DataState(SetPointer on, SparsityPointer where, std::shared_ptr<mesh::Buffer> values,
            std::string of_kind, std::string called)
      : home(std::move(on)),
        sparsity(std::move(where)),
        buffer(std::move(values)),
        kind(std::move(of_kind)),
        name(std::move(called)) {}
  DataState(const DataState&) = delete;
  DataState& operator=(const DataState&) = delete;
  ~DataState();

  SetPointer home;           ///< null: of no Set
  SparsityPointer sparsity;  ///< of a matrix; else null
  /// Of counts: the ragged Map whose rows are counted; keeps the values, too. Else null.
  std::shared_ptr<const mesh::MapTable> counted = nullptr;
  std::shared_ptr<mesh::Buffer> buffer;
  std::string kind;  ///< "Dat", "Mat", "Global" or "Const"
  std::string name;
};

}  // namespace op2::api
