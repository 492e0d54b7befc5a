// SPDX-License-Identifier: BSD-3-Clause
#include "lower/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "kir/walk.hpp"
#include "lower/constants.hpp"
#include "lower/items.hpp"
#include "lower/make.hpp"
#include "lower/ragged.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// @param[in] kept Parameters that stay where the kernel is called, used or not.
void drop_unused(std::vector<kir::Parameter>& parameters, const kir::Block& body,
                 const std::vector<std::string>& kept) {
  auto used = kir::names_used(body);
  if (calls_kernel(body)) used.insert(kept.begin(), kept.end());
  std::erase_if(parameters, [&used](const kir::Parameter& parameter) {
    return !used.contains(parameter.name);
  });
}

/// Whether @p arg is a sum whose real and imaginary parts have 32 bits.
bool is_narrow_sum(const ir::Arg& arg) {
  const auto* global = std::get_if<ir::GlobalReduce>(&arg);
  return global != nullptr && global->access == Access::inc && global->dim > 0 &&
         (global->dtype == DType::float32 || global->dtype == DType::complex64);
}

kernel::KernelPtr kernel_of_member(const Request& request, std::size_t member) {
  const ir::Group& group = request.loop;
  if (is_ragged(group)) {
    return std::make_shared<const kernel::Kernel>(
        called_kernel(group, member, request.maps, request.options).kernel);
  }
  if (ir::constants_of(group, member).empty()) return group.members[member].kernel;
  return std::make_shared<const kernel::Kernel>(with_constants(group, member));
}

}  // namespace

kir::Expr whole_begin() {
  return kir::name("begin");
}
kir::Expr whole_end() {
  return kir::name("end");
}

void append_call(kir::Block& block, const PackedLoop& packed) {
  for (const PackedCall& member : packed.members) append_call(block, member);
}

void append_call(kir::Block& block, const PackedCall& member) {
  block.push_back({member.call});
  append(block, member.split);
}

kir::Block element_body(const PackedLoop& packed) {
  kir::Block body = packed.fetched;
  append(body, loads(packed));
  append_call(body, packed);
  append(body, stores(packed));
  return located(packed.items, std::move(body));
}

Builder::Builder(const Request& request, PackedLoop packed)
    : request_(request), packed_(std::move(packed)) {
  module_.name = ir::name_of(request.loop);
  module_.n_args = static_cast<int>(request.loop.args.size());
  module_.converts = ir::converts(request.loop);
  for (std::size_t member = 0; member < request.loop.members.size(); ++member) {
    module_.kernels.push_back(kernel_of_member(request, member));
  }
  module_.launch_name = packed_.names.take("op2_launch_" + module_.name);
  declare_arguments();
  find_partials();
}

void Builder::declare_arguments() {
  const auto add_role = [this](kir::Role role) {
    for (const kir::Parameter& parameter : packed_.parameters) {
      if (parameter.role == role) module_.argv.push_back(parameter);
    }
  };
  add_role(kir::Role::data);
  add_role(kir::Role::constant);
  for (std::size_t map = 0; map < request_.loop.maps.size(); ++map) {
    const auto first = std::find_if(packed_.parameters.begin(), packed_.parameters.end(),
                                    [map](const kir::Parameter& parameter) {
                                      return parameter.role == kir::Role::map &&
                                             parameter.index == static_cast<int>(map);
                                    });
    if (first != packed_.parameters.end()) module_.argv.push_back(*first);
  }
  add_role(kir::Role::items);
  add_role(kir::Role::matrix);
}

void Builder::find_partials() {
  // A grid's lanes have no slots: the pass `reduce` does it (reduce.cpp).
  if (is_grid()) return;
  for (std::size_t i = 0; i < request_.loop.args.size(); ++i) {
    const auto* global = std::get_if<ir::GlobalReduce>(&request_.loop.args[i]);
    if (global == nullptr || global->dim == 0) continue;
    if (!spreads() && !is_narrow_sum(request_.loop.args[i])) continue;
    const auto size = static_cast<std::int64_t>(size_of(global->dtype));
    const std::int64_t bytes = round_up(global->dim * size, request_.options.tuning.partial_bytes);
    partials_.push_back({i, packed_.names.take(packed_.args[i].data + "_partial"),
                         static_cast<int>(bytes / size), module_.scratch.per_slot});
    module_.scratch.per_slot += bytes;
  }
}

kir::Parameter Builder::plan_array(kir::PlanArray array, const std::string& name, DType dtype) {
  const auto index =
      std::count_if(module_.argv.begin(), module_.argv.end(),
                    [array](const kir::Parameter& parameter) { return parameter.array == array; });
  module_.argv.push_back({packed_.names.take(name),
                          {dtype, true, true},
                          true,
                          kir::Role::plan,
                          static_cast<int>(index),
                          array});
  return module_.argv.back();
}

kir::Parameter Builder::item_results(std::size_t arg, int extent) {
  const DType dtype = ir::dtype_of(request_.loop.args[arg]);
  const std::string name = packed_.names.take(packed_.args[arg].data + "_scratch");
  item_results_.push_back({name, dtype, module_.scratch.per_item, extent});
  if (!is_grid()) {
    module_.scratch.per_item +=
        round_up(static_cast<std::int64_t>(size_of(dtype)) * extent, 16);  // widest scalar
  }
  return {name, {dtype, false, true}, true, kir::Role::local, 0};
}

void Builder::add_function(const std::string& name, std::vector<kir::Parameter> parameters,
                           const std::string& index, kir::Block body) {
  add_loop(name, std::move(parameters),
           kir::For{item_axis(), index, whole_begin(), whole_end(), std::move(body)});
}

void Builder::add_element_function(const std::string& name,
                                   std::vector<kir::Parameter> parameters) {
  add_loop(name, std::move(parameters),
           over_positions(packed_.items, item_axis(), whole_begin(), whole_end(),
                          element_body(packed_)));
}

void Builder::add_loop(const std::string& name, std::vector<kir::Parameter> parameters,
                       kir::For loop) {
  kir::Block body{{std::move(loop)}};
  if (is_grid()) {
    return add_kernel(name, with_range(std::move(parameters)), std::move(body));
  }
  add_range_function(name, std::move(parameters), std::move(body));
}

void Builder::add_range_function(const std::string& name, std::vector<kir::Parameter> parameters,
                                 kir::Block body) {
  drop_unused(parameters, body, packed_.kept);
  module_.functions.push_back({name, std::move(parameters), std::move(body)});
}

std::vector<kir::Parameter> Builder::with_range(std::vector<kir::Parameter> parameters) {
  parameters.push_back(number("begin"));
  parameters.push_back(number("end"));
  return parameters;
}

void Builder::add_kernel(const std::string& name, std::vector<kir::Parameter> parameters,
                         kir::Block body) {
  drop_unused(parameters, body, packed_.kept);
  module_.functions.push_back({name, std::move(parameters), std::move(body), true});
}

kir::Parameter Builder::launch_number(const std::string& name, kir::Expr value) {
  numbers_.emplace_back(packed_.names.take(name), std::move(value));
  return number(numbers_.back().first);
}

kir::Expr Builder::scalar(std::size_t arg, const kir::Expr& target, const kir::Expr& c) const {
  const PackedArg& packed = packed_.args[arg];
  kir::Rows rows = row_of(std::get<ir::IndirectDat>(request_.loop.args[arg]), packed.data, target);
  lay_apart(rows, packed.stride);
  return scalar_of(rows, kir::integer(0), c);
}

kir::Stmt Builder::launch(const std::string& name, kir::Grid grid, const kir::Expr& items,
                          const std::vector<std::pair<std::string, kir::Expr>>& numbers) const {
  kir::Launch launch{name, grid, items, {}};
  const auto value_in = [](const auto& list, const std::string& wanted) {
    return std::find_if(list.begin(), list.end(),
                        [&wanted](const auto& number) { return number.first == wanted; });
  };
  for (const kir::Parameter& parameter : kir::function_of(module_, name).parameters) {
    const auto given = value_in(numbers, parameter.name);
    const auto known = value_in(numbers_, parameter.name);
    if (parameter.role == kir::Role::stride) {
      launch.arguments.push_back({kir::Stride{parameter.index}});
    } else if (given != numbers.end()) {
      launch.arguments.push_back(given->second);
    } else {
      launch.arguments.push_back(known != numbers_.end() ? known->second
                                                         : kir::name(parameter.name));
    }
  }
  return {std::move(launch)};
}

bool Builder::has_chunks() const {
  if (request_.options.semantics.deterministic) return true;
  return !is_grid() && std::ranges::any_of(request_.loop.args, is_narrow_sum);
}

kir::Expr Builder::slots(const kir::Expr& begin, const kir::Expr& end) const {
  if (!has_chunks()) return kir::builtin(kir::Builtin::n_threads);
  const int chunk = request_.options.tuning.deterministic_chunk;
  return (end - begin + kir::integer(chunk - 1)) / kir::integer(chunk);
}

kir::Expr Builder::slot_begin(const kir::Expr& begin, const kir::Expr& end,
                              const kir::Expr& slot) const {
  const int chunk = request_.options.tuning.deterministic_chunk;
  if (has_chunks()) return begin + slot * kir::integer(chunk);
  return begin + (end - begin) * slot / slots(begin, end);
}

kir::Expr Builder::slot_end(const kir::Expr& begin, const kir::Expr& end,
                            const kir::Expr& slot) const {
  const kir::Expr next = slot_begin(begin, end, slot + kir::integer(1));
  return has_chunks() ? kir::minimum(next, end) : next;
}

kir::Stmt Builder::call(const std::string& function, const kir::Expr& begin, const kir::Expr& end,
                        const kir::Expr& slot) const {
  kir::Call call{function, {begin, end}};
  for (const kir::Parameter& parameter : kir::function_of(module_, function).parameters) {
    const auto partial =
        std::find_if(partials_.begin(), partials_.end(), [&](const Partial& candidate) {
          return parameter.role == kir::Role::data &&
                 packed_.args[candidate.arg].data == parameter.name;
        });
    if (partial != partials_.end()) {
      call.arguments.push_back(kir::offset(partial->name, slot * kir::integer(partial->stride)));
      continue;
    }
    const auto shared =
        std::find_if(module_.argv.begin(), module_.argv.end(), [&](const kir::Parameter& other) {
          return parameter.role == kir::Role::map && other.role == kir::Role::map &&
                 other.index == parameter.index;
        });
    call.arguments.push_back(
        kir::name(shared != module_.argv.end() ? shared->name : parameter.name));
  }
  return {std::move(call)};
}

kir::Block Builder::over_range(const std::string& function, const kir::Expr& begin,
                               const kir::Expr& end) {
  if (!spreads() && partials_.empty()) return {call(function, begin, end, kir::integer(0))};
  if (is_grid()) {
    return {launch(function, kir::Grid::items, end - begin, {{"begin", begin}, {"end", end}})};
  }
  const kir::Expr slot = kir::name("slot");
  kir::Block body{call(function, slot_begin(begin, end, slot), slot_end(begin, end, slot), slot)};
  kir::For all{kir::Axis::thread, "slot", kir::integer(0), slots(begin, end), std::move(body)};
  if (spreads()) return {{kir::Region{{{std::move(all)}}}}};
  all.axis = kir::Axis::serial;
  return {{std::move(all)}};
}

void Builder::finish(kir::Block work, const kir::Expr& n_slots) {
  return is_grid() ? finish_grid(std::move(work)) : finish_team(std::move(work), n_slots);
}

void Builder::finish_grid(kir::Block work) {
  const kir::Expr items = whole_end() - whole_begin();
  for (const ItemResult& result : item_results_) {
    module_.launch.push_back(
        {kir::Scratch{result.dtype, result.name, items * kir::integer(result.extent)}});
  }
  append(module_.launch, std::move(work));
}

void Builder::finish_team(kir::Block work, const kir::Expr& n_slots) {
  kir::Block& out = module_.launch;
  if (!partials_.empty()) {
    out.push_back(index_decl("n_slots", n_slots));
  }
  const kir::Expr count = partials_.empty() ? kir::integer(0) : kir::name("n_slots");
  const kir::Expr slot = kir::name("slot");
  for (const Partial& partial : partials_) {
    const ir::Arg& arg = request_.loop.args[partial.arg];
    const kir::Expr at =
        kir::element(partial.name, slot * kir::integer(partial.stride) + kir::name("c"));
    const bool sum = ir::access_of(arg) == Access::inc;
    const kir::Expr start =
        sum ? kir::integer(0) : kir::element(packed_.args[partial.arg].data, kir::name("c"));
    out.push_back({kir::Decl{{ir::dtype_of(arg), false, true},
                             partial.name,
                             0,
                             {kir::scratch_at(count * kir::integer(partial.offset))}}});
    out.push_back({kir::For{kir::Axis::serial,
                            "slot",
                            kir::integer(0),
                            count,
                            {for_components(ir::dim_of(arg), at, kir::Update::set, start)}}});
  }
  for (const ItemResult& result : item_results_) {
    const kir::Expr items = whole_end() - whole_begin();
    out.push_back({kir::Decl{{result.dtype, false, true},
                             result.name,
                             0,
                             {kir::scratch_at(count * kir::integer(module_.scratch.per_slot) +
                                              items * kir::integer(result.offset))}}});
  }
  append(out, std::move(work));
  const std::size_t n_before = out.size();
  for (const Partial& partial : partials_) out.push_back(combined(partial, count));
  if (n_before < out.size()) out[n_before].comment = "The slots' results, in their order.";
}

/// Sums of 32 bits are added up in runs of slots first, for the reason of has_chunks().
kir::Stmt Builder::combined(const Partial& partial, const kir::Expr& n_slots) const {
  const ir::Arg& arg = request_.loop.args[partial.arg];
  const kir::Update update = update_of(ir::access_of(arg));
  const kir::Expr c = kir::name("c");
  const kir::Expr data = kir::element(packed_.args[partial.arg].data, c);
  const auto of_slot = [&](const kir::Expr& slot) {
    return kir::element(partial.name, slot * kir::integer(partial.stride) + c);
  };
  const auto over_slots = [&](const kir::Expr& begin, const kir::Expr& end, kir::Stmt body) {
    return kir::Stmt{kir::For{kir::Axis::serial, "slot", begin, end, {std::move(body)}}};
  };
  const kir::Expr slot = kir::name("slot");
  const int dim = ir::dim_of(arg);
  if (!is_narrow_sum(arg)) {
    return over_slots(kir::integer(0), n_slots, for_components(dim, data, update, of_slot(slot)));
  }
  constexpr int slots_of_run = 128;
  const kir::Expr first = kir::name("first_slot");
  const kir::Expr next = first + kir::integer(1);
  kir::Block run{over_slots(next, kir::minimum(first + kir::integer(slots_of_run), n_slots),
                            for_components(dim, of_slot(first), update, of_slot(slot))),
                 for_components(dim, data, update, of_slot(first))};
  kir::For runs{kir::Axis::serial, "first_slot", kir::integer(0), n_slots, std::move(run)};
  runs.step = slots_of_run;
  return {std::move(runs)};
}

}  // namespace op2::lower
