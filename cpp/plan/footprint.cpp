// SPDX-License-Identifier: BSD-3-Clause
#include "plan/footprint.hpp"

namespace op2::plan {

Footprint::Footprint(const Elements& elements, const std::vector<Conflict>& conflicts)
    : subset_(elements.subset) {
  int space = -1;
  std::int64_t base = 0;
  for (const Conflict& conflict : conflicts) {
    const mesh::MapTable& map = *conflict.map;
    if (conflict.space != space) {
      space = conflict.space;
      base = n_targets_;
      n_targets_ += map.n_targets();
    }
    parts_.push_back(Part{conflict.map, conflict.slot, base});
  }
}

}  // namespace op2::plan
