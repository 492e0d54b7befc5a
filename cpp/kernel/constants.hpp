// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief Names that are used but declared nowhere: candidates for a Const by bare name.
/// @return In alphabetical order.
[[nodiscard]] std::vector<std::string> free_names(const KernelBody& body);

struct BoundBody {
  KernelBody body;
  std::vector<Parameter> constants;  ///< the entry function's new parameters, at its end
};

/// @brief Turn constants used by their bare names into parameters.
///
/// Every function that needs a constant, itself or through what it calls, gets one hidden parameter
/// at its end, and so does every call of it. Locals shadow as in C: where a function declares a
/// name of its own that equals the constant's, the hidden parameter is called otherwise.
///
/// @param[in] constants Name and type of each Const there is; those not needed are not bound.
/// @throws UsageError if a file-scope table is initialised from a Const.
[[nodiscard]] BoundBody bind_constants(KernelBody body, std::span<const Parameter> constants);

}  // namespace op2::kernel
