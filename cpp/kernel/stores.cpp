// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/stores.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "kernel/plain.hpp"

namespace op2::kernel {
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

}  // namespace

std::vector<LeftBehind> left_behind(const KernelBody& body) {
  std::vector<LeftBehind> left(body.entry().parameters.size());
  if (has_open_order(body)) return left;
  RunResult result = run_kernel(plain(body), {}, nullptr);
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = {.stored = std::move(result.stored[i]),
               .constant = std::move(result.constant[i]),
               .copied = std::move(result.copied[i])};
  }
  return left;
}

std::vector<SeenBefore> seen_before(const KernelBody& body) {
  FirstReads reads(body.entry().parameters.size());
  if (has_open_order(body) || !run_kernel(plain(body), {}, &reads).is_complete) reads.see_all();
  return std::move(reads.seen);
}

const std::vector<LeftBehind>& left_behind(const Kernel& kernel) {
  return kernel.left.get([&kernel] { return left_behind(*kernel.body); });
}

const std::vector<SeenBefore>& seen_before(const Kernel& kernel) {
  return kernel.seen.get([&kernel] { return seen_before(*kernel.body); });
}

std::int64_t LeftBehind::n_stored() const {
  return prefix_of([this](std::int64_t i) { return stored.contains(i); });
}

std::int64_t LeftBehind::n_zero() const {
  return prefix_of([this](std::int64_t i) {
    const auto known = constant.find(i);
    return known != constant.end() && is_zero(known->second);
  });
}

CopiedPrefix LeftBehind::copy() const {
  const auto first = copied.find(0);
  if (first == copied.end() || first->second.offset != 0) return {};
  const int source = first->second.parameter;
  const std::int64_t n = prefix_of([&](std::int64_t i) {
    const auto known = copied.find(i);
    return known != copied.end() && known->second == RunSource{source, i};
  });
  return {.source = source, .n = n};
}

std::int64_t SeenBefore::n_unseen() const {
  if (is_all) return 0;
  if (scalars.empty()) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(*scalars.begin(), 0);
}

bool overwrites(const Kernel& kernel, std::size_t parameter, std::int64_t n, Access access) {
  if (access != Access::write && access != Access::rw) return false;
  if (left_behind(kernel)[parameter].n_stored() < n) return false;
  return access == Access::write || seen_before(kernel)[parameter].n_unseen() >= n;
}

}  // namespace op2::kernel
