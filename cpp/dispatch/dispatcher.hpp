// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/recent.hpp"
#include "dispatch/operations.hpp"
#include "exec/executable.hpp"

namespace op2::dispatch {

using ExecutablePtr = std::shared_ptr<const exec::Executable>;

/// @brief A request: a loop's signature and, for providers in need of it, the full key.
struct Query {
  std::string loop;           ///< name of the kernel, for the report
  std::string signature;      ///< ir::signature
  std::string source;         ///< signature, backend, strategy, options, generator version
  std::string strategy = {};  ///< the requested strategy, for the report
  std::string text = {};      ///< key of the text alone, without compiler and flags
};

/// @brief A possible source of an Executable for a loop.
///
/// Providers refuse with a reason; the dispatcher asks them in order and keeps the reasons.
class Provider {
 public:
  Provider() = default;
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
  virtual ~Provider() = default;

  [[nodiscard]] virtual std::string name() const = 0;

  struct Answer {
    ExecutablePtr executable;  ///< null: not here
    std::string why;           ///< if null
  };
  [[nodiscard]] virtual Answer find(const Query& query) = 0;
};

/// @brief Executables compiled in this process or loaded from the disk cache.
///
/// Bounded: the least recently used are forgotten; loops with an Executable keep the object.
class JitTable : public Provider {
 public:
  explicit JitTable(std::size_t max_entries) : recent_(max_entries) {}

  [[nodiscard]] std::string name() const override { return "jit"; }
  [[nodiscard]] Answer find(const Query& query) override;
  void insert(const Query& query, ExecutablePtr executable);
  void clear();

 private:
  std::mutex mutex_;
  Recent<ExecutablePtr> recent_;  // by Query::source
};

/// @brief Resolves loops and operations. For loops the Executable is found and never built: the
/// pipeline fills a miss. Operations of algebra have ready code, see operations().
class Dispatcher {
 public:
  /// @brief Add a provider; earlier ones are asked first.
  void add(std::shared_ptr<Provider> provider);

  /// @brief Add a provider, asked before all others.
  void add_first(std::shared_ptr<Provider> provider);

  /// @brief The first provider's Executable, or null. Records an event either way.
  [[nodiscard]] ExecutablePtr resolve(const Query& query);

  /// @brief The providers asked in turn, and their reasons; the last provider has the loop if the
  /// reason is empty. No event is recorded.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> asked(const Query& query);

  /// @brief Note the pipeline's action after a resolve() without a result.
  /// @param[in] generating, building Nanoseconds, see Event.
  void filled(const Query& query, const std::string& origin, std::int64_t generating,
              std::int64_t building);

  /// @brief The resolver of operations of algebra; lives at least as long as the Dispatcher.
  [[nodiscard]] const std::shared_ptr<Operations>& operations() const { return operations_; }

  /// @brief All resolved requests: loops in their order, then operations.
  [[nodiscard]] std::vector<Event> events() const;
  void clear_events();

 private:
  void record(Event event);
  void count(Event event);  // the mutex is held

  const std::shared_ptr<Operations> operations_ = std::make_shared<Operations>();
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Provider>> providers_;
  std::vector<Event> events_;
};

}  // namespace op2::dispatch
