// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/proofs.hpp"

namespace op2::kernel {

KernelProofs::KernelProofs(const KernelBody& named, const RunInput& input) {
  result_ = run_kernel(named, input, this);
}

void KernelProofs::note(std::map<const Expr*, bool>& facts, const Expr& expr, bool holds) {
  const auto [known, is_new] = facts.emplace(&expr, holds);
  if (!is_new) known->second = known->second && holds;
}

bool KernelProofs::holds(const std::map<const Expr*, bool>& facts, const Expr& expr) const {
  const auto found = facts.find(&expr);
  return result_.is_complete && found != facts.end() && found->second;
}

void KernelProofs::subscript(const RunSubscript& met) {
  note(inside_, met.site, met.is_inside());
}
void KernelProofs::use(const Expr& name, bool is_set) {
  note(valued_, name, is_set);
}
void KernelProofs::compute(const Expr& expr, bool is_known) {
  note(defined_, expr, is_known);
}

void KernelProofs::touch(const Expr& site, const RunObject* object, bool is_set) {
  const auto given = object == nullptr ? std::nullopt : std::optional(*object);
  const auto [known, is_new] = touched_.emplace(&site, Touched{given, is_set});
  if (is_new) return;
  Touched& seen = known->second;
  const bool is_same = seen.object && given && seen.object->name == given->name &&
                       seen.object->parameter == given->parameter;
  if (!is_same) seen.object.reset();
  seen.is_set = seen.is_set && is_set;
}

bool KernelProofs::is_inside(const Expr& site) const {
  return holds(inside_, site);
}
bool KernelProofs::has_value(const Expr& name) const {
  return holds(valued_, name);
}
bool KernelProofs::is_defined(const Expr& expr) const {
  return holds(defined_, expr);
}

const RunObject* KernelProofs::object(const Expr& site) const {
  const auto found = touched_.find(&site);
  if (!result_.is_complete || found == touched_.end() || !found->second.object) return nullptr;
  return &*found->second.object;
}

bool KernelProofs::is_set(const Expr& site) const {
  const auto found = touched_.find(&site);
  return result_.is_complete && found != touched_.end() && found->second.is_set;
}

std::int64_t KernelProofs::n_stored(std::size_t i) const {
  std::int64_t n = 0;
  if (result_.is_complete) {
    while (result_.stored[i].contains(n)) ++n;
  }
  return n;
}

}  // namespace op2::kernel
