// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "dispatch/measured.hpp"

namespace op2::dispatch {

/// @brief A line of the report: how often a loop, or an operation of algebra, was resolved, and by
/// which provider.
struct Event {
  std::string loop;
  std::string provider;  ///< empty: no provider had the loop
  std::string strategy;  ///< of the found Executable, else the requested strategy
  std::string rejected;  ///< "provider: reason; ..." of the providers asked before
  std::int64_t n_resolved = 0;
  /// The action where no provider had the loop: "compiled"; "disk", "memory": loaded from the
  /// cache. Empty: none, or a failure.
  std::string origin = {};
  std::int64_t generating = 0;  ///< nanoseconds of making the text
  std::int64_t building = 0;    ///< nanoseconds of compiling, or of loading a compiled object
  std::int64_t running = 0;     ///< nanoseconds of the operation; 0 for loops, which have timings
  bool operator==(const Event&) const = default;
};

/// @brief An operation of algebra on known values: the counterpart of a loop's Query.
struct Operation {
  std::string name;        ///< "dot", "axpy", "+", "zero", "mult"
  std::string dtype;       ///< of the changed or summed values
  std::int64_t size = 0;   ///< the size behind the cost, such as the length
  std::string place = {};  ///< the device where the values are; empty: the host
};

/// @brief The answer of an available library with the operation.
struct Offer {
  std::string library;  ///< beginning of reasons: "cblas"
  std::string file;     ///< for the report, and to tell libraries apart: "libblas.so.3"
  std::string veto;     ///< why the library cannot serve these values; empty: possible
};

/// @brief How often an operation was done in a way, and the total time.
struct Count {
  std::atomic<std::int64_t> n_calls = 0;
  std::atomic<std::int64_t> nanoseconds = 0;

  void add(std::int64_t spent) {
    n_calls.fetch_add(1, std::memory_order_relaxed);
    nanoseconds.fetch_add(spent, std::memory_order_relaxed);
  }
};

/// @brief The choice for the next call of an operation.
struct Decision {
  std::size_t which = 0;         ///< of the offers; their number: the core itself
  bool is_measured = false;      ///< whether several ways still take turns
  std::shared_ptr<Count> count;  ///< the count for this way and this reason
  // For measurements: the requested kind, the size, and the chosen way.
  std::string kind = {};
  std::int64_t size = 0;
  std::string way = {};
};

/// @brief Resolves operations of algebra. Available libraries are asked first; of the able
/// libraries and the core, the way with the least measured cost wins. Safe to use from several
/// threads.
class Operations {
 public:
  /// @brief The name of the core's ready code.
  static constexpr const char* builtin = "builtin";

  /// @param[in] offers Of libraries, in the order of their first turns.
  /// @param[in] own Name of the core's way; empty: none. @pre At least one way can serve.
  [[nodiscard]] Decision decide(const Operation& operation, const std::vector<Offer>& offers,
                                const std::string& own = builtin);

  /// @brief A call is done, and took so long.
  void done(const Decision& decision, std::int64_t nanoseconds);

  /// @brief See Measured.
  void learn(const std::string& kind, int size, const std::string& way, double nanoseconds);
  [[nodiscard]] std::vector<Measured::Decided> decided() const;

  /// @brief The counter for calls served only by the core's ready code; stays valid.
  [[nodiscard]] std::shared_ptr<Count> counted(const std::string& name, const std::string& dtype);

  /// @brief All calls: in each event, name and dtype as Event::loop, the way as provider
  /// ("library", or the name of the core's own way), and a library's file as strategy.
  [[nodiscard]] std::vector<Event> events() const;
  void clear_events();

 private:
  // operation, dtype, provider, file, rejected
  using Row = std::tuple<std::string, std::string, std::string, std::string, std::string>;

  std::shared_ptr<Count> count_of(Row row);  // the mutex is held

  mutable std::mutex mutex_;  // guards the members below
  Measured measured_;
  std::map<Row, std::shared_ptr<Count>> counts_;
};

}  // namespace op2::dispatch
