// SPDX-License-Identifier: BSD-3-Clause
#include "ir/loop_input.hpp"

#include <cstddef>
#include <variant>
#include <vector>

namespace op2::ir {
namespace {

/// A pointer that is handed on: nothing is known of what is behind it.
bool is_handle(const Arg& arg) {
  const auto* dat = std::get_if<DirectDat>(&arg);
  return dat != nullptr && dat->dim == 0 && dat->stride == 0;
}

}  // namespace

std::vector<kernel::Variable> const_variables(const Group& group, std::size_t member) {
  std::vector<kernel::Variable> variables;
  for (const int number : constants_of(group, member)) {
    const ConstRef& constant = group.constants[static_cast<std::size_t>(number)];
    kernel::Type type = scalar(kernel::base_of(constant.dtype));
    if (constant.dim != 1) {
      type.derivation.push_back({.kind = kernel::Derivation::Kind::array, .extent = constant.dim});
    }
    variables.push_back({.name = constant.name, .type = type, .value = std::nullopt, .line = 0});
  }
  return variables;
}

kernel::CheckInput check_input(const Loop& loop, const std::map<int, std::int64_t>& extents,
                               const std::map<int, kernel::RowCount>& rows) {
  kernel::CheckInput input;
  const std::size_t n = kernel_of(loop).parameters.size();
  input.accesses.resize(n);
  input.run.extents.assign(n, -1);
  input.run.uniform.assign(n, false);
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const auto at = static_cast<std::size_t>(parameter_of(loop, i));
    if (at >= n || is_handle(loop.args[i])) continue;
    std::int64_t& extent = input.run.extents[at];
    // the kernel reads a ragged row as far as the row goes
    const int map = target_map_of(loop.args[i]);
    const bool is_open = map >= 0 && loop.maps[static_cast<std::size_t>(map)].ragged &&
                         access_of(loop.args[i]) == Access::read;
    if (!is_open) extent = (extent < 0 ? 0 : extent) + extent_of(loop, loop.args[i]);
    if (const auto given = extents.find(parameter_of(loop, i)); given != extents.end()) {
      extent = given->second;
    }
    // entries of a matrix that are left alone become 0
    const bool is_set_matrix =
        std::holds_alternative<MatArg>(loop.args[i]) && access_of(loop.args[i]) == Access::write;
    input.accesses[at] = is_set_matrix ? Access::rw : access_of(loop.args[i]);
    input.run.uniform[at] = std::holds_alternative<GlobalRead>(loop.args[i]);
  }
  for (const auto& [at, row] : rows) {
    const auto i = static_cast<std::size_t>(at);
    input.run.extents[i] = -1;
    if (input.accesses[i] == Access::read) input.accesses[i].reset();  // of any length: no bits
  }
  input.rows = rows;
  for (const ConstRef& constant : loop.constants) {
    input.run.constants.emplace(constant.name, constant.dim);
  }
  input.constants = const_variables(loop, 0);
  return input;
}

}  // namespace op2::ir
