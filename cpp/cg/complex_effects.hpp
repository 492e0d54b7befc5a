// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ir/kernel_body.hpp"

namespace op2::cg {

/// @brief Write what changes complex numbers by assignments that may name their target twice.
///
/// `z++` and its kin become `z += 1`; where the value before it is used, a local keeps it:
/// `(before = z, z += 1, before)`. If finding the target of these or of `op=` changes something
/// itself, a local pointer finds it once: `p[i++] *= z` becomes `(place = &p[i++], *place *= z)`.
///
/// It runs before spell_out_complex(), which makes `z = z + 1` of `z += 1`.
/// @param[in] body With inferred types.
void spell_out_effects(ir::KernelBody& body);

}  // namespace op2::cg
