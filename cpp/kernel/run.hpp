// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernel/body.hpp"
#include "kernel/held_constants.hpp"

namespace op2::kernel {

/// @brief What a run may know of the memory behind the entry function's parameters.
struct RunInput {
  std::vector<std::int64_t> extents = {};  ///< [parameters] scalars; -1, or missing: not known
  std::vector<bool> uniform = {};  ///< [parameters] the same values for all elements: Globals
  std::map<std::string, std::int64_t, std::less<>> constants = {};  ///< Consts by name: scalars
};

/// @brief An array that pointers may lead into.
struct RunObject {
  std::string name;
  int parameter = -1;        ///< of the entry function; -1: a local array, a table or a Const
  std::int64_t extent = -1;  ///< scalars; -1: not known
  bool is_uniform = false;
  std::optional<Base> base = {};  ///< of its scalars; nothing: not known
};

/// @brief A subscript, or a dereference, as it was met once.
struct RunSubscript {
  const Expr& site;
  std::string array;                  ///< what the user calls it
  int parameter = -1;                 ///< of the entry function; -1: it is no parameter
  std::optional<std::int64_t> index;  ///< nothing: not known
  std::int64_t extent = -1;           ///< -1: not known
  bool is_guarded = false;  ///< by a condition on what is the same for all elements: dim == 3

  [[nodiscard]] bool is_inside() const {
    return index && extent >= 0 && *index >= 0 && *index < extent;
  }
  [[nodiscard]] bool is_outside() const {
    return index && extent >= 0 && (*index < 0 || *index >= extent);
  }
};

/// @brief Told what an abstract run meets. Every expression that can be reached is met, with states
/// that cover all of its executions, unless the run was too long.
class RunListener {
 public:
  RunListener() = default;
  RunListener(const RunListener&) = delete;
  RunListener& operator=(const RunListener&) = delete;
  virtual ~RunListener() = default;

  virtual void subscript(const RunSubscript& met) = 0;
  /// @brief A scalar in memory is loaded or stored at @p site. @p object: where it lies, null if
  /// that is not known. @p is_set: this run has certainly written it before.
  virtual void touch(const Expr& site, const RunObject* object, bool is_set) = 0;
  /// @brief What a scalar in memory holds flows somewhere. @p object: where it lies, null if that
  /// is not known. @p offset: which scalar of it; nothing if that is not known. @p is_set: on every
  /// path that leads here this run has written it before.
  virtual void load(const RunObject* /*object*/, std::optional<std::int64_t> /*offset*/,
                    bool /*is_set*/) {}
  /// @brief The value of a local scalar is used; @p is_set: it has certainly one.
  virtual void use(const Expr& name, bool is_set) = 0;
  /// @brief An operator on integers; @p is_known: its result is known, so that C defines it.
  virtual void compute(const Expr& expr, bool is_known) = 0;
};

/// @brief Where a scalar's value comes from: scalar @ref offset of a parameter, as it was loaded.
struct RunSource {
  int parameter = -1;
  std::int64_t offset = 0;
  bool operator==(const RunSource&) const = default;
};

struct RunResult {
  bool is_complete = false;                    ///< false: too long to follow
  std::vector<std::set<std::int64_t>> stored;  ///< [parameters] scalars written on every path
  /// [parameters] ... that hold this in the end, whatever the data
  std::vector<std::map<std::int64_t, Constant>> constant;
  /// [parameters] ... that hold in the end what was loaded from a parameter, as it was then, and
  /// not changed since
  std::vector<std::map<std::int64_t, RunSource>> copied;
};

/// @brief Run a kernel abstractly: integers with known values are followed, so loops with constant
/// bounds run in full and subscripts are exact; where a condition depends on data, both branches
/// run and only what both do is sure.
///
/// Operands are evaluated from left to right; see has_open_order().
///
/// @param[in] named The kernel, each function with unique names.
/// @param[in] listener Null: only what is stored matters.
[[nodiscard]] RunResult run_kernel(const KernelBody& named, const RunInput& input,
                                   RunListener* listener);

}  // namespace op2::kernel
