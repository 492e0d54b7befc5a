// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "cg/context.hpp"
#include "kernel/body.hpp"
#include "kernel/lane_functions.hpp"

namespace op2::cg {

/// @brief Define every vector type and every function over lanes (kernel/lane_functions.hpp) that
/// @p body uses, with elementary functions of vectors from @p elementary.
void define_lanes(Context& context, const kernel::KernelBody& body,
                  kernel::Elementary elementary = kernel::Elementary::library);

/// @brief Where an elementary function of a kernel comes from on lanes of a host.
struct ElementarySource {
  std::string name;
  std::string symbol;  ///< in the C library, in glibc 2.`minor` or later; empty: none
  int minor = 0;
  int bytes = 0;          ///< width of the vectors that `symbol` takes
  bool has_text = false;  ///< where `symbol` is missing there is a text of templates/lanes
};

/// @brief The elementary functions that @p body calls, by name.
[[nodiscard]] std::vector<ElementarySource> elementary_sources(const kernel::KernelBody& body,
                                                               int lanes,
                                                               kernel::Elementary elementary);

}  // namespace op2::cg
