// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "lower/passes.hpp"

namespace op2::lower {

kir::Block legalise(kir::Block block, const Facts& facts) {
  if (facts.lanes != Lanes::one) return block;
  kir::Block out;
  for (kir::Stmt& stmt : block) {
    if (auto* region = std::get_if<kir::Region>(&stmt.node)) {
      for (kir::Stmt& inner : legalise(std::move(region->body), facts)) {
        out.push_back(std::move(inner));
      }
      continue;
    }
    if (auto* loop = std::get_if<kir::For>(&stmt.node)) {
      loop->axis = kir::Axis::serial;
      loop->body = legalise(std::move(loop->body), facts);
    }
    if (auto* branch = std::get_if<kir::If>(&stmt.node)) {
      branch->then = legalise(std::move(branch->then), facts);
    }
    out.push_back(std::move(stmt));
  }
  return out;
}

}  // namespace op2::lower
