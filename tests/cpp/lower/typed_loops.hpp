// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "kernel/types.hpp"
#include "loops.hpp"

/// What tests of loops on lanes need besides the loops.
namespace op2::lower::testing {

/// The loop with the types that the front end would have given its kernel's expressions.
inline ir::Loop typed(ir::Loop loop) {
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  kernel->body = kernel::infer_types(std::move(*kernel->body));
  loop.members[0].kernel = std::move(kernel);
  return loop;
}

inline Options on(int lanes) {
  Options options;
  options.lanes = lanes;
  return options;
}

}  // namespace op2::lower::testing
