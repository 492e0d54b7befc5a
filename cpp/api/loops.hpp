// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/columns.hpp"
#include "api/op2.hpp"
#include "base/abi.h"
#include "base/paths.hpp"
#include "runtime/host/team.hpp"
#include "runtime/vendors.hpp"

/// What generated code hands over to make its loops.
namespace op2::api {

/// @brief Lets several loops share teams that the library of loops opens. As KnownBackends.
struct KnownTeams {
  explicit KnownTeams(op2_open_team_v1 open) { runtime::open_teams_by(open); }
};

/// @brief A backend that loops were compiled for.
struct KnownBackend {
  const char* name;
  const runtime::DeviceVendor* vendor;  ///< of its devices; null: the host
};

/// @brief Lets init() find backends by their names. A static object of what has loops for them.
struct KnownBackends {
  KnownBackends(std::initializer_list<KnownBackend> backends);
};

/// @brief What a device loads.
struct Image {
  const char* target;  ///< "sm_90"; of OpenCL C: the options of its compiler
  const unsigned char* bytes;
  std::size_t n_bytes;
};

/// @brief A loop as it was compiled for one backend.
struct CompiledLoop {
  const char* backend;          ///< its name
  op2_launch_v1 launch;         ///< null: on a device
  const char* executable;       ///< exec::canonical of it
  std::int64_t block_size;      ///< 0: chosen from the size
  std::vector<bool> injective;  ///< [maps] that the code needs to lead nowhere twice
  /// Numbers that steer launches, where they are not the defaults.
  std::vector<std::pair<const char*, std::variant<bool, std::int64_t, double>>> tuning;
  std::vector<Image> images = {};  ///< of a device: one for each kind of them
  bool for_processor = false;      ///< of a device that is a processor; else of a GPU
  bool padded = false;             ///< pays where targets have similar numbers of elements
  int index_bytes = 8;             ///< of all index arithmetic
};

/// @brief The kind of columns that a loop visits.
struct ColumnKind {
  Layers layers = Layers::none;
  bool periodic = false;
  bool facets = false;  ///< pairs of a cell and the one above it
};

/// @brief A loop, for all backends that it was compiled for.
struct LoopText {
  const char* name;
  std::vector<int> spaces;  ///< [maps] those with equal ones lead to the same memory
  std::vector<CompiledLoop> compiled;
  int index_bytes = 4;             ///< of a Subset's indices, of lists of columns and levels
  int slots = 1;                   ///< ways by which an element reaches what it writes
  ColumnKind columns = {};         ///< of an extruded Set
  std::vector<MapRef> paths = {};  ///< [maps] the entries used; empty: all, in order
};

/// @brief An argument of a loop.
struct Argument {
  DataPointer data;
  int map = -1;      ///< by which it is reached, a matrix's rows; -1: by none
  int columns = -1;  ///< by which a matrix's columns are
};

/// @brief The objects that a loop is about.
struct Arguments {
  std::vector<Argument> data;
  std::vector<MapPointer> maps;
  std::vector<DataPointer> constants;
};

/// @brief A loop that is ready to run.
/// @throws UsageError if the objects do not belong together, or are not what the code was made for.
/// @throws UnsupportedError if there is no code for the backend that loops are to run on.
[[nodiscard]] Loop made_loop(const LoopText& text, const Visited& visited, Arguments arguments);

}  // namespace op2::api
