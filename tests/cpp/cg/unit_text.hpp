// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "../jit/support.hpp"
#include "cg/source.hpp"

namespace op2::cg::testing {

/// `op2_context_v1` as the template of the host's units declares it.
inline std::string launch_context_declaration() {
  const std::string text = jit::testing::read_file(std::filesystem::path(__FILE__).parent_path() /
                                                   "../../../templates/host/launch_context.j2");
  return text.substr(text.find('\n') + 1);  // without the template's comment
}

/// A unit of the host, put together as its template does.
inline std::string unit_text(const Sections& text) {
  return text.kernels + text.wrappers + "\n" + launch_context_declaration() + text.launch;
}

}  // namespace op2::cg::testing
