// SPDX-License-Identifier: BSD-3-Clause
#include "cg/needs.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <variant>

#include "cg/ranges.hpp"
#include "kernel/walk.hpp"
#include "kir/instructions.hpp"
#include "kir/walk.hpp"

namespace op2::cg {
namespace {

bool has_wide_atomics(const kir::Block& block) {
  return kir::any_stmt(block, [](const kir::Stmt& stmt) {
    const auto* atomic = std::get_if<kir::Atomic>(&stmt.node);
    return atomic != nullptr && size_of(atomic->dtype) >= 8 && atomic->dtype != DType::complex64;
  });
}

bool has(const kir::Module& module, kir::Instruction name) {
  return std::ranges::any_of(module.functions, [name](const kir::Function& function) {
    return kir::any_stmt(function.body,
                         [name](const kir::Stmt& stmt) { return kir::is_instruction(stmt, name); });
  });
}

/// Collects what the variables and values of a kernel are made of.
struct Collector {
  std::set<kernel::Base>& bases;
  void enter() {}
  void leave() {}
  void declare(const kernel::Variable& variable) { bases.insert(variable.type.base); }
  void expression(const kernel::Expr& expr) {
    kernel::for_each_expr(expr, [this](const kernel::Expr& part) {
      bases.insert(part.type.base);
      if (const auto* cast = std::get_if<kernel::Cast>(&part.node)) bases.insert(cast->target.base);
    });
  }
};

void add_bases(std::set<kernel::Base>& bases, const kernel::KernelBody& body) {
  for (const kernel::Variable& table : body.tables) bases.insert(table.type.base);
  Collector collector{bases};
  for (const kernel::FunctionDef& function : body.functions) {
    for (const kernel::Parameter& parameter : function.parameters)
      bases.insert(parameter.type.base);
    kernel::walk_scoped(function.body, collector);
  }
}

/// Whether @p body calls what C's <string.h> has: few languages of devices do.
bool moves_memory(const kernel::KernelBody& body) {
  constexpr std::array<std::string_view, 4> known{"memcpy", "memmove", "memset", "memcmp"};
  constexpr std::string_view builtin = "__builtin_";
  bool found = false;
  for (const kernel::FunctionDef& function : body.functions) {
    kernel::for_each_expr_in(function.body, [&](const kernel::Expr& expr) {
      const auto* call = std::get_if<kernel::Call>(&expr.node);
      if (call == nullptr) return;
      std::string_view name = call->function;
      if (name.starts_with(builtin)) name.remove_prefix(builtin.size());
      found |= std::ranges::find(known, name) != known.end();
    });
  }
  return found;
}

std::set<kernel::Base> bases_of(const kir::Module& module) {
  std::set<kernel::Base> bases;
  for (const kir::Parameter& array : module.argv) bases.insert(kernel::base_of(array.type.dtype));
  for (const kernel::KernelPtr& kernel : module.kernels) {
    if (kernel->body) add_bases(bases, *kernel->body);
  }
  return bases;
}

}  // namespace

std::vector<std::string> needs(const kir::Module& module) {
  const std::set<kernel::Base> bases = bases_of(module);
  std::vector<std::string> out;
  if (bases.contains(kernel::Base::float64) || bases.contains(kernel::Base::complex128)) {
    out.emplace_back("float64");
  }
  if (bases.contains(kernel::Base::complex64) || bases.contains(kernel::Base::complex128)) {
    out.emplace_back("complex");
  }
  for (const kir::Function& function : module.functions) {
    if (!has_wide_atomics(function.body)) continue;
    out.emplace_back("int64_atomics");
    break;
  }
  if (std::ranges::any_of(module.kernels, [](const kernel::KernelPtr& kernel) {
        return kernel->body && moves_memory(*kernel->body);
      })) {
    out.emplace_back("memory");
  }
  if (std::ranges::any_of(module.kernels, [](const kernel::KernelPtr& kernel) {
        return kernel->body && has_ranges_to_hide(*kernel->body);
      })) {
    out.emplace_back("ranges");
  }
  if (has(module, kir::Instruction::arrive)) out.emplace_back("last_block");
  if (has(module, kir::Instruction::fetch)) out.emplace_back("fetch");
  return out;
}

}  // namespace op2::cg
