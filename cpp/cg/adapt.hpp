// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cg/dialect.hpp"
#include "kernel/body.hpp"

namespace op2::cg {

/// @brief The kernel in the words of @p dialect; for C it stays as it is.
///
/// - Names that are words of the dialect get an underscore.
/// - Static tables of functions move to file scope. Where constant tables are an address space of
///   their own, a function that passes a table's address on gets a private copy of it.
/// - Functions of the C library get the dialect's names, and their arguments the types that C
///   would convert them to: overloads choose by type, and differ.
/// - Values in braces, and operands of complex arithmetic, get the casts that C leaves out.
///
/// @pre infer_types() has filled the expressions' types.
[[nodiscard]] kernel::KernelBody adapted(kernel::KernelBody body, const Dialect& dialect);

}  // namespace op2::cg
