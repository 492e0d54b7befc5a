// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/access.hpp"
#include "ir/kernel_body.hpp"

namespace op2::ir {

/// @brief How much of each parameter is certainly written, whatever the data.
///
/// Runs the kernel abstractly: integers with known values are followed, so loops with constant
/// bounds run in full and subscripts are exact; where a condition depends on data, both branches
/// run and only what both write counts. Where it cannot tell, or takes too long, it says 0.
///
/// @return For each parameter of the entry function the largest n such that scalars 0 to n - 1
/// are written on every path.
[[nodiscard]] std::vector<std::int64_t> surely_stored(const KernelBody& body);

/// @brief How much of each parameter certainly holds 0 when the kernel returns. By the same run: a
/// scalar counts if the last that was stored there is a literal 0.
///
/// @return For each parameter of the entry function the largest n such that scalars 0 to n - 1 do.
[[nodiscard]] std::vector<std::int64_t> surely_zero(const KernelBody& body);

/// @brief How much of what each parameter held before a call is certainly not seen by it: these
/// scalars are read, if at all, only where the call has written them on every path. Operands that C
/// lets be evaluated in any order count as evaluated in the worse one.
///
/// Parameters are taken to be memory of their own: who hands over one twice must ask for all of
/// them.
///
/// @return For each parameter of the entry function the largest n such that this is true of scalars
/// 0 to n - 1; of one that is never read more than any array has.
[[nodiscard]] std::vector<std::int64_t> surely_unseen(const KernelBody& body);

/// @brief True if nothing of scalars 0 to @p n - 1 of a parameter is left after a call, and what
/// they held does not matter: all are written, and with Access::rw not seen before.
[[nodiscard]] bool overwrites(const KernelBody& body, std::size_t parameter, std::int64_t n,
                              Access access);

/// @brief What a parameter is a copy of when the kernel returns.
struct CopiedPrefix {
  int source = -1;     ///< a parameter of the entry function; -1: of none
  std::int64_t n = 0;  ///< scalars 0 to n - 1 hold what those of the source held when loaded
  bool operator==(const CopiedPrefix&) const = default;
};

/// @brief For each parameter of the entry function what it certainly is a copy of. By the same
/// run: a scalar counts if the last that was stored there was loaded from the same place of another
/// parameter, and not converted.
[[nodiscard]] std::vector<CopiedPrefix> surely_copied(const KernelBody& body);

}  // namespace op2::ir
