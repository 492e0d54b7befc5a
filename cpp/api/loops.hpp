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

/// The input from generated code for loops.
namespace op2::api {

/// @brief Lets several loops share teams opened by the library of loops. As KnownBackends.
struct KnownTeams {
  explicit KnownTeams(op2_open_team_v1 open) { runtime::open_teams_by(open); }
};

/// @brief A backend with compiled loops.
struct KnownBackend {
  const char* name;
  const runtime::DeviceVendor* vendor;  ///< of the devices; null: the host
};

/// @brief Lets init() find backends by name. A static object of a library with loops for them.
struct KnownBackends {
  KnownBackends(std::initializer_list<KnownBackend> backends);
};

/// @brief Code for a device to load.
struct Image {
  const char* target;  ///< "sm_90"; for OpenCL C: the options of the compiler
  const unsigned char* bytes;
  std::size_t n_bytes;
};

/// @brief A loop compiled for a backend.
struct CompiledLoop {
  const char* backend;          ///< name of the backend
  op2_launch_v1 launch;         ///< null: on a device
  const char* executable;       ///< exec::canonical of the Executable
  std::int64_t block_size;      ///< 0: chosen from the size
  std::vector<bool> injective;  ///< [maps] Maps whose entries must differ, by the code
  /// Numbers that steer launches, where other than the defaults.
  std::vector<std::pair<const char*, std::variant<bool, std::int64_t, double>>> tuning;
  std::vector<int> longest = {};   ///< [maps] entries of a row at most; 0, or empty: any number
  std::vector<Image> images = {};  ///< of a device: one for each kind of device
  bool for_processor = false;      ///< of a device: a processor; else a GPU
  bool padded = false;             ///< pays where targets have similar numbers of elements
  int index_bytes = 8;             ///< of all index arithmetic
  const char* key = "";            ///< of the loop's measurements, see Tuned; empty: none
  const char* way = "";            ///< strategy, lanes and numbers, as measurements word them
};

/// @brief The kind of columns visited by a loop.
struct ColumnKind {
  Layers layers = Layers::none;
  bool periodic = false;
  bool facets = false;  ///< pairs of a cell and the cell above
};

/// @brief A loop, for all backends with compiled code.
struct LoopText {
  const char* name;
  std::vector<int> spaces;  ///< [maps] Maps with equal numbers lead to the same memory
  std::vector<CompiledLoop> compiled;
  int index_bytes = 4;             ///< of a Subset's indices, of lists of columns and levels
  int slots = 1;                   ///< ways from an element to written values
  ColumnKind columns = {};         ///< of an extruded Set
  std::vector<MapRef> paths = {};  ///< [maps] the entries used; empty: all, in order
};

/// @brief An argument of a loop.
struct Argument {
  DataPointer data;
  int map = -1;      ///< the Map to the values, or to a matrix's rows; -1: none
  int columns = -1;  ///< the Map to a matrix's columns
};

/// @brief The objects of a loop.
struct Arguments {
  std::vector<Argument> data;
  std::vector<MapPointer> maps;
  std::vector<DataPointer> constants;
};

/// @brief A loop ready to run.
/// @throws UsageError if the objects do not belong together, or differ from those of the code.
/// @throws UnsupportedError if there is no code for the current backend.
[[nodiscard]] Loop made_loop(const LoopText& text, const Visited& visited, Arguments arguments);

}  // namespace op2::api
