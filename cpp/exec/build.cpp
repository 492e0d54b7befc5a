// SPDX-License-Identifier: BSD-3-Clause
#include "exec/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "ir/group.hpp"

namespace op2::exec {
namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw InternalError(fmt::format("the launch of a grid cannot hold {}", what));
}

Operator translated(kir::BinaryOp op) {
  switch (op) {
    case kir::BinaryOp::add:
      return Operator::add;
    case kir::BinaryOp::subtract:
      return Operator::subtract;
    case kir::BinaryOp::multiply:
      return Operator::multiply;
    case kir::BinaryOp::divide:
      return Operator::divide;
    case kir::BinaryOp::modulo:
      return Operator::modulo;
    case kir::BinaryOp::less:
      return Operator::less;
    case kir::BinaryOp::equal:
      return Operator::equal;
  }
  throw InternalError("translated: not a BinaryOp");
}

GridKind translated(kir::Grid grid) {
  switch (grid) {
    case kir::Grid::items:
      return GridKind::items;
    case kir::Grid::blocks:
      return GridKind::blocks;
    case kir::Grid::single:
      return GridKind::single;
    case kir::Grid::teams:
      return GridKind::teams;
  }
  throw InternalError("translated: not a Grid");
}

/// Writes a module's launch down as a LaunchProgram.
class Translator {
 public:
  explicit Translator(const kir::Module& module) {
    for (const kir::Function& function : module.functions) {
      if (!function.is_kernel) continue;
      kernels_.emplace(function.name, Kernel{static_cast<int>(kernels_.size()), &function});
      program_.kernels.push_back({function.name, function.max_lanes});
    }
    for (std::size_t i = 0; i < module.argv.size(); ++i) {
      arguments_.emplace(module.argv[i].name, Argument{static_cast<int>(i), &module.argv[i]});
    }
    program_.steps = steps(module.launch);
  }

  LaunchProgram take() { return std::move(program_); }

 private:
  struct Kernel {
    int number;
    const kir::Function* function;
  };
  struct Argument {
    int number;
    const kir::Parameter* parameter;
  };

  Steps steps(const kir::Block& block) {
    Steps made;
    for (const kir::Stmt& statement : block) {
      made.push_back(
          {std::visit([this](const auto& node) { return step(node).node; }, statement.node)});
    }
    return made;
  }

  Step step(const kir::Decl& decl) {
    if (decl.extent != 0 || decl.type.is_pointer) refuse("an array");
    Value value = decl.value ? this->value(*decl.value) : Value{Number{0}};
    variables_.insert(decl.name);
    return {Set{decl.name, std::move(value)}};
  }

  Step step(const kir::Assign& assign) {
    const auto* target = std::get_if<kir::Name>(&assign.target.node);
    if (target == nullptr || !variables_.contains(target->name)) refuse("a store");
    Value value = this->value(assign.value);
    if (assign.update == kir::Update::add) {
      value = {Operation{Operator::add, {{Variable{target->name}}, std::move(value)}}};
    } else if (assign.update != kir::Update::set) {
      refuse("a minimum that is kept");
    }
    return {Set{target->name, std::move(value)}};
  }

  Step step(const kir::For& loop) {
    if (loop.axis != kir::Axis::serial || loop.step != 1 || !loop.step_name.empty()) {
      refuse("a loop over lanes");
    }
    Repeat made{loop.index, value(loop.begin), value(loop.end), {}};
    variables_.insert(loop.index);
    made.body = steps(loop.body);
    return {std::move(made)};
  }

  Step step(const kir::If& choice) { return {When{value(choice.condition), steps(choice.then)}}; }

  Step step(const kir::Scratch& scratch) {
    const auto number = static_cast<int>(scratch_.size());
    if (!scratch_.emplace(scratch.name, number).second) refuse("scratch of one name twice");
    return {Allocate{number, static_cast<int>(size_of(scratch.dtype)), value(scratch.extent),
                     scratch.is_zero}};
  }

  Step step(const kir::Launch& launch) {
    const auto found = kernels_.find(launch.function);
    if (found == kernels_.end()) refuse("a launch of '" + launch.function + "', no kernel");
    const auto& parameters = found->second.function->parameters;
    if (parameters.size() != launch.arguments.size()) {
      throw InternalError(fmt::format("kernel '{}' takes {} arguments but is launched with {}",
                                      launch.function, parameters.size(), launch.arguments.size()));
    }
    LaunchStep made{found->second.number, translated(launch.grid), value(launch.items), {}};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].type.is_pointer) {
        made.arguments.emplace_back(slot(launch.arguments[i]));
      } else {
        made.arguments.emplace_back(value(launch.arguments[i]));
      }
    }
    return {std::move(made)};
  }

  template <class Node>
  Step step(const Node& /*node*/) {
    refuse("a statement of a kernel");
  }

  [[nodiscard]] MemorySlot slot(const kir::Expr& expr) const {
    const auto* name = std::get_if<kir::Name>(&expr.node);
    if (name == nullptr) refuse("a pointer that is computed");
    if (const auto found = scratch_.find(name->name); found != scratch_.end()) {
      return {true, found->second};
    }
    return {false, argument(name->name).number};
  }

  [[nodiscard]] const Argument& argument(const std::string& name) const {
    const auto found = arguments_.find(name);
    if (found == arguments_.end()) refuse("the unknown name '" + name + "'");
    return found->second;
  }

  [[nodiscard]] Value value(const kir::Expr& expr) const {
    return std::visit(
        overload{
            [](const kir::Integer& integer) { return Value{Number{integer.value}}; },
            [this](const kir::Name& name) { return named(name.name); },
            [this](const kir::Element& element) { return entry(element); },
            [this](const kir::Binary& binary) {
              return Value{Operation{translated(binary.op), values(binary.operands)}};
            },
            [this](const kir::Widen& widen) { return value(widen.operands[0]); },
            [this](const kir::Minimum& minimum) {
              return Value{Operation{Operator::least, values(minimum.operands)}};
            },
            [this](const kir::Select& select) { return Value{Choice{values(select.operands)}}; },
            [this](const kir::BlocksFor& blocks) { return Value{BlocksOf{values(blocks.items)}}; },
            [](const kir::Stride& stride) { return Value{StrideOf{stride.argument}}; },
            [](const auto&) -> Value { refuse("what only a lane can compute"); }},
        expr.node);
  }

  [[nodiscard]] std::vector<Value> values(const std::vector<kir::Expr>& operands) const {
    std::vector<Value> made;
    for (const kir::Expr& operand : operands) made.push_back(value(operand));
    return made;
  }

  [[nodiscard]] Value named(const std::string& name) const {
    if (variables_.contains(name)) return {Variable{name}};
    const Argument& known = argument(name);  // a pointer as a condition
    if (known.parameter->role != kir::Role::plan) return {Number{1}};
    return {IsThere{known.number}};
  }

  [[nodiscard]] Value entry(const kir::Element& element) const {
    const Argument& array = argument(element.array);
    if (array.parameter->role != kir::Role::plan) refuse("the values of '" + element.array + "'");
    return {Entry{array.number, static_cast<int>(size_of(array.parameter->type.dtype)),
                  values(element.subscript)}};
  }

  LaunchProgram program_;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, Argument> arguments_;
  std::map<std::string, int> scratch_;
  std::set<std::string> variables_ = {"begin", "end"};
};

/// Whether the kernel writes all of the argument, on every path, and where it lies nothing else is.
bool is_overwritten(const ir::Loop& loop, std::size_t i) {
  const auto shares = [&](const ir::Arg& other) {
    return ir::alias_of(other).memory == ir::alias_of(loop.args[i]).memory;
  };
  return ir::defines(loop, i) && std::ranges::count_if(loop.args, shares) == 1;
}

std::shared_ptr<Executable> executable(const kir::Module& module, const ir::Loop& loop,
                                       const std::string& strategy) {
  auto made = std::make_shared<Executable>();
  made->arguments = module.argv;
  made->data = data_uses(loop);
  made->plan = module.plan;
  made->scratch = module.scratch;
  made->items = module.items;
  made->name = module.name;
  made->strategy = strategy;
  return made;
}

}  // namespace

LaunchProgram launch_program(const kir::Module& module) {
  return Translator(module).take();
}

std::vector<DataUse> data_uses(const ir::Loop& loop) {
  std::vector<DataUse> uses;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const ir::Arg& arg = loop.args[i];
    const auto parameter = static_cast<std::size_t>(ir::parameter_of(loop, i));
    const auto& parameters = ir::kernel_of(loop, i).parameters;
    const DType storage = ir::dtype_of(arg);
    const kernel::Base base =
        parameter < parameters.size() ? parameters[parameter].type.base : kernel::Base::unknown;
    const DType seen = kernel::dtype_of(base).value_or(storage);
    uses.push_back({ir::access_of(arg), storage, seen, is_overwritten(loop, i)});
  }
  return uses;
}

std::shared_ptr<Executable> host_executable(const kir::Module& module, const ir::Loop& loop,
                                            const std::string& strategy, bool is_parallel) {
  auto made = executable(module, loop, strategy);
  made->is_parallel = is_parallel && kir::opens_team(module);
  return made;
}

std::shared_ptr<Executable> device_executable(const kir::Module& module, const ir::Loop& loop,
                                              const std::string& strategy) {
  auto made = executable(module, loop, strategy);
  made->device = std::make_shared<const DeviceCode>(DeviceCode{nullptr, launch_program(module)});
  return made;
}

}  // namespace op2::exec
