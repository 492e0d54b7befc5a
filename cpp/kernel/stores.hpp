// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/access.hpp"
#include "kernel/body.hpp"
#include "kernel/held_constants.hpp"
#include "kernel/run.hpp"

namespace op2::kernel {

/// @brief What a parameter is a copy of when the kernel returns.
struct CopiedPrefix {
  int source = -1;     ///< a parameter of the entry function; -1: of none
  std::int64_t n = 0;  ///< scalars 0 to n - 1 hold what those of the source held when loaded
  bool operator==(const CopiedPrefix&) const = default;
};

/// @brief What is certain of the memory behind a parameter when the kernel returns, scalar by
/// scalar, if no other parameter leads there. Values are of the parameter's type, not of a Dat's.
struct LeftBehind {
  std::set<std::int64_t> stored;              ///< written on every path
  std::map<std::int64_t, Constant> constant;  ///< the last that was stored there is this
  /// ... or was loaded from there, a parameter, as it was then, and not converted or changed.
  std::map<std::int64_t, RunSource> copied;

  /// @brief The largest n such that scalars 0 to n - 1 are written.
  [[nodiscard]] std::int64_t n_stored() const;
  /// @brief The same of scalars that hold 0, and not -0.0.
  [[nodiscard]] std::int64_t n_zero() const;
  /// @brief The same of scalars that are copies, each of the same one of one other parameter.
  [[nodiscard]] CopiedPrefix copy() const;
  bool operator==(const LeftBehind&) const = default;
};

/// @brief What each parameter of the entry function certainly holds in the end, whatever the data.
///
/// Runs the kernel abstractly: known numbers are followed, so loops with constant bounds run in
/// full and subscripts are exact; where a condition depends on data, both branches run and only
/// what both leave behind counts. Of what it cannot tell, or what takes too long, it says nothing.
///
/// Constants are literals, what C makes of them without rounding, with another sign, and results of
/// operators on integers.
[[nodiscard]] std::vector<LeftBehind> left_behind(const KernelBody& body);

/// @brief The same of a kernel that has a body, found once.
[[nodiscard]] const std::vector<LeftBehind>& left_behind(const Kernel& kernel);

/// @brief Scalars of a parameter that a call may read where it has not written them before.
struct SeenBefore {
  bool is_all = false;  ///< any of them
  std::set<std::int64_t> scalars;

  /// @brief The largest n such that a call certainly sees none of scalars 0 to n - 1; more than any
  /// array has if it reads none.
  [[nodiscard]] std::int64_t n_unseen() const;
};

/// @brief What a call may see of what each parameter of the entry function held before. Operands
/// that C lets be evaluated in any order count as evaluated in the worse one.
///
/// Parameters are taken to be memory of their own: who hands over one twice must ask for all of
/// them.
[[nodiscard]] std::vector<SeenBefore> seen_before(const KernelBody& body);

/// @brief The same of a kernel that has a body, found once.
[[nodiscard]] const std::vector<SeenBefore>& seen_before(const Kernel& kernel);

/// @brief True if nothing of scalars 0 to @p n - 1 of a parameter is left after a call, and what
/// they held does not matter: all are written, and with Access::rw not seen before.
[[nodiscard]] bool overwrites(const Kernel& kernel, std::size_t parameter, std::int64_t n,
                              Access access);

}  // namespace op2::kernel
