// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_stores.hpp"

#include <algorithm>
#include <set>

#include "ir/kernel_run.hpp"
#include "ir/unique_names.hpp"

namespace op2::ir {
namespace {

std::int64_t prefix_of(const std::set<std::int64_t>& offsets) {
  std::int64_t n = 0;
  for (auto i = offsets.lower_bound(0); i != offsets.end() && *i == n; ++i) ++n;
  return n;
}

}  // namespace

std::vector<std::int64_t> surely_stored(const KernelBody& body) {
  const RunResult result = run_kernel(with_unique_names(body), {}, nullptr);
  std::vector<std::int64_t> prefixes(result.stored.size(), 0);
  std::ranges::transform(result.stored, prefixes.begin(), prefix_of);
  return prefixes;
}

}  // namespace op2::ir
