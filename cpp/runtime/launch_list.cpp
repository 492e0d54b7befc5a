// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/launch_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"

namespace op2::runtime {
namespace {

// Lanes of a block where nobody says otherwise; measured in docs/performance.md.
constexpr int gpu_lanes = 128;
constexpr int gpu_lanes_streaming = 256;
constexpr int cpu_lanes = 64;

// A processor's compiler makes every kernel anew for each number of lanes: powers of this are
// enough.
constexpr int cpu_lanes_factor = 8;

// Blocks a multiprocessor: enough to keep it busy, few enough to add their partial results up
// quickly; measured in docs/performance.md. A core takes one block after the other.
constexpr std::int64_t gpu_blocks_per_unit = 6;
constexpr std::int64_t gpu_blocks_per_unit_light = 8;
constexpr std::int64_t cpu_blocks_per_unit = 16;

// Lanes that move less than this each have too few bytes under way between them; a `dot` of float64
// moves 16.
constexpr std::int64_t light_item_bytes = 48;

// Without partial results, only the launch itself bounds them.
constexpr std::int64_t blocks_max = std::int64_t{1} << 20;

std::int64_t blocks_for(const GridRule& rule, std::int64_t n_items) {
  return std::clamp<std::int64_t>((n_items + rule.n_lanes - 1) / rule.n_lanes, 1, rule.max_blocks);
}

class Evaluator {
 public:
  Evaluator(const exec::DeviceCode& code, const std::vector<kir::Parameter>& arguments,
            const std::vector<PlanArray>& plan, std::int64_t n_items, const GridRule& rule,
            const std::vector<std::int64_t>& strides)
      : plan_(plan), rule_(rule), strides_(strides), values_{{"begin", 0}, {"end", n_items}} {
    for (const kir::Function& kernel : code.kernels) kernels_.emplace(kernel.name, &kernel);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      arguments_.emplace(arguments[i].name, std::pair(static_cast<int>(i), &arguments[i]));
    }
  }

  void run(const kir::Block& block) {
    for (const kir::Stmt& statement : block) run(statement);
  }

  LaunchList take() { return std::move(list_); }

 private:
  [[noreturn]] static void refuse(const std::string& what) {
    throw InternalError("the launch of a grid cannot hold " + what);
  }

  void run(const kir::Stmt& statement) {
    std::visit(overload{[this](const kir::Decl& decl) {
                          values_[decl.name] = decl.value.empty() ? 0 : value(decl.value[0]);
                        },
                        [this](const kir::Assign& assign) { run(assign); },
                        [this](const kir::For& loop) { run(loop); },
                        [this](const kir::If& choice) {
                          if (value(choice.condition) != 0) run(choice.then);
                        },
                        [this](const kir::Launch& launch) { run(launch); },
                        [this](const kir::Scratch& scratch) { run(scratch); },
                        [](const kir::Atomic&) { refuse("an atomic update"); },
                        [](const kir::CallUser&) { refuse("a call of the kernel"); },
                        [](const kir::Call&) { refuse("a call"); },
                        [](const kir::Region&) { refuse("a team of threads"); },
                        [](const kir::Barrier&) { refuse("a barrier"); },
                        [](const kir::Arrive&) { refuse("an arrival"); },
                        [](const kir::Gather&) { refuse("a gather"); },
                        [](const kir::Scatter&) { refuse("a scatter"); },
                        [](const kir::MatInsert&) { refuse("an insert"); },
                        [](const kir::LaneGather&) { refuse("a gather into lanes"); },
                        [](const kir::LaneTurn&) { refuse("a transposition of lanes"); },
                        [](const kir::LaneStore&) { refuse("a store of a lane"); },
                        [](const kir::LaneAdd&) { refuse("a sum of lanes"); },
                        [](const kir::LaneShare&) { refuse("a share of lanes"); },
                        [](const kir::LaneFold&) { refuse("a sum over lanes"); }},
               statement.node);
  }

  void run(const kir::Assign& assign) {
    const auto* target = std::get_if<kir::Name>(&assign.target.node);
    if (target == nullptr) refuse("a store");
    std::int64_t& held = values_[target->name];
    const std::int64_t now = value(assign.value);
    switch (assign.update) {
      case kir::Update::set:
        held = now;
        return;
      case kir::Update::add:
        held += now;
        return;
      case kir::Update::min:
        held = std::min(held, now);
        return;
      case kir::Update::max:
        held = std::max(held, now);
        return;
    }
  }

  void run(const kir::For& loop) {
    if (loop.axis != kir::Axis::serial) refuse("a loop over lanes");
    const std::int64_t end = value(loop.end);
    for (std::int64_t i = value(loop.begin); i < end; ++i) {
      values_[loop.index] = i;
      run(loop.body);
    }
  }

  void run(const kir::Scratch& scratch) {
    const std::int64_t n_bytes = std::max<std::int64_t>(value(scratch.extent), 0) *
                                 static_cast<std::int64_t>(size_of(scratch.dtype));
    scratch_[scratch.name] = static_cast<int>(list_.scratch.size());
    list_.scratch.push_back({n_bytes, scratch.is_zero});
  }

  void run(const kir::Launch& launch) {
    const auto found = kernels_.find(launch.function);
    if (found == kernels_.end()) {
      throw InternalError(fmt::format("a launch of '{}', which is no kernel", launch.function));
    }
    const kir::Function& kernel = *found->second;
    const std::int64_t n_items = value(launch.items);
    if (n_items <= 0) return;
    if (kernel.parameters.size() != launch.arguments.size()) {
      throw InternalError(fmt::format("kernel '{}' takes {} arguments but is launched with {}",
                                      kernel.name, kernel.parameters.size(),
                                      launch.arguments.size()));
    }
    FlatLaunch flat{kernel.name, grid(launch.grid, n_items, kernel), {}};
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const kir::Expr& argument = launch.arguments[i];
      if (kernel.parameters[i].type.is_pointer) {
        flat.arguments.emplace_back(slot(argument));
      } else {
        flat.arguments.emplace_back(value(argument));
      }
    }
    list_.launches.push_back(std::move(flat));
  }

  [[nodiscard]] Grid grid(kir::Grid kind, std::int64_t n_items, const kir::Function& kernel) const {
    const int n_lanes =
        kernel.max_lanes > 0 ? std::min(rule_.n_lanes, kernel.max_lanes) : rule_.n_lanes;
    switch (kind) {
      case kir::Grid::items:
        return {blocks_for(rule_, n_items), n_lanes};
      case kir::Grid::blocks:
        return {n_items, n_lanes};
      case kir::Grid::single:
        return {1, n_lanes};
    }
    throw InternalError("grid: not a Grid");
  }

  [[nodiscard]] LaunchSlot slot(const kir::Expr& expr) const {
    const auto* name = std::get_if<kir::Name>(&expr.node);
    if (name == nullptr) refuse("a pointer that is computed");
    if (const auto found = scratch_.find(name->name); found != scratch_.end()) {
      return {true, found->second};
    }
    const auto found = arguments_.find(name->name);
    if (found == arguments_.end()) {
      throw InternalError(fmt::format("a launch uses the unknown pointer '{}'", name->name));
    }
    return {false, found->second.first};
  }

  [[nodiscard]] std::int64_t value(const kir::Expr& expr) const {
    return std::visit(
        overload{[](const kir::Integer& integer) { return integer.value; },
                 [this](const kir::Name& name) { return named(name.name); },
                 [this](const kir::Element& element) {
                   return entry(element.array, value(element.subscript[0]));
                 },
                 [this](const kir::Binary& binary) {
                   return apply(binary.op, value(binary.operands[0]), value(binary.operands[1]));
                 },
                 [this](const kir::Widen& widen) { return value(widen.operands[0]); },
                 [this](const kir::Minimum& minimum) {
                   return std::min(value(minimum.operands[0]), value(minimum.operands[1]));
                 },
                 [this](const kir::Select& select) {
                   return value(select.operands[value(select.operands[0]) != 0 ? 1 : 2]);
                 },
                 [this](const kir::BlocksFor& blocks) {
                   return blocks_for(rule_, value(blocks.items[0]));
                 },
                 [this](const kir::Stride& stride) {
                   return strides_.at(static_cast<std::size_t>(stride.argument));
                 },
                 [](const kir::Offset&) -> std::int64_t { refuse("an address"); },
                 [](const kir::ScratchAt&) -> std::int64_t { refuse("scratch of the host"); },
                 [](const kir::Shuffle&) -> std::int64_t { refuse("a shuffle"); },
                 [](const kir::LaneOf&) -> std::int64_t { refuse("a lane of a vector"); },
                 [](const kir::Builtin&) -> std::int64_t { refuse("the place of a lane"); }},
        expr.node);
  }

  static std::int64_t apply(kir::BinaryOp op, std::int64_t left, std::int64_t right) {
    switch (op) {
      case kir::BinaryOp::add:
        return left + right;
      case kir::BinaryOp::subtract:
        return left - right;
      case kir::BinaryOp::multiply:
        return left * right;
      case kir::BinaryOp::divide:
        return left / right;
      case kir::BinaryOp::modulo:
        return left % right;
      case kir::BinaryOp::less:
        return left < right ? 1 : 0;
      case kir::BinaryOp::equal:
        return left == right ? 1 : 0;
    }
    throw InternalError("apply: not a BinaryOp");
  }

  /// A value; of a pointer, whether it is there.
  [[nodiscard]] std::int64_t named(const std::string& name) const {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    if (arguments_.contains(name)) {
      const kir::Parameter& argument = *arguments_.at(name).second;
      if (argument.role != kir::Role::plan) return 1;
      return array(argument).data != nullptr ? 1 : 0;
    }
    throw InternalError(fmt::format("a launch uses the unknown value '{}'", name));
  }

  [[nodiscard]] const PlanArray& array(const kir::Parameter& argument) const {
    return plan_.at(static_cast<std::size_t>(argument.index));
  }

  [[nodiscard]] std::int64_t entry(const std::string& name, std::int64_t i) const {
    const auto found = arguments_.find(name);
    if (found == arguments_.end() || found->second.second->role != kir::Role::plan) {
      refuse("the values of '" + name + "'");
    }
    const kir::Parameter& argument = *found->second.second;
    const PlanArray& from = array(argument);
    const auto width = static_cast<std::int64_t>(size_of(argument.type.dtype));
    if (i < 0 || (i + 1) * width > from.n_bytes) {
      throw InternalError(
          fmt::format("a launch reads '{}'[{}] of {} bytes", name, i, from.n_bytes));
    }
    if (width == 4) return static_cast<const std::int32_t*>(from.data)[i];
    return static_cast<const std::int64_t*>(from.data)[i];
  }

  const std::vector<PlanArray>& plan_;
  GridRule rule_;
  const std::vector<std::int64_t>& strides_;
  std::map<std::string, const kir::Function*> kernels_;
  std::map<std::string, std::pair<int, const kir::Parameter*>> arguments_;
  std::map<std::string, std::int64_t> values_;
  std::map<std::string, int> scratch_;
  LaunchList list_;
};

/// Whether any expression of @p expr asks for blocks.
bool asks(const kir::Expr& expr) {
  if (std::holds_alternative<kir::BlocksFor>(expr.node)) return true;
  const auto any = [](const std::vector<kir::Expr>& operands) {
    return std::ranges::any_of(operands, asks);
  };
  return std::visit(
      overload{[](const kir::Integer&) { return false; }, [](const kir::Name&) { return false; },
               [](const kir::Builtin&) { return false; },
               [any](const kir::Element& e) { return any(e.subscript); },
               [any](const kir::Offset& e) { return any(e.subscript); },
               [any](const kir::Binary& e) { return any(e.operands); },
               [any](const kir::Widen& e) { return any(e.operands); },
               [any](const kir::Minimum& e) { return any(e.operands); },
               [any](const kir::Select& e) { return any(e.operands); },
               [any](const kir::ScratchAt& e) { return any(e.bytes); },
               [any](const kir::Shuffle& e) { return any(e.operands); },
               [](const kir::Stride&) { return false; },
               [any](const kir::LaneOf& e) { return any(e.operands); },
               [](const kir::BlocksFor&) { return true; }},
      expr.node);
}

}  // namespace

GridRule grid_rule(const DeviceInfo& device, const LoopTraits& loop) {
  const bool is_light = loop.is_direct && loop.item_bytes > 0 && loop.item_bytes < light_item_bytes;
  const bool is_streaming = is_light || (loop.is_direct && !loop.has_partials);
  std::int64_t n_lanes = loop.n_lanes_wanted > 0 ? loop.n_lanes_wanted
                         : device.is_cpu         ? cpu_lanes
                         : is_streaming          ? gpu_lanes_streaming
                                                 : gpu_lanes;
  n_lanes = std::clamp<std::int64_t>(n_lanes, 1, std::max(device.max_lanes, 1));
  n_lanes = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n_lanes)));
  if (device.is_cpu) {
    std::int64_t power = 1;
    while (power * cpu_lanes_factor <= n_lanes) power *= cpu_lanes_factor;
    n_lanes = power;
  }
  // Lanes that exchange registers must all be there.
  n_lanes = std::max<std::int64_t>(n_lanes, device.warp);
  const std::int64_t per_unit = device.is_cpu ? cpu_blocks_per_unit
                                : is_light    ? gpu_blocks_per_unit_light
                                              : gpu_blocks_per_unit;
  const std::int64_t n_units = std::max(device.n_units, 1);
  const bool is_bounded = loop.has_partials || device.is_cpu;
  return {static_cast<int>(n_lanes), is_bounded ? n_units * per_unit : blocks_max};
}

bool asks_for_blocks(const kir::Block& launch) {
  return std::ranges::any_of(launch, [](const kir::Stmt& statement) {
    return std::visit(
        overload{[](const kir::Decl& decl) { return std::ranges::any_of(decl.value, asks); },
                 [](const kir::Assign& assign) { return asks(assign.value); },
                 [](const kir::For& loop) {
                   return asks(loop.begin) || asks(loop.end) || asks_for_blocks(loop.body);
                 },
                 [](const kir::If& choice) {
                   return asks(choice.condition) || asks_for_blocks(choice.then);
                 },
                 [](const kir::Launch& launched) {
                   return asks(launched.items) || std::ranges::any_of(launched.arguments, asks);
                 },
                 [](const kir::Scratch& scratch) { return asks(scratch.extent); },
                 [](const kir::Atomic&) { return false; },
                 [](const kir::CallUser&) { return false; },
                 [](const kir::Call&) { return false; },
                 [](const kir::Region&) { return false; },
                 [](const kir::Barrier&) { return false; },
                 [](const kir::Arrive&) { return false; },
                 [](const kir::Gather&) { return false; },
                 [](const kir::MatInsert&) { return false; },
                 [](const kir::Scatter&) { return false; },
                 [](const kir::LaneGather&) { return false; },
                 [](const kir::LaneTurn&) { return false; },
                 [](const kir::LaneStore&) { return false; },
                 [](const kir::LaneAdd&) { return false; },
                 [](const kir::LaneShare&) { return false; },
                 [](const kir::LaneFold&) { return false; }},
        statement.node);
  });
}

LaunchList flatten(const exec::DeviceCode& code, const std::vector<kir::Parameter>& arguments,
                   const std::vector<PlanArray>& plan, std::int64_t n_items, const GridRule& rule,
                   const std::vector<std::int64_t>& strides) {
  Evaluator evaluator(code, arguments, plan, n_items, rule, strides);
  evaluator.run(code.launch);
  return evaluator.take();
}

}  // namespace op2::runtime
