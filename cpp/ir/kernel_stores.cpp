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

std::vector<std::int64_t> prefixes_of(const std::vector<std::set<std::int64_t>>& parameters) {
  std::vector<std::int64_t> prefixes(parameters.size(), 0);
  std::ranges::transform(parameters, prefixes.begin(), prefix_of);
  return prefixes;
}

}  // namespace

std::vector<std::int64_t> surely_stored(const KernelBody& body) {
  return prefixes_of(run_kernel(with_unique_names(body), {}, nullptr).stored);
}

std::vector<std::int64_t> surely_zero(const KernelBody& body) {
  return prefixes_of(run_kernel(with_unique_names(body), {}, nullptr).zero);
}

std::vector<CopiedPrefix> surely_copied(const KernelBody& body) {
  std::vector<CopiedPrefix> out;
  for (const auto& scalars : run_kernel(with_unique_names(body), {}, nullptr).copied) {
    CopiedPrefix& prefix = out.emplace_back();
    if (!scalars.empty()) prefix.source = scalars.begin()->second.parameter;
    for (const auto& [offset, source] : scalars) {
      if (offset != prefix.n || source != RunSource{prefix.source, offset}) break;
      ++prefix.n;
    }
    if (prefix.n == 0) prefix.source = -1;
  }
  return out;
}

}  // namespace op2::ir
