// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cg/context.hpp"
#include "kir/nodes.hpp"

namespace op2::cg {

/// @brief Keep the names of the wrappers' variables from the kernels' functions. Call it before the
/// kernels are printed.
void reserve_names(Context& context, const kir::Module& module);

/// @brief Print the wrappers and the launch function of an expanded module into @p context.
///
/// The kernels must be printed before (kernel_printer.hpp). @param[in] entries Their names, in the
/// order of Module::kernels.
/// @param[in] linkage Before the launch function's type: `extern "C" ` in C++ text.
/// @return Bytes of the text before the launch function. That names `struct op2_context_v1`, which
/// the template declares there.
/// @throws InternalError if the module is not expanded.
std::size_t print_module(Context& context, const kir::Module& module,
                         const std::vector<std::string>& entries, const std::string& linkage);

/// @brief Prototype of a wrapper, as it is printed: what `GeneratedCode.signature` shows.
[[nodiscard]] std::string prototype(const Dialect& dialect, const kir::Function& function);

}  // namespace op2::cg
