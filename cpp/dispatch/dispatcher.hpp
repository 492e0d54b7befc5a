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

/// @brief What is looked for: a loop's signature and, for providers that need it, its full key.
struct Query {
  std::string loop;           ///< name of the kernel, for the report
  std::string signature;      ///< ir::signature
  std::string source;         ///< signature, backend, strategy, options, generator version
  std::string strategy = {};  ///< that is asked for, for the report
  std::string text = {};      ///< key of the text alone, without who compiles it and how
};

/// @brief Somebody who may have an Executable for a loop.
///
/// Providers say no with a reason; the dispatcher asks them in order and keeps the reasons.
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

/// @brief Executables that were compiled in this process or loaded from the disk cache.
///
/// Bounded: the least recently used are forgotten; loops that hold one keep it.
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

/// @brief Finds who does what runs. Of loops it finds the Executable and never builds one: a miss
/// is the pipeline's to fill. Operations of algebra have ready code, see operations().
class Dispatcher {
 public:
  /// @brief Add a provider; earlier ones are asked first.
  void add(std::shared_ptr<Provider> provider);

  /// @brief Add a provider that is asked before all others.
  void add_first(std::shared_ptr<Provider> provider);

  /// @brief The first provider's Executable, or null. Records an event either way.
  [[nodiscard]] ExecutablePtr resolve(const Query& query);

  /// @brief Who is asked in turn, and why they have nothing; the last one has it if it gives no
  /// reason. No event is recorded.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> asked(const Query& query);

  /// @brief Say what was done after resolve() had found nobody.
  /// @param[in] generating, building Nanoseconds, see Event.
  void filled(const Query& query, const std::string& origin, std::int64_t generating,
              std::int64_t building);

  /// @brief Who does operations of algebra; lives as long as the Dispatcher at least.
  [[nodiscard]] const std::shared_ptr<Operations>& operations() const { return operations_; }

  /// @brief What was resolved: loops in their order, then operations.
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
