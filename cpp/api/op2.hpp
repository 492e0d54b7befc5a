// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/leaves.hpp"
#include "api/memory.hpp"
#include "api/states.hpp"
#include "base/error.hpp"

/// Loops written by `pyop2cxx generate`, for programs in C++.
///
/// Sets, Subsets, Maps, Dats, Mats, Globals and Consts are handles: copies are the same object.
/// Values of Maps other than ragged ones, Dats, Mats, Globals and Consts stay in place, in memory
/// of the program, and the memory must outlive every object and Loop with access. A device has
/// copies of them. After a loop on a device, a program calls read() before each read of memory, and
/// values() before each write. The last handle of an object brings back values that are newer on a
/// device. Errors are exceptions: UsageError for a caller's mistake, UnsupportedError for a limit
/// of the generated code, ExecutionError for a failed loop. All are op2::Error.
namespace op2 {

/// @brief Options of all loops made from now on.
struct Options {
  /// The name in Python: "sequential", "openmp", or another backend with generated loops in the
  /// program.
  std::string backend = "openmp";
  int threads = 0;            ///< of a loop; 0: as many as the process may use
  std::string device = {};    ///< number, or a part of the name; empty: the first GPU
  std::string platform = {};  ///< a part of the name; empty: any
  int device_memory = 0;      ///< megabytes that this process may take on devices; 0: all
  /// A file of measured choices, or a folder of files, such as `tuned` in the folder of
  /// `build --tuned`; empty: none. A problem with a file is a line of report().
  std::string tuned = {};
  /// Libraries that inner(), norm() and axpy() may be left to where they take less time: "auto" for
  /// all known libraries, a BLAS of the system among them; the name of a library, such as "cblas"
  /// or the name of a Library; or the file of a BLAS. Empty: none. The sums of libraries have other
  /// bits. A library missing under "auto" is a line of report().
  std::string blas = {};
};

/// @brief Set the options of all loops made from now on; opens the device, if the backend has one.
/// @throws UsageError for a negative number of threads or megabytes, or an unknown backend or
/// device; the message lists all.
/// @throws ToolchainError if there is no driver, or the driver finds no device, or a named library
/// does not open; the message gives the searched names. Nothing is changed then.
void init(const Options& options);

/// @brief Wait until the devices have done all enqueued work. Loops on the host are done already.
/// @throws ExecutionError if a loop has failed, with the name of the loop.
void finish();

/// @brief A set of mesh entities. Equal only to itself.
class Set {
 public:
  /// @throws UsageError if the size is negative.
  explicit Set(std::int64_t size, std::string name = "set");

  /// @brief The number of entities.
  [[nodiscard]] std::int64_t size() const;
  /// @brief The name in messages.
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const api::SetPointer& state() const { return state_; }

 protected:
  explicit Set(api::SetPointer state) : state_(std::move(state)) {}

 private:
  api::SetPointer state_;
};

/// @brief Columns of cells over the entities of a Set. The columns are the entities.
///
/// Loops visit the cells of each column from the bottom up. Dats without a Map are on the base Set,
/// a row for each column; Maps start here, with an Offset.
class ExtrudedSet : public Set {
 public:
  /// @param[in] layers Of every column, one more than the number of cells.
  /// @param[in] periodic Whether the top of a column is its bottom.
  /// @throws UsageError if there is no cell, or the base is extruded.
  ExtrudedSet(const Set& base, std::int64_t layers, bool periodic = false)
      : Set(api::made_extruded(base.state(), layers, periodic)) {}

  /// @param[in] layers [base.size()][2], copied: the lowest layer of each column, and the highest
  /// plus one.
  /// @throws UsageError as above, and for another number of layers.
  ExtrudedSet(const Set& base, std::span<const std::int32_t> layers, bool periodic = false)
      : Set(api::made_extruded(base.state(), {layers.data(), 4, layers.size(), 2}, periodic)) {}
  ExtrudedSet(const Set& base, std::span<const std::int64_t> layers, bool periodic = false)
      : Set(api::made_extruded(base.state(), {layers.data(), 8, layers.size(), 2}, periodic)) {}
};

/// @brief Some entities of a Set: loops over a Subset visit only these.
class Subset {
 public:
  /// @param[in] indices Copied. Ascending, each once, in [0, whole.size()).
  /// @throws UsageError if they are not.
  Subset(const Set& whole, std::span<const std::int32_t> indices, std::string name = "subset");
  Subset(const Set& whole, std::span<const std::int64_t> indices, std::string name = "subset");

  /// @brief The number of visited entities.
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] const api::SubsetPointer& state() const { return state_; }

 private:
  api::SubsetPointer state_;
};

/// @brief The targets (nodes, or degrees of freedom) in a Set of the entities of another: `Arity`
/// entries for each.
template <int Arity = 1, class Index = std::int32_t>
class Map {
 public:
  /// @param[in] values Row by row; entries in [0, to.size()).
  /// @throws UsageError for another number of values, or an entry out of range.
  Map(const Set& from, const Set& to, std::span<const Index> values, std::string name = "map")
      : Map(from, to, values, Offset{}, std::move(name)) {}

  /// @param[in] values Of the lowest cell of each column.
  /// @param[in] offset How far the entries move from a cell to the cell above.
  /// @throws UsageError as above, and if there are not `Arity` offsets.
  Map(const Set& from, const Set& to, std::span<const Index> values, Offset offset,
      std::string name = "map")
      : state_(api::made_map(from.state(), to.state(),
                             {values.data(), sizeof(Index), values.size(), Arity},
                             std::move(offset), std::move(name))) {
    static_assert(sizeof(Index) == 4 || sizeof(Index) == 8);
  }

  /// @brief Report changed values: they are checked again, and plans made anew.
  /// @throws UsageError if an entry is out of range.
  void changed() { api::check_changed(*state_); }

  [[nodiscard]] const api::MapPointer& state() const { return state_; }

 private:
  api::MapPointer state_;
};

/// @brief The targets in a Set of the entities of another, of each as many as it has: the corners
/// of polygons.
///
/// Begins and entries are copied, and stay as they are. A loop reads the numbers of entries as an
/// argument of its own: generated functions take them from the Map.
template <class Index = std::int32_t>
class RaggedMap {
 public:
  /// @param[in] offsets [from.size() + 1] Where the rows begin in @p values, and the end.
  /// @param[in] values Row by row; entries in [0, to.size()).
  /// @throws UsageError if the offsets fall, are of another number, or begin or end elsewhere than
  /// the values, or an entry is out of range; or if the source is an ExtrudedSet.
  RaggedMap(const Set& from, const Set& to, std::span<const Index> offsets,
            std::span<const Index> values, std::string name = "map")
      : state_(api::made_ragged_map(
            from.state(), to.state(), {offsets.data(), sizeof(Index), offsets.size(), 1},
            {values.data(), sizeof(Index), values.size(), 1}, std::move(name))) {
    static_assert(sizeof(Index) == 4 || sizeof(Index) == 8);
  }

  /// @brief The number of entries of each row, [from.size()].
  [[nodiscard]] std::span<const std::int32_t> counts() const { return api::count_values(*state_); }
  [[nodiscard]] const api::MapPointer& state() const { return state_; }

 private:
  api::MapPointer state_;
};

namespace api {

/// @brief A Map, ragged or not.
template <class M>
concept AnyMap = requires(const M& map) {
  { map.state() } -> std::same_as<const MapPointer&>;
};

/// @brief A view of values of the program: the base of Dat, Mat and Global.
template <class T>
class Held {
 public:
  /// @brief The values, to be read and written: copies on a device are no longer used.
  /// @throws ExecutionError if a loop that wrote the values has failed, with the name of the loop.
  [[nodiscard]] std::span<T> values() const {
    bring_to_host(*state_, true);
    return values_;
  }
  /// @brief The values, to be read until the next loop runs.
  /// @throws ExecutionError as values().
  [[nodiscard]] std::span<const T> read() const {
    bring_to_host(*state_, false);
    return values_;
  }
  /// @brief Set all values to 0, where they are: a device is not waited for.
  void zero() const { set_to_zero(*state_); }
  [[nodiscard]] const DataPointer& state() const { return state_; }

 protected:
  Held(DataPointer state, std::span<T> values) : state_(std::move(state)), values_(values) {}

 private:
  DataPointer state_;
  std::span<T> values_;
};

}  // namespace api

/// @brief Values on the entities of a Set, `Dim` for each.
template <class T, int Dim = 1>
class Dat : public api::Held<T> {
 public:
  /// @param[in] values Entity by entity.
  /// @throws UsageError if they are of another number.
  Dat(const Set& set, std::span<T> values, std::string name = "dat")
      : api::Held<T>(api::made_dat(set.state(), {values.data(), sizeof(T), values.size(), Dim},
                                   std::move(name)),
                     values) {}
};

/// @brief Two Maps from one Set: each entity couples the rows behind one Map with the columns
/// behind the other.
struct Coupling {
  /// @param[in] region Of Maps that start on columns: the cells whose targets are coupled.
  template <api::AnyMap Rows, api::AnyMap Columns>
  Coupling(const Rows& rows, const Columns& columns, Region region = Region::all)
      : maps{rows.state(), columns.state(), region} {}

  api::MapPair maps;
};

/// @brief The places of values in matrices: compressed rows, columns ascending within each.
///
/// Rows and columns count entities; a Mat has a block of values for each pair. Square patterns, of
/// a Set with itself, have their diagonal.
class Sparsity {
 public:
  /// @throws UsageError if Maps of a pair start on different Sets, or lead to others.
  Sparsity(const Set& rows, const Set& columns, const std::vector<Coupling>& couplings,
           std::string name = "sparsity");

  /// @brief The number of pairs of a row and a column.
  [[nodiscard]] std::int64_t n_entries() const;
  /// @brief Where each row begins among the entries, [rows.size() + 1].
  [[nodiscard]] std::span<const std::int64_t> row_offset() const;
  /// @brief The column of each entry, [n_entries()].
  /// @throws UnsupportedError if there are more columns than std::int32_t counts.
  [[nodiscard]] std::span<const std::int32_t> columns() const;
  [[nodiscard]] const api::SparsityPointer& state() const { return state_; }

 private:
  api::SparsityPointer state_;
};

/// @brief A sparse matrix of blocks of `Rows` times `Cols` values.
///
/// Loops add to the old values, or overwrite them: for a new assembly, set the values to 0 before.
template <class T, int Rows = 1, int Cols = Rows>
class Mat : public api::Held<T> {
 public:
  /// @param[in] values Block by block in the order of the sparsity, each row by row.
  /// @throws UsageError if they are of another number.
  Mat(const Sparsity& sparsity, std::span<T> values, std::string name = "mat")
      : api::Held<T>(
            api::made_mat(sparsity.state(), {values.data(), sizeof(T), values.size(), Rows * Cols},
                          std::move(name)),
            values) {}
};

/// @brief Values common to all entities; loops may reduce into them.
template <class T, int Dim = 1>
class Global : public api::Held<T> {
 public:
  /// @throws UsageError if there are not `Dim` values.
  explicit Global(std::span<T> values, std::string name = "global")
      : api::Held<T>(api::made_global({values.data(), sizeof(T), values.size(), Dim}, "Global",
                                      std::move(name)),
                     values) {}
};

/// @brief A constant known to kernels by name. The values are read when a loop runs.
///
/// A device has a copy: after writing new values, call changed().
template <class T, int Dim = 1>
class Const {
 public:
  /// @throws UsageError if there are not `Dim` values.
  explicit Const(std::span<const T> values, std::string name = "const")
      : state_(api::made_global({values.data(), sizeof(T), values.size(), Dim}, "Const",
                                std::move(name))) {}

  /// @brief Report changed values.
  void changed() { api::bring_to_host(*state_, true); }

  [[nodiscard]] const api::DataPointer& state() const { return state_; }

 private:
  api::DataPointer state_;
};

/// @brief A loop with its arguments: checked, bound, and planned at the first run.
///
/// Make a Loop once and run the object often. Runs of one Loop exclude each other. On a device
/// run() waits for nothing: a later failure is an exception of the waiting call.
class Loop {
 public:
  explicit Loop(std::shared_ptr<api::LoopState> state) : state_(std::move(state)) {}

  /// @brief Carry the loop out.
  /// @throws ExecutionError if a check of the generated code fails.
  void run() { api::run(*state_); }
  /// @brief The same as run().
  void operator()() { run(); }
  [[nodiscard]] const std::shared_ptr<api::LoopState>& state() const { return state_; }

 private:
  std::shared_ptr<api::LoopState> state_;
};

}  // namespace op2
