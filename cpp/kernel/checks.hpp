// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/access.hpp"
#include "kernel/body.hpp"
#include "kernel/run.hpp"

namespace op2::kernel {

/// @brief What a check in a kernel watches.
enum class Check : std::uint8_t {
  bounds,      ///< a subscript leaves its array
  load,        ///< a value is used that the access does not give, or that nobody has written
  store,       ///< a value is overwritten that the access does not let
  update,      ///< a value is updated that the access does not let, or that nobody has written
  unset,       ///< a local variable is used before it has a value
  result,      ///< a function whose value is used ends without returning one
  made,        ///< a floating-point value is not finite, although all it was made from are
  divisor,     ///< an integer is divided by zero
  shift,       ///< an integer is shifted by more bits than it has, or by fewer than none
  overflow,    ///< a result does not fit its integer type
  conversion,  ///< an integer does not fit the one that it is converted to
  truncation,  ///< a real number does not fit the integer that it is converted to
};
inline constexpr std::string_view check_names[] = {
    "bounds", "load",    "store", "update",   "unset",      "result",
    "made",   "divisor", "shift", "overflow", "conversion", "truncation"};

/// @brief Where a check stands, for messages.
struct CheckSite {
  Check check = Check::bounds;
  int line = 0;
  std::string name;          ///< of the array or variable, as the user wrote it; may be empty
  int parameter = -1;        ///< of the entry function, if it is known to be that
  std::int64_t extent = -1;  ///< values of the array; of an overflow, bits of the result
};

/// @brief An array as long as other parameters say: `dim` times the product of their values.
struct RowCount {
  std::vector<int> counts;  ///< the other parameters: one, or one for rows and one for columns
  int dim;
};

struct CheckInput {
  std::vector<std::optional<Access>> accesses;  ///< [parameters] nothing: not looked at
  RunInput run;
  std::vector<Variable> constants = {};  ///< the Consts that the kernel uses, with their types
  std::map<int, RowCount> rows = {};     ///< of parameters whose length differs by element
};

/// @brief A kernel that watches itself.
struct CheckedBody {
  /// The kernel's functions. All get one more parameter at their end, `long *op2_check`, which they
  /// hand to the functions of the prelude; the entry function before it, if `has_bits`, one
  /// `unsigned char *` for each parameter with an access.
  KernelBody body;
  std::string entry;                   ///< what its entry function is called now
  std::vector<CheckSite> sites;        ///< by number; those of functions that are called come first
  bool has_bits = false;               ///< what each scalar is used for is watched while it runs
  std::vector<std::int64_t> n_stored;  ///< [parameters] scalars surely written: 0 to this - 1
};

/// What the entry function is called, and what names that checks add begin with.
inline constexpr std::string_view check_prefix = "op2_";

/// @brief Add the checks of check mode, but for those that hold whatever the data.
///
/// Each failed check reports its number and carries on without harm: subscripts stay inside.
[[nodiscard]] CheckedBody with_checks(const KernelBody& body, const CheckInput& input);

/// @brief A kernel that adds up whether a check of `with_checks` may fail; costs little.
///
/// The entry function, which keeps its name, gets one more parameter at its end, `double *`, to
/// which it adds 0 for each finite value that the kernel makes, and NaN for another. What is added
/// to arguments of access INC is left out: whether their sums are finite tells.
/// @return Nothing if a check may fail for other reasons. Without `sites` none can.
[[nodiscard]] std::optional<CheckedBody> with_suspicion(const KernelBody& body,
                                                        const CheckInput& input);

/// @brief One kernel: what checks call, the checked functions, and the function around them.
/// @param[in] prelude Functions, callee first; those that nothing calls are left out.
/// @param[in] shell Its entry function is called by the loop, and calls `checked.entry`.
[[nodiscard]] KernelBody checked_kernel(const KernelBody& prelude, const CheckedBody& checked,
                                        const KernelBody& shell);

}  // namespace op2::kernel
