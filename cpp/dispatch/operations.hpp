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

/// @brief One line of the report: how often a loop, or an operation of algebra, was resolved, and
/// by whom.
struct Event {
  std::string loop;
  std::string provider;  ///< empty: nobody had it
  std::string strategy;  ///< of what was found, else the one that was asked for
  std::string rejected;  ///< "provider: reason; ..." of those asked before
  std::int64_t n_resolved = 0;
  /// If nobody had it, what was done: "compiled"; "disk", "memory": loaded from that cache. Empty:
  /// nothing, or it failed.
  std::string origin = {};
  std::int64_t generating = 0;  ///< nanoseconds that the text took
  std::int64_t building = 0;    ///< those of compiling, or of loading what was compiled before
  std::int64_t running = 0;     ///< those that the operation took; 0 of loops, which have timings
  bool operator==(const Event&) const = default;
};

/// @brief An operation of algebra on values that are known: what a loop's Query is for a loop.
struct Operation {
  std::string name;        ///< "dot", "axpy", "+", "zero", "mult"
  std::string dtype;       ///< of the values that it changes, or sums up
  std::int64_t size = 0;   ///< what its cost depends on, such as the length
  std::string place = {};  ///< the device where the values are; empty: the host
};

/// @brief What a library says that is there and has the operation.
struct Offer {
  std::string library;  ///< what reasons begin with: "cblas"
  std::string file;     ///< for the report, and which of several it is: "libblas.so.3"
  std::string veto;     ///< why it cannot do it with these values; empty: it can
};

/// @brief How often an operation was done one way, and how long that took.
struct Count {
  std::atomic<std::int64_t> n_calls = 0;
  std::atomic<std::int64_t> nanoseconds = 0;

  void add(std::int64_t spent) {
    n_calls.fetch_add(1, std::memory_order_relaxed);
    nanoseconds.fetch_add(spent, std::memory_order_relaxed);
  }
};

/// @brief Who does the next call of an operation.
struct Decision {
  std::size_t which = 0;         ///< of the offers; as many as these are: the core itself
  bool is_measured = false;      ///< whether several ways still take turns
  std::shared_ptr<Count> count;  ///< of what is done this way, and for this reason
  // Of what is measured: what was asked for, its size, and who does it.
  std::string kind = {};
  std::int64_t size = 0;
  std::string way = {};
};

/// @brief Resolves operations of algebra: libraries that are there are asked first; of those that
/// can do it and the core, whoever was measured to cost least does. Safe to use from several
/// threads.
class Operations {
 public:
  /// @brief What the core's code that is ready is called.
  static constexpr const char* builtin = "builtin";

  /// @param[in] offers Of libraries, in the order in which they begin to take turns.
  /// @param[in] own What the core's way is called; empty: it has none. @pre Somebody can do it.
  [[nodiscard]] Decision decide(const Operation& operation, const std::vector<Offer>& offers,
                                const std::string& own = builtin);

  /// @brief A call is done, and took so long.
  void done(const Decision& decision, std::int64_t nanoseconds);

  /// @brief Where calls are counted that only the core's ready code can do; stays valid.
  [[nodiscard]] std::shared_ptr<Count> counted(const std::string& name, const std::string& dtype);

  /// @brief What was done: in each its name and dtype as Event::loop, who did it as provider
  /// ("library", or what the core's own way is called), and a library's file as strategy.
  [[nodiscard]] std::vector<Event> events() const;
  void clear_events();

 private:
  // operation, dtype, provider, file, rejected
  using Row = std::tuple<std::string, std::string, std::string, std::string, std::string>;

  std::shared_ptr<Count> count_of(Row row);  // the mutex is held

  mutable std::mutex mutex_;  // guards what follows
  Measured measured_;
  std::map<Row, std::shared_ptr<Count>> counts_;
};

}  // namespace op2::dispatch
