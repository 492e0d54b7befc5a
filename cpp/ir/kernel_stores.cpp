// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_stores.hpp"

#include <algorithm>
#include <limits>
#include <optional>
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

/// Notes what a run reads before it has written it.
class FirstReads : public RunListener {
 public:
  explicit FirstReads(std::size_t n_parameters)
      : unseen(n_parameters, std::numeric_limits<std::int64_t>::max()) {}

  std::vector<std::int64_t> unseen;  // [parameters] scalars from the first one on

  void subscript(const RunSubscript& /*met*/) override {}
  void touch(const Expr& /*site*/, const RunObject* /*object*/, bool /*is_set*/) override {}
  void use(const Expr& /*name*/, bool /*is_set*/) override {}
  void compute(const Expr& /*expr*/, bool /*is_known*/) override {}

  void load(const RunObject* object, std::optional<std::int64_t> offset, bool is_set) override {
    if (is_set) return;
    if (object == nullptr) std::ranges::fill(unseen, 0);
    if (object == nullptr || object->parameter < 0) return;
    std::int64_t& n = unseen[static_cast<std::size_t>(object->parameter)];
    n = std::min(n, std::max<std::int64_t>(offset.value_or(0), 0));
  }
};

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

std::vector<std::int64_t> surely_unseen(const KernelBody& body) {
  const std::size_t n_parameters = body.entry().parameters.size();
  FirstReads reads(n_parameters);
  const bool is_complete = run_kernel(with_unique_names(body), {}, &reads).is_complete;
  return is_complete ? reads.unseen : std::vector<std::int64_t>(n_parameters, 0);
}

bool overwrites(const KernelBody& body, std::size_t parameter, std::int64_t n, Access access) {
  if (access != Access::write && access != Access::rw) return false;
  if (surely_stored(body)[parameter] < n) return false;
  return access == Access::write || surely_unseen(body)[parameter] >= n;
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
