// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief @p body with each member of a structure as a variable of its own, so that nobody after
/// the front end knows of structures.
///
/// An array of structures becomes an array for each member, a pointer a pointer for each, and a
/// result is given through pointers. Types must be known, and are again afterwards.
///
/// @throws UnsupportedError with the line of what is used as a whole: bytes of a structure, a
/// pointer cast to one, a structure that points to its own kind.
[[nodiscard]] KernelBody without_structures(KernelBody body);

}  // namespace op2::kernel
