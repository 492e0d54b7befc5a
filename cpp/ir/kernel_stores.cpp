// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_stores.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "ir/unique_names.hpp"

namespace op2::ir {
namespace {

/// The largest n such that something holds of scalars 0 to n - 1.
template <class Holds>
std::int64_t prefix_of(const Holds& holds) {
  std::int64_t n = 0;
  while (holds(n)) ++n;
  return n;
}

/// Notes what a run reads before it has written it.
class FirstReads : public RunListener {
 public:
  explicit FirstReads(std::size_t n_parameters) : seen(n_parameters) {}

  std::vector<SeenBefore> seen;  // [parameters]

  void subscript(const RunSubscript& /*met*/) override {}
  void touch(const Expr& /*site*/, const RunObject* /*object*/, bool /*is_set*/) override {}
  void use(const Expr& /*name*/, bool /*is_set*/) override {}
  void compute(const Expr& /*expr*/, bool /*is_known*/) override {}

  void load(const RunObject* object, std::optional<std::int64_t> offset, bool is_set) override {
    if (is_set) return;
    if (object == nullptr) see_all();
    if (object == nullptr || object->parameter < 0) return;
    SeenBefore& of = seen[static_cast<std::size_t>(object->parameter)];
    if (offset) {
      of.scalars.insert(*offset);
    } else {
      of.is_all = true;
    }
  }

  void see_all() {
    for (SeenBefore& of : seen) of.is_all = true;
  }
};

template <class Prefix>
std::vector<std::int64_t> prefixes(const KernelBody& body, const Prefix& prefix) {
  const std::vector<LeftBehind> left = left_behind(body);
  std::vector<std::int64_t> out(left.size(), 0);
  std::ranges::transform(left, out.begin(), prefix);
  return out;
}

std::int64_t unseen_of(const SeenBefore& seen) {
  if (seen.is_all) return 0;
  if (seen.scalars.empty()) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(*seen.scalars.begin(), 0);
}

}  // namespace

std::vector<LeftBehind> left_behind(const KernelBody& body) {
  RunResult result = run_kernel(with_unique_names(body), {}, nullptr);
  std::vector<LeftBehind> left(body.entry().parameters.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = {.stored = std::move(result.stored[i]),
               .constant = std::move(result.constant[i]),
               .copied = std::move(result.copied[i])};
  }
  return left;
}

std::vector<SeenBefore> seen_before(const KernelBody& body) {
  FirstReads reads(body.entry().parameters.size());
  if (!run_kernel(with_unique_names(body), {}, &reads).is_complete) reads.see_all();
  return std::move(reads.seen);
}

std::int64_t LeftBehind::n_stored() const {
  return prefix_of([this](std::int64_t i) { return stored.contains(i); });
}

std::vector<std::int64_t> surely_stored(const KernelBody& body) {
  return prefixes(body, [](const LeftBehind& left) { return left.n_stored(); });
}

std::vector<std::int64_t> surely_zero(const KernelBody& body) {
  return prefixes(body, [](const LeftBehind& left) {
    return prefix_of([&left](std::int64_t i) {
      const auto known = left.constant.find(i);
      return known != left.constant.end() && is_zero(known->second);
    });
  });
}

std::vector<std::int64_t> surely_unseen(const KernelBody& body) {
  const std::vector<SeenBefore> seen = seen_before(body);
  std::vector<std::int64_t> out(seen.size(), 0);
  std::ranges::transform(seen, out.begin(), unseen_of);
  return out;
}

bool overwrites(const KernelBody& body, std::size_t parameter, std::int64_t n, Access access) {
  if (access != Access::write && access != Access::rw) return false;
  if (surely_stored(body)[parameter] < n) return false;
  return access == Access::write || surely_unseen(body)[parameter] >= n;
}

std::vector<CopiedPrefix> surely_copied(const KernelBody& body) {
  std::vector<CopiedPrefix> out;
  for (const LeftBehind& left : left_behind(body)) {
    const auto first = left.copied.find(0);
    const int source = first == left.copied.end() ? -1 : first->second.parameter;
    const std::int64_t n = prefix_of([&](std::int64_t i) {
      const auto known = left.copied.find(i);
      return known != left.copied.end() && known->second == RunSource{source, i};
    });
    out.push_back({.source = n == 0 ? -1 : source, .n = n});
  }
  return out;
}

}  // namespace op2::ir
