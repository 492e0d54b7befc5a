// SPDX-License-Identifier: BSD-3-Clause
#include "cg/needs.hpp"

#include <set>

#include "ir/kernel_walk.hpp"
#include "ir/kir_walk.hpp"

namespace op2::cg {
namespace {

bool has_wide_atomics(const kir::Block& block) {
  return kir::any_stmt(block, [](const kir::Stmt& stmt) {
    const auto* atomic = std::get_if<kir::Atomic>(&stmt.node);
    return atomic != nullptr && size_of(atomic->dtype) >= 8 && atomic->dtype != DType::complex64;
  });
}

/// Collects what the variables and values of a kernel are made of.
struct Collector {
  std::set<ir::Base>& bases;
  void enter() {}
  void leave() {}
  void declare(const ir::Variable& variable) { bases.insert(variable.type.base); }
  void expression(const ir::Expr& expr) {
    ir::for_each_expr(expr, [this](const ir::Expr& part) {
      bases.insert(part.type.base);
      if (const auto* cast = std::get_if<ir::Cast>(&part.node)) bases.insert(cast->target.base);
    });
  }
};

void add_bases(std::set<ir::Base>& bases, const ir::KernelBody& body) {
  for (const ir::Variable& table : body.tables) bases.insert(table.type.base);
  Collector collector{bases};
  for (const ir::FunctionDef& function : body.functions) {
    for (const ir::Parameter& parameter : function.parameters) bases.insert(parameter.type.base);
    ir::walk_scoped(function.body, collector);
  }
}

std::set<ir::Base> bases_of(const kir::Module& module) {
  std::set<ir::Base> bases;
  for (const kir::Parameter& array : module.argv) bases.insert(ir::base_of(array.type.dtype));
  for (const ir::KernelPtr& kernel : module.kernels) {
    if (kernel->body) add_bases(bases, *kernel->body);
  }
  return bases;
}

}  // namespace

std::vector<std::string> needs(const kir::Module& module) {
  const std::set<ir::Base> bases = bases_of(module);
  std::vector<std::string> out;
  if (bases.contains(ir::Base::float64) || bases.contains(ir::Base::complex128)) {
    out.emplace_back("float64");
  }
  if (bases.contains(ir::Base::complex64) || bases.contains(ir::Base::complex128)) {
    out.emplace_back("complex");
  }
  for (const kir::Function& function : module.functions) {
    if (!has_wide_atomics(function.body)) continue;
    out.emplace_back("int64_atomics");
    break;
  }
  return out;
}

}  // namespace op2::cg
