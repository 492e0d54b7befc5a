// SPDX-License-Identifier: BSD-3-Clause
#include "cg/source.hpp"

#include <cstddef>
#include <vector>

#include "cg/context.hpp"
#include "cg/kernel_printer.hpp"
#include "cg/module_printer.hpp"

namespace op2::cg {

Sections print_source(const kir::Module& module, const Dialect& dialect, bool line_markers,
                      const std::string& linkage) {
  Context context(dialect);
  if (module.blocks_are_warps) context.use_warp_barriers();
  reserve_names(context, module);
  std::vector<std::string> entries;
  for (const kernel::KernelPtr& kernel : module.kernels) {
    KernelStyle style;
    style.line_markers = line_markers;
    if (kernel->cpp) style.boolean = "bool";
    style.rows = module.rows;
    style.elementary = module.elementary;
    entries.push_back(print_kernel(context, *kernel, style));
  }
  const std::size_t n_kernels = context.size();
  const std::size_t n_before_launch = print_module(context, module, entries, linkage);
  const std::string text = context.finish();
  return {text.substr(0, n_kernels), text.substr(n_kernels, n_before_launch - n_kernels),
          text.substr(n_before_launch)};
}

}  // namespace op2::cg
