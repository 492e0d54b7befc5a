// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/loop.hpp"
#include "kernel/body.hpp"
#include "kir/dump.hpp"
#include "kir/walk.hpp"
#include "lower/lower.hpp"

/// Small loops made by hand: an argument list, and a kernel whose body does what the accesses say.
namespace op2::lower::testing {

inline constexpr Strategy all_strategies[] = {Strategy::direct, Strategy::owner, Strategy::scratch,
                                              Strategy::atomic, Strategy::block, Strategy::colour};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// An argument and the name of the kernel's parameter for it.
struct NamedArg {
  std::string name;
  ir::Arg arg;
};

/// Numbered by make_loop(): a Dat of its own.
inline constexpr ir::Alias own_data{-1, -1};

inline NamedArg direct(std::string name, Access access, int dim = 1, ir::Alias alias = own_data,
                       DType dtype = DType::float64) {
  return {std::move(name), ir::DirectDat{dtype, dim, access, alias}};
}

inline NamedArg indirect(std::string name, Access access, int map, int dim = 1,
                         ir::Alias alias = own_data, DType dtype = DType::float64) {
  return {std::move(name), ir::IndirectDat{dtype, dim, access, map, alias}};
}

inline NamedArg global_read(std::string name, int dim = 1, DType dtype = DType::float64) {
  return {std::move(name), ir::GlobalRead{dtype, dim, own_data}};
}

inline NamedArg global_reduce(std::string name, Access access, int dim = 1,
                              DType dtype = DType::float64) {
  return {std::move(name), ir::GlobalReduce{dtype, dim, access, own_data}};
}

/// Facts of kernels know an occurrence by its line, so all nodes have one.
inline constexpr int some_line = 1;

inline kernel::Expr name_of_variable(const std::string& name) {
  return {kernel::Name{name}, {}, {}, some_line};
}

inline kernel::Expr literal(const std::string& spelling) {
  return {kernel::Literal{spelling}, {}, {}, some_line};
}

/// `name[subscript]`
inline kernel::Expr entry_of(const std::string& name, int subscript) {
  return {
      kernel::Index{}, {name_of_variable(name), literal(std::to_string(subscript))}, {}, some_line};
}

/// `if (value < target) target = value;`, or `>`.
inline kernel::Stmt keep_extremum(kernel::BinaryOp op, const kernel::Expr& target,
                                  const kernel::Expr& value) {
  kernel::Expr better{kernel::Binary{op}, {value, target}, {}, some_line};
  kernel::Expr assign{kernel::Assign{}, {target, value}, {}, some_line};
  return {kernel::If{std::move(better), {{kernel::Evaluate{std::move(assign)}, some_line}}, {}},
          some_line};
}

/// `target = value` or `target += value`, as @p access says, for one component.
inline kernel::Stmt update_statement(Access access, const kernel::Expr& target,
                                     const kernel::Expr& value) {
  if (access == Access::min) return keep_extremum(kernel::BinaryOp::less, target, value);
  if (access == Access::max) return keep_extremum(kernel::BinaryOp::greater, target, value);
  kernel::Assign assign;
  if (access != Access::write) assign.op = kernel::BinaryOp::add;
  return {kernel::Evaluate{kernel::Expr{assign, {target, value}, {}, some_line}}, some_line};
}

/// A pure kernel: for every argument that it may write, component c gets @p value of c.
template <class Value>
std::shared_ptr<kernel::Kernel> kernel_for(const std::string& name,
                                           const std::vector<NamedArg>& args,
                                           const std::vector<ir::MapRef>& maps,
                                           const Value& value) {
  auto kernel = std::make_shared<kernel::Kernel>();
  kernel::FunctionDef function;
  function.name = name;
  function.result = kernel::scalar(kernel::Base::none);
  const ir::Loop shape = ir::loop_of(nullptr, {}, maps, {});
  for (const NamedArg& named : args) {
    kernel::Type scalar = kernel::scalar(kernel::base_of(ir::dtype_of(named.arg)));
    const Access access = ir::access_of(named.arg);
    scalar.is_const = !writes(access);
    function.parameters.push_back({named.name, kernel::pointer_to(scalar), some_line});
    if (!writes(access)) continue;
    for (int c = 0; c < ir::extent_of(shape, named.arg); ++c) {
      function.body.push_back(update_statement(access, entry_of(named.name, c), value(c)));
    }
  }
  kernel->name = name;
  kernel->parameters = function.parameters;
  kernel->body = kernel::KernelBody{{}, {std::move(function)}};
  kernel->key = name;
  return kernel;
}

/// Give every argument without a Dat one of its own.
inline std::vector<ir::Arg> numbered(const std::vector<NamedArg>& named) {
  int next = 0;
  for (const NamedArg& item : named) {
    next = std::max({next, ir::alias_of(item.arg).data + 1, ir::alias_of(item.arg).memory + 1});
  }
  std::vector<ir::Arg> args;
  for (const NamedArg& item : named) {
    args.push_back(item.arg);
    std::visit(
        [&next](auto& arg) {
          if (arg.alias == own_data) {
            arg.alias = {next, next};
            ++next;
          }
        },
        args.back());
  }
  return args;
}

/// A loop whose kernel adds (or assigns, or compares with) @p value of each component.
template <class Value>
ir::Loop make_loop_of(const std::string& name, const std::vector<NamedArg>& args,
                      const std::vector<ir::MapRef>& maps, const Value& value) {
  return ir::loop_of(kernel_for(name, args, maps, value), numbered(args), maps, {});
}

/// A loop whose kernel adds 1 to whatever it may write.
inline ir::Loop make_loop(const std::vector<NamedArg>& args,
                          const std::vector<ir::MapRef>& maps = {}) {
  return make_loop_of("res", args, maps, [](int) { return literal("1.0"); });
}

/// The same loop with a kernel of which nothing is known.
inline ir::Loop with_opaque_kernel(ir::Loop loop) {
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  kernel->body.reset();
  kernel->text = "void res() {}";
  kernel->opaque_reason = "cpp=True";
  loop.members[0].kernel = std::move(kernel);
  return loop;
}

/// The same loop with a kernel that mentions these Consts.
inline ir::Loop with_consts(ir::Loop loop, std::vector<ir::ConstRef> constants) {
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  for (const ir::ConstRef& constant : constants) {
    kernel->body->functions.back().body.push_back(
        {kernel::Evaluate{name_of_variable(constant.name)}, some_line});
  }
  loop.members[0].kernel = std::move(kernel);
  loop.constants = std::move(constants);
  return loop;
}

/// Two nodes of an edge: the map of most of these loops.
inline std::vector<ir::MapRef> edges_to_nodes() {
  return {{2, 0}};
}

/// `y[e2n] += x[e2n]`, the loop that most tests lower: READ and INC through one Map.
inline ir::Loop edge_loop() {
  return make_loop({indirect("x", Access::read, 0), indirect("y", Access::inc, 0)},
                   edges_to_nodes());
}

/// What machines have whose functions are called, not launched.
constexpr Facts host(Lanes lanes, bool atomics) {
  return {.lanes = lanes,
          .atomics = atomics,
          .any_kernel = true,
          .rows_in_place = true,
          .const_optional = true};
}

inline constexpr Facts one_lane = host(Lanes::one, false);
inline constexpr Facts threads = host(Lanes::threads, true);
inline constexpr Facts grid{Lanes::grid, true};

/// Nothing is known of any Map.
inline std::vector<MapFacts> no_facts(const ir::Loop& loop) {
  return std::vector<MapFacts>(loop.maps.size());
}

/// The module after @p stage, or after the last one before it that this loop goes through.
inline kir::Module lowered(const ir::Loop& loop, Strategy strategy, const Facts& facts = threads,
                           Stage stage = Stage::narrow, const Options& options = {}) {
  const std::vector<MapFacts> maps = no_facts(loop);
  kir::Module wanted;
  (void)lower({loop, strategy, facts, maps, options},
              [&wanted, stage](Stage seen, const kir::Module& module) {
                if (seen <= stage) wanted = module;
              });
  return wanted;
}

/// The module without the Barrier of that number, counted from 0 over all functions.
inline kir::Module without_barrier(kir::Module module, int number) {
  int seen = 0;
  for (kir::Function& function : module.functions) {
    function.body = kir::map_stmts(std::move(function.body), [&](kir::Stmt stmt) -> kir::Block {
      const bool is_it = std::holds_alternative<kir::Barrier>(stmt.node) && seen++ == number;
      return is_it ? kir::Block{} : kir::Block{std::move(stmt)};
    });
  }
  return module;
}

/// What the strategy made, on lanes if they were asked for, as text: gathers and scatters are still
/// one line each.
inline std::string strategy_dump(const ir::Loop& loop, Strategy strategy,
                                 const Facts& facts = threads, const Options& options = {}) {
  return kir::dump(lowered(loop, strategy, facts, Stage::lanes, options));
}

inline std::vector<std::string> names_of(const std::vector<kir::Parameter>& parameters) {
  std::vector<std::string> names;
  for (const kir::Parameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

using kir::for_each_stmt;

/// How many statements of kind Node a block holds.
template <class Node>
int count(const kir::Block& block) {
  int found = 0;
  for_each_stmt(block, [&found](const kir::Stmt& stmt) {
    found += std::holds_alternative<Node>(stmt.node) ? 1 : 0;
  });
  return found;
}

}  // namespace op2::lower::testing
