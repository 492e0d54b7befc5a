// SPDX-License-Identifier: BSD-3-Clause
#include "lower/constants.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.hpp"
#include "kernel/constants.hpp"

namespace op2::lower {

kernel::Kernel with_constants(const ir::Group& group, std::size_t member) {
  kernel::Kernel kernel = *group.members[member].kernel;
  const std::vector<int> used = ir::constants_of(group, member);
  if (used.empty()) return kernel;
  if (!kernel.body) {
    throw UnsupportedError(fmt::format("kernel '{}' is opaque ({}); pass its Consts as arguments",
                                       kernel.name, kernel.opaque_reason));
  }
  std::vector<kernel::Parameter> wanted;
  for (const int i : used) {
    const ir::ConstRef& constant = group.constants[static_cast<std::size_t>(i)];
    kernel::Type type = kernel::scalar(kernel::base_of(constant.dtype));
    type.is_const = true;
    if (constant.dim != 1) type = kernel::pointer_to(type);
    wanted.push_back({constant.name, type});
  }
  kernel::BoundBody bound = kernel::bind_constants(std::move(*kernel.body), wanted);
  if (bound.constants.size() != wanted.size()) {
    throw InternalError(
        fmt::format("kernel '{}' does not use all the Consts of its loop", kernel.name));
  }
  kernel.body = std::move(bound.body);
  return kernel;
}

}  // namespace op2::lower
