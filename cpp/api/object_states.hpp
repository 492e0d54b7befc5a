// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "api/states.hpp"
#include "mesh/buffer.hpp"
#include "mesh/map_table.hpp"
#include "plan/sparsity.hpp"

namespace op2::api {

struct SetState {
  std::int64_t size;
  std::string name;
};

struct SubsetState {
  SetPointer whole;
  std::shared_ptr<mesh::MapTable> table;
  std::string name;
};

struct MapState {
  SetPointer from;
  SetPointer to;
  std::shared_ptr<mesh::MapTable> table;
  std::string name;
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
  std::shared_ptr<mesh::Buffer> buffer;
  std::string kind;  ///< "Dat", "Mat", "Global" or "Const"
  std::string name;
};

}  // namespace op2::api
