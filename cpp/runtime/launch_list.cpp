// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/launch_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"

namespace op2::runtime {
namespace {

/// Colours, levels and the like are far fewer: numbers in a file may be damaged.
constexpr std::int64_t most_repeats = 1 << 20;

std::int64_t blocks_for(const GridRule& rule, std::int64_t n_items) {
  std::int64_t n = n_items > 0 ? (n_items - 1) / rule.n_lanes + 1 : 0;
  if (rule.few_blocks > 0 && n > rule.few_blocks) n = std::max(rule.few_blocks, (n + 1) / 2);
  return std::clamp<std::int64_t>(n, 1, rule.max_blocks);
}

class Evaluator {
 public:
  Evaluator(const exec::LaunchProgram& program, const LaunchInput& input, const GridRule& rule)
      : program_(program),
        input_(input),
        rule_(rule),
        values_{{"begin", input.begin}, {"end", input.begin + input.n_items}} {}

  LaunchList run() {
    run(program_.steps);
    return std::move(list_);
  }

 private:
  void run(const exec::Steps& steps) {
    for (const exec::Step& step : steps) {
      std::visit([this](const auto& node) { run(node); }, step.node);
    }
  }

  void run(const exec::Set& set) { values_[set.variable] = value(set.value); }

  void run(const exec::Repeat& repeat) {
    const std::int64_t begin = value(repeat.begin);
    const std::int64_t end = value(repeat.end);
    if (end > begin && apply(exec::Operator::subtract, end, begin) > most_repeats) {
      throw InternalError(fmt::format("a launch is repeated from {} to {}", begin, end));
    }
    for (std::int64_t i = begin; i < end; ++i) {
      values_[repeat.variable] = i;
      run(repeat.body);
    }
  }

  void run(const exec::When& when) {
    if (value(when.condition) != 0) run(when.then);
  }

  void run(const exec::Allocate& allocate) {
    const std::int64_t n_bytes =
        apply(exec::Operator::multiply, std::max<std::int64_t>(value(allocate.extent), 0),
              allocate.item_bytes);
    scratch_[allocate.scratch] = static_cast<int>(list_.scratch.size());
    list_.scratch.push_back({n_bytes, allocate.is_zero});
  }

  void run(const exec::LaunchStep& launch) {
    const std::int64_t n_items = value(launch.items);
    if (n_items <= 0) return;
    const exec::LaunchedKernel& kernel =
        program_.kernels.at(static_cast<std::size_t>(launch.kernel));
    FlatLaunch flat{kernel.name,
                    grid(launch.grid, n_items, kernel.max_lanes),
                    {},
                    launch.grid == exec::GridKind::teams};
    for (const auto& argument : launch.arguments) {
      std::visit(
          overload{[&](const exec::MemorySlot& slot) { flat.arguments.emplace_back(placed(slot)); },
                   [&](const exec::Value& number) { flat.arguments.emplace_back(value(number)); }},
          argument);
    }
    list_.launches.push_back(std::move(flat));
  }

  [[nodiscard]] Grid grid(exec::GridKind kind, std::int64_t n_items, int max_lanes) const {
    const int n_lanes = max_lanes > 0 ? std::min(rule_.n_lanes, max_lanes) : rule_.n_lanes;
    switch (kind) {
      case exec::GridKind::items:
        return {blocks_for(rule_, n_items), n_lanes};
      case exec::GridKind::blocks:
        return {n_items, n_lanes};
      case exec::GridKind::single:
        return {1, n_lanes};
      case exec::GridKind::teams:
        return {n_items, max_lanes};
    }
    throw InternalError("grid: not a GridKind");
  }

  [[nodiscard]] exec::MemorySlot placed(const exec::MemorySlot& slot) const {
    if (!slot.is_scratch) return slot;
    const auto found = scratch_.find(slot.index);
    if (found != scratch_.end()) return {true, found->second};
    throw InternalError(fmt::format("a launch uses scratch {} before it is there", slot.index));
  }

  [[nodiscard]] std::int64_t value(const exec::Value& value) const {
    return std::visit([this](const auto& node) { return evaluate(node); }, value.node);
  }

  [[nodiscard]] std::int64_t evaluate(const exec::Number& number) const { return number.value; }

  [[nodiscard]] std::int64_t evaluate(const exec::Variable& variable) const {
    const auto found = values_.find(variable.name);
    if (found != values_.end()) return found->second;
    throw InternalError(fmt::format("a launch uses the unknown value '{}'", variable.name));
  }

  [[nodiscard]] std::int64_t evaluate(const exec::Entry& entry) const {
    const plan::HostArray& from = input_.arrays.at(static_cast<std::size_t>(entry.argument));
    const std::int64_t i = value(entry.at[0]);
    if (i < 0 || i >= from.n_bytes / entry.n_bytes) {
      throw InternalError(fmt::format("a launch reads entry {} of argument {}, which has {} bytes",
                                      i, entry.argument, from.n_bytes));
    }
    if (entry.n_bytes == 4) return static_cast<const std::int32_t*>(from.data)[i];
    return static_cast<const std::int64_t*>(from.data)[i];
  }

  [[nodiscard]] std::int64_t evaluate(const exec::IsThere& asked) const {
    return input_.arrays.at(static_cast<std::size_t>(asked.argument)).data != nullptr ? 1 : 0;
  }

  [[nodiscard]] std::int64_t evaluate(const exec::Operation& operation) const {
    const std::int64_t left = value(operation.operands[0]);
    const std::int64_t right = value(operation.operands[1]);
    return apply(operation.op, left, right);
  }

  [[nodiscard]] static std::int64_t apply(exec::Operator op, std::int64_t left,
                                          std::int64_t right) {
    std::int64_t result = 0;
    bool is_too_large = false;
    switch (op) {
      case exec::Operator::add:
        is_too_large = __builtin_add_overflow(left, right, &result);
        break;
      case exec::Operator::subtract:
        is_too_large = __builtin_sub_overflow(left, right, &result);
        break;
      case exec::Operator::multiply:
        is_too_large = __builtin_mul_overflow(left, right, &result);
        break;
      case exec::Operator::divide:
        return quotient(left, right);
      case exec::Operator::modulo:
        return right == -1 ? 0 : left - quotient(left, right) * right;
      case exec::Operator::less:
        return left < right ? 1 : 0;
      case exec::Operator::equal:
        return left == right ? 1 : 0;
      case exec::Operator::least:
        return std::min(left, right);
    }
    if (is_too_large) {
      throw InternalError(
          fmt::format("a launch computes a number from {} and {} that is too large", left, right));
    }
    return result;
  }

  [[nodiscard]] static std::int64_t quotient(std::int64_t left, std::int64_t right) {
    if (right == 0) throw InternalError("a launch divides by zero");
    return right == -1 ? apply(exec::Operator::subtract, 0, left) : left / right;
  }

  [[nodiscard]] std::int64_t evaluate(const exec::Choice& choice) const {
    return value(choice.operands[value(choice.operands[0]) != 0 ? 1 : 2]);
  }

  [[nodiscard]] std::int64_t evaluate(const exec::BlocksOf& blocks) const {
    return blocks_for(rule_, value(blocks.items[0]));
  }

  [[nodiscard]] std::int64_t evaluate(const exec::StrideOf& stride) const {
    return input_.strides.at(static_cast<std::size_t>(stride.data));
  }

  const exec::LaunchProgram& program_;
  const LaunchInput& input_;
  GridRule rule_;
  std::map<std::string, std::int64_t> values_;
  std::map<int, int> scratch_;
  LaunchList list_;
};

}  // namespace

GridRule grid_rule(const DeviceInfo& device, const LoopTraits& loop, const Tuning& tuning) {
  const bool is_light =
      loop.is_direct && loop.item_bytes > 0 && loop.item_bytes < tuning.light_bytes;
  const bool is_streaming = is_light || (loop.is_direct && !loop.has_partials);
  const std::int64_t wanted = loop.n_lanes_wanted > 0 ? loop.n_lanes_wanted
                              : is_streaming          ? tuning.streaming_lanes
                                                      : tuning.block_lanes;
  const std::int64_t most = std::clamp<std::int64_t>(wanted, 1, std::max(device.max_lanes, 1));
  std::int64_t n_lanes = 1;
  while (n_lanes * tuning.lanes_factor <= most) n_lanes *= tuning.lanes_factor;
  // Lanes that exchange registers must all be there.
  n_lanes = std::max<std::int64_t>(n_lanes, device.warp);
  const bool is_by_residence = !loop.is_direct && tuning.blocks_a_unit_gathering == 0;
  const std::int64_t per_unit = is_light          ? tuning.blocks_a_unit_light
                                : loop.is_direct  ? tuning.blocks_a_unit
                                : is_by_residence ? tuning.resident_blocks
                                                  : tuning.blocks_a_unit_gathering;
  const std::int64_t n_units = std::max(device.n_units, 1);
  const bool is_bounded = loop.has_partials || device.is_cpu;
  return {static_cast<int>(n_lanes),
          is_bounded ? n_units * per_unit : std::int64_t{tuning.most_blocks},
          is_bounded && is_by_residence,
          // the last block adds up what all have left: it takes longer than a second item of each
          is_light && loop.has_partials && !device.is_cpu ? n_units * per_unit / 2 : 0};
}

LaunchList flatten(const exec::LaunchProgram& program, const LaunchInput& input,
                   const GridRule& rule) {
  return Evaluator(program, input, rule).run();
}

}  // namespace op2::runtime
