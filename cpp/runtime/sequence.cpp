// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/sequence.hpp"

#include <utility>

namespace op2::runtime {

Sequence::Sequence(std::vector<std::shared_ptr<PreparedLoop>> loops) : loops_(std::move(loops)) {}

bool Sequence::run(std::int64_t n_times) {
  bool has_copied = false;
  for (std::int64_t i = 0; i < n_times; ++i) {
    for (const std::shared_ptr<PreparedLoop>& loop : loops_) has_copied |= loop->run();
  }
  return has_copied;
}

}  // namespace op2::runtime
