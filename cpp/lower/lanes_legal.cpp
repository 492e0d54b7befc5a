// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_legal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "ir/group.hpp"
#include "kernel/facts.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"
#include "lower/constants.hpp"
#include "lower/lanes_kernel.hpp"
#include "lower/lanes_varying.hpp"

namespace op2::lower {
namespace {

std::vector<bool> varying_parameters(const ir::Loop& loop) {
  std::vector<bool> varies;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    if (i > 0 && ir::parameter_of(loop, i) == ir::parameter_of(loop, i - 1)) continue;
    varies.push_back(!std::holds_alternative<ir::GlobalRead>(loop.args[i]));
  }
  if (loop.iteration.pass_layer) varies.push_back(true);
  varies.resize(varies.size() + loop.constants.size(), false);
  return varies;
}

/// Several elements a lane pay where lanes are the threads of a CPU.
void check_grid(const Request& request) {
  if (!request.facts.vectors_in_lane) refuse("the backend spreads elements over lanes itself");
  if (!request.options.widths.soa.empty()) {
    refuse("its Dats lie as structures of arrays; layout='aos' takes lanes");
  }
}

/// All lanes load before the first one stores: what an element reads may not be another's result.
/// Elements of one colour do not meet, and what is only written is stored in the elements' order.
void check_overwrites(const ir::Loop& loop, Strategy strategy, const Races& races) {
  if (strategy == Strategy::colour) return;
  for (const std::size_t arg : races.overwrites) {
    if (ir::access_of(loop.args[arg]) == Access::rw) {
      refuse(fmt::format(
          "arg {} is RW through a Map whose targets elements share; pass INC if the kernel adds",
          arg));
    }
  }
}

/// The loop with memory of their own for arguments that are loaded before the item overwrites them:
/// all lanes load before the first one stores.
ir::Loop with_memory_apart(ir::Loop loop) {
  int n_memories = 0;
  for (const ir::Operand& arg : loop.args) {
    n_memories = std::max(n_memories, ir::alias_of(arg).memory + 1);
  }
  for (ir::Operand& arg : loop.args) {
    if (arg.is_before) ir::alias_in(arg).memory = n_memories++;
  }
  return loop;
}

void check_member(const ir::Loop& member, const Request& request) {
  const ir::Loop loop = with_memory_apart(member);
  const Races races = find_races(loop, request.maps);
  if (races.overlaps) {
    refuse("written memory overlaps other arguments; give each Dat an array of its own");
  }
  if (races.reads_written) {
    refuse(
        "memory that is incremented is also read through a Map; read a copy made before the loop, "
        "by Dat.copy");
  }
  check_overwrites(loop, request.strategy, races);
  if (request.strategy == Strategy::owner && !request.options.by_slot && half_sum(loop, races)) {
    refuse("shares go to memory one by one, and a sum in 16 bits of memory is rounded once");
  }
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Access access = ir::access_of(loop.args[i]);
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = ir::alias_of(loop.args[i]).memory == ir::alias_of(loop.args[j]).memory;
      const Access other = ir::access_of(loop.args[j]);
      if (!same || (!writes(access) && !writes(other))) continue;
      const bool both_add = std::holds_alternative<ir::IndirectDat>(loop.args[i]) &&
                            std::holds_alternative<ir::IndirectDat>(loop.args[j]) &&
                            access == Access::inc && other == Access::inc;
      if (!both_add) {
        refuse(fmt::format("args {} and {} share written memory; give each Dat an array of its own",
                           j, i));
      }
    }
    const bool is_extremum = access == Access::min || access == Access::max;
    if (is_extremum && std::holds_alternative<ir::IndirectDat>(loop.args[i]) &&
        !kernel::kernel_facts(ir::kernel_of(loop))
             .parameters[static_cast<std::size_t>(ir::parameter_of(loop, i))]
             .commutes(access)) {
      refuse(
          fmt::format("arg {} is MIN or MAX, and the kernel uses its value; compare it by fmin, "
                      "fmax or 'if (x < y[0]) y[0] = x', once",
                      i));
    }
  }
}

/// A number that C computes with as a long double, of which there are no vectors; null: none. A
/// declaration converts the number that it consists of.
const std::string* long_double_in(const kernel::KernelBody& body) {
  std::set<const kernel::Expr*> converted;
  const std::string* found = nullptr;
  for (const kernel::FunctionDef& function : body.functions) {
    kernel::for_each_body(function.body, [&converted](const kernel::Body& statements) {
      for (const kernel::Stmt& stmt : statements) {
        const auto* node = std::get_if<kernel::Declare>(&stmt.node);
        if (node == nullptr) continue;
        for (const kernel::Variable& variable : node->variables) {
          if (variable.value) converted.insert(&*variable.value);
        }
      }
    });
    kernel::for_each_expr_in(function.body, [&converted, &found](const kernel::Expr& expr) {
      if (std::holds_alternative<kernel::InitList>(expr.node)) {
        for (const kernel::Expr& item : expr.operands) converted.insert(&item);
      }
      const auto* number = std::get_if<kernel::Literal>(&expr.node);
      if (number == nullptr || converted.contains(&expr)) return;
      if (kernel::is_long_double(number->spelling)) found = &number->spelling;
    });
  }
  return found;
}

constexpr int most_branches = 200;

/// How many operands in each other are not always computed.
int conditions_in(const kernel::Expr& expr) {
  int deepest = 0;
  for (const kernel::Expr& operand : expr.operands) {
    deepest = std::max(deepest, conditions_in(operand));
  }
  const auto* node = std::get_if<kernel::Binary>(&expr.node);
  const bool is_logical = node != nullptr && (node->op == kernel::BinaryOp::logical_and ||
                                              node->op == kernel::BinaryOp::logical_or);
  return deepest + (is_logical || std::holds_alternative<kernel::Ternary>(expr.node) ? 1 : 0);
}

/// How deep branches lie in each other: `else if` lies in the `else` before it.
struct Nesting {
  void enter() { deepest = std::max(deepest, ++depth); }
  void leave() { --depth; }
  void declare(const kernel::Variable& /*variable*/) {}
  void expression(const kernel::Expr& expr) {
    deepest = std::max(deepest, depth + conditions_in(expr));
  }

  int depth = 0;
  int deepest = 0;
};

/// Each branch has a mask that is made of those around it, so the work grows with the square of
/// their number.
void check_nesting(const kernel::KernelBody& body) {
  for (const kernel::FunctionDef& function : body.functions) {
    Nesting nesting;
    kernel::walk_scoped(function.body, nesting);
    if (nesting.deepest > most_branches) {
      refuse(fmt::format(
          "'{}' has more than {} blocks or conditions in each other; divide it into functions",
          function.name, most_branches));
    }
  }
}

kernel::KernelPtr kernel_for_lanes(const ir::Loop& loop, const Options& options) {
  if (!ir::kernel_of(loop).body) {
    refuse(fmt::format("the kernel is opaque ({}); write it without that",
                       ir::kernel_of(loop).opaque_reason));
  }
  if (loop.iteration.pass_element) {
    refuse("the kernel gets the number of its element; pass a Dat of the numbers");
  }
  if (const std::string* number = long_double_in(*ir::kernel_of(loop).body); number != nullptr) {
    refuse(fmt::format("it computes with {}, a long double; double has lanes", *number));
  }
  check_nesting(*ir::kernel_of(loop).body);
  auto kernel = std::make_shared<kernel::Kernel>(with_constants(loop));
  const auto varying = varying_parameters(loop);
  KernelOnLanes made = kernel_on_lanes(*kernel->body, varying, options.lanes, options.tuning);
  if (!made.body) refuse(made.why);
  kernel->body = std::move(made.body);
  // members of a Group may call one kernel with a Dat here and a Global there
  std::string which;
  for (const bool varies : varying) which += varies ? 'v' : 'u';
  kernel->key += fmt::format(":lanes{}{}", options.lanes, which);
  return kernel;
}

/// Call @p check for each member as a loop of its own; with several, refusals say of which they
/// are.
template <class Check>
void for_members(const ir::Group& group, const Check& check) {
  if (group.members.size() == 1) return check(group);
  for (std::size_t member = 0; member < group.members.size(); ++member) {
    try {
      check(ir::alone(group, member));
    } catch (Refusal& refusal) {
      refusal.why = fmt::format("kernel '{}': {}", group.members[member].kernel->name, refusal.why);
      throw;
    }
  }
}

}  // namespace

void check_side_by_side(const Request& request) {
  if (request.facts.lanes == Lanes::grid) check_grid(request);
  for_members(request.loop, [&request](const ir::Loop& loop) { check_member(loop, request); });
}

std::vector<kernel::KernelPtr> kernels_for_lanes(const Request& request) {
  std::vector<kernel::KernelPtr> kernels;
  for_members(request.loop, [&](const ir::Loop& loop) {
    kernels.push_back(kernel_for_lanes(loop, request.options));
  });
  return kernels;
}

}  // namespace op2::lower
