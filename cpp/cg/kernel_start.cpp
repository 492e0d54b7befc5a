// SPDX-License-Identifier: BSD-3-Clause
#include "cg/kernel_start.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "kir/instructions.hpp"
#include "kir/walk.hpp"

namespace op2::cg {
namespace {

bool is_written_by_host(const kir::Parameter& parameter) {
  return parameter.role == kir::Role::plan || parameter.role == kir::Role::map ||
         parameter.role == kir::Role::items;
}

}  // namespace

std::size_t n_before_start(const kir::Function& kernel) {
  if (kernel.body.size() != 1) return 0;
  const auto* loop = std::get_if<kir::For>(&kernel.body.front().node);
  if (loop == nullptr || loop->axis != kir::Axis::grid) return 0;
  std::set<std::string> ahead;
  std::set<std::string> others;
  for (const kir::Parameter& parameter : kernel.parameters) {
    if (!parameter.type.is_pointer) continue;
    (is_written_by_host(parameter) ? ahead : others).insert(parameter.name);
  }
  std::size_t n = 0;
  bool reads_ahead = false;
  for (const kir::Stmt& statement : loop->body) {
    // indices of one word: waiting behind them gained nothing (docs/performance.md)
    if (kir::is_instruction(statement, kir::Instruction::fetch)) return 0;
    const std::set<std::string> used = kir::names_used({statement});
    const auto is_in = [&used](const std::string& name) { return used.contains(name); };
    if (std::ranges::any_of(others, is_in)) break;
    reads_ahead |= std::ranges::any_of(ahead, is_in);
    ++n;
  }
  return reads_ahead && n < loop->body.size() ? n : 0;
}

}  // namespace op2::cg
