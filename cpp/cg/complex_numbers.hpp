// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "kernel/body.hpp"

namespace op2::cg {

/// @brief Who computes with complex numbers.
enum class ComplexBy : std::uint8_t {
  operators,  ///< The language's, or those of a struct.
  functions,  ///< They are vectors of two: products, quotients and comparisons are calls.
};

/// @brief @p body, in its plain form if an expression inside of another changes a complex number:
/// then `z = z + 1` may stand for `z += 1`, and the target is found once.
/// A body that uses what nobody declared stays as it is: the compiler refuses it.
[[nodiscard]] kernel::KernelBody with_plain_updates(kernel::KernelBody body);

/// @brief Spell out what C does with complex numbers by itself.
///
/// Conversions between real and complex numbers, and between widths, become casts; a complex
/// condition becomes a comparison with zero; `d *= z` and `z++` become assignments; a table becomes
/// a local array, because its values are no constants. With ComplexBy::functions what is no
/// operator of vectors then becomes a call of `op2_complex128`, `op2_complex128_multiply` and
/// others, which the backend's prelude defines.
///
/// It runs once the names of library functions are the dialect's, because it adds some.
/// @param[in] body With inferred types, from with_plain_updates().
void spell_out_complex(kernel::KernelBody& body, ComplexBy how);

}  // namespace op2::cg
