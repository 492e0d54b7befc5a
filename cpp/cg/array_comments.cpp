// SPDX-License-Identifier: BSD-3-Clause
#include "cg/array_comments.hpp"

#include <fmt/format.h>

#include "base/plan_arrays.hpp"

namespace op2::cg {

std::string array_comment(const kir::Parameter& parameter) {
  if (!parameter.type.is_pointer) return "";
  if (parameter.role == kir::Role::plan) {
    const abi::ArrayFacts& facts = abi::facts_of(parameter.array);
    return fmt::format("{}: {}", facts.shape, facts.what);
  }
  if (parameter.role == kir::Role::matrix) {
    switch (parameter.index % abi::n_matrix_arrays) {
      case abi::row_starts:
        return "[n_rows + 1]: where the blocks of each row begin";
      case abi::positions:
        return "[n_elements, row slots * column slots]: where in its row an entry's block is";
      default:
        return "[n_elements + 1]: where the positions of each element begin";
    }
  }
  return "";
}

}  // namespace op2::cg
