// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "kernel/body.hpp"

namespace op2::cg {

/// @brief True of one complex number. Those of several elements side by side have functions
/// already.
[[nodiscard]] bool is_complex(const kernel::Type& type);
[[nodiscard]] bool is_complex(const kernel::Expr& expr);
[[nodiscard]] bool any_complex(const std::vector<kernel::Expr>& operands);

/// @brief Write what changes complex numbers by assignments that may name their target twice.
///
/// `z++` and its kin become `z += 1`; where the value before it is used, a local keeps it:
/// `(before = z, z += 1, before)`. If finding the target of these or of `op=` changes something
/// itself, a local pointer finds it once: `p[i++] *= z` becomes `(place = &p[i++], *place *= z)`.
///
/// It runs before spell_out_complex(), which makes `z = z + 1` of `z += 1`.
/// @param[in] body With inferred types.
void spell_out_effects(kernel::KernelBody& body);

}  // namespace op2::cg
