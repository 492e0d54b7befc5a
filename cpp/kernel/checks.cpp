// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/checks.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "kernel/checked_addresses.hpp"
#include "kernel/checked_function.hpp"
#include "kernel/plain.hpp"
#include "kernel/proofs.hpp"
#include "kernel/types.hpp"
#include "kernel/unique_names.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

std::string checked_name(const std::string& function) {
  return "op2_checked_" + function;
}

CheckedBody checked(const KernelBody& named, const CheckInput& input, const KernelProofs& proofs,
                    bool has_bits, bool& needs_bits, bool suspects = false) {
  CheckSites sites;
  CheckedKernel kernel{named, input, proofs, sites, has_bits, false, suspects};
  CheckedBody made;
  made.body.tables = named.tables;
  for (const FunctionDef& function : named.functions) {
    FunctionDef done = CheckedFunction(kernel, function).run();
    done.name = checked_name(function.name);
    done.vector_text.clear();  // it has no checks
    made.body.functions.push_back(std::move(done));
  }
  made.body = spelled(std::move(made.body));
  made.entry = made.body.entry().name;
  made.sites = sites.take();
  made.has_bits = has_bits;
  needs_bits = kernel.needs_bits;
  return made;
}

/// The plain kernel; what is computed from Consts has types.
KernelBody prepared(const KernelBody& body, const CheckInput& input) {
  return with_addressed_arrays(plain(body, input.constants));
}

std::set<std::string> calls_in(const std::vector<FunctionDef>& functions) {
  std::set<std::string> names;
  for (const FunctionDef& function : functions) {
    for_each_expr_in(function.body, [&names](const Expr& expr) {
      if (const auto* call = std::get_if<Call>(&expr.node)) names.insert(call->function);
    });
  }
  return names;
}

/// WRITE promises every component: what cannot be proven is watched.
bool leaves_some_unwritten(const KernelProofs& proofs, const CheckInput& input) {
  for (std::size_t i = 0; i < input.accesses.size(); ++i) {
    const bool is_written = input.accesses[i] == Access::write;
    const bool is_open = input.rows.contains(static_cast<int>(i));
    if (is_written && (is_open || proofs.n_stored(i) < input.run.extents[i])) return true;
  }
  return false;
}

}  // namespace

CheckedBody with_checks(const KernelBody& body, const CheckInput& input) {
  const KernelBody named = prepared(body, input);
  const KernelProofs proofs(named, input.run);
  bool needs_bits = leaves_some_unwritten(proofs, input);
  bool asks = false;
  CheckedBody made = checked(named, input, proofs, needs_bits, asks);
  if (asks && !needs_bits) made = checked(named, input, proofs, true, asks);
  for (std::size_t i = 0; i < input.accesses.size(); ++i) {
    made.n_stored.push_back(proofs.n_stored(i));
  }
  made.body = infer_types(std::move(made.body));
  return made;
}

std::optional<CheckedBody> with_suspicion(const KernelBody& body, const CheckInput& input) {
  const KernelBody named = prepared(body, input);
  const KernelProofs proofs(named, input.run);
  if (leaves_some_unwritten(proofs, input)) return std::nullopt;
  bool asks = false;
  CheckedBody made = checked(named, input, proofs, false, asks, true);
  const auto is_other = [](const CheckSite& site) { return site.check != Check::made; };
  if (asks || std::ranges::any_of(made.sites, is_other)) return std::nullopt;
  made.body.functions.back().name = made.entry = body.entry().name;
  made.body = infer_types(std::move(made.body));
  return made;
}

KernelBody checked_kernel(const KernelBody& prelude, const CheckedBody& checked,
                          const KernelBody& shell) {
  KernelBody made;
  made.tables = checked.body.tables;
  made.functions = checked.body.functions;
  made.functions.insert(made.functions.end(), shell.functions.begin(), shell.functions.end());
  std::set<std::string> called = calls_in(made.functions);
  std::vector<FunctionDef> first;
  for (auto function = prelude.functions.rbegin(); function != prelude.functions.rend();
       ++function) {
    if (!called.contains(function->name)) continue;
    called.merge(calls_in({*function}));
    first.insert(first.begin(), *function);
  }
  made.functions.insert(made.functions.begin(), first.begin(), first.end());
  return infer_types(std::move(made));
}

}  // namespace op2::kernel
