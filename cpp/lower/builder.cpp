// SPDX-License-Identifier: BSD-3-Clause
#include "lower/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "lower/names_used.hpp"

namespace op2::lower {
namespace {

// Partial results of two lanes never share a cache line.
constexpr std::int64_t line_bytes = 64;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

kir::Stmt for_components(int extent, kir::Assign body) {
  return {kir::For{kir::Axis::serial, "c", kir::integer(0), kir::integer(extent), {{body}}}};
}

bool calls_kernel(const kir::Block& block) {
  return std::any_of(block.begin(), block.end(), [](const kir::Stmt& stmt) {
    if (const auto* loop = std::get_if<kir::For>(&stmt.node)) return calls_kernel(loop->body);
    return std::holds_alternative<kir::CallUser>(stmt.node);
  });
}

kir::VariableType constant_index() {
  return {DType::int64, true, false};
}

}  // namespace

kir::Expr whole_begin() {
  return kir::name("begin");
}
kir::Expr whole_end() {
  return kir::name("end");
}

kir::Block element_loop(const PackedLoop& packed) {
  kir::Block body = packed.load;
  body.push_back({packed.call});
  body.insert(body.end(), packed.store.begin(), packed.store.end());
  return {{kir::For{kir::Axis::serial, "n", whole_begin(), whole_end(), std::move(body)}}};
}

Builder::Builder(const Request& request, PackedLoop packed)
    : request_(request), packed_(std::move(packed)) {
  module_.kernel = request.loop.kernel;
  module_.launch_name = packed_.names.take("op2_launch_" + request.loop.kernel->name);
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
    module_.argv.push_back(*first);
  }
  add_role(kir::Role::matrix);
}

void Builder::find_partials() {
  if (!spreads()) return;
  for (std::size_t i = 0; i < request_.loop.args.size(); ++i) {
    const auto* global = std::get_if<ir::GlobalReduce>(&request_.loop.args[i]);
    if (global == nullptr || global->dim == 0) continue;
    const auto size = static_cast<std::int64_t>(size_of(global->dtype));
    const std::int64_t bytes = round_up(global->dim * size, line_bytes);
    partials_.push_back({i, packed_.names.take(packed_.args[i].data + "_partial"),
                         static_cast<int>(bytes / size), module_.scratch.per_slot});
    module_.scratch.per_slot += bytes;
  }
}

kir::Parameter Builder::plan_array(const std::string& name, DType dtype) {
  const auto index = std::count_if(
      module_.argv.begin(), module_.argv.end(),
      [](const kir::Parameter& parameter) { return parameter.role == kir::Role::plan; });
  module_.argv.push_back({packed_.names.take(name),
                          {dtype, true, true},
                          true,
                          kir::Role::plan,
                          static_cast<int>(index)});
  return module_.argv.back();
}

kir::Parameter Builder::item_results(std::size_t arg, int extent) {
  const DType dtype = ir::dtype_of(request_.loop.args[arg]);
  const std::string name = packed_.names.take(packed_.args[arg].data + "_scratch");
  item_results_.push_back({name, dtype, module_.scratch.per_item});
  module_.scratch.per_item +=
      round_up(static_cast<std::int64_t>(size_of(dtype)) * extent, 16);  // widest scalar
  return {name, {dtype, false, true}, true, kir::Role::local, 0};
}

void Builder::add_function(const std::string& name, std::vector<kir::Parameter> parameters,
                           kir::Block body) {
  auto used = names_used(body);
  if (calls_kernel(body)) used.insert(packed_.kept.begin(), packed_.kept.end());
  std::erase_if(parameters, [&used](const kir::Parameter& parameter) {
    return !used.contains(parameter.name);
  });
  module_.functions.push_back({name, std::move(parameters), std::move(body)});
}

kir::Expr Builder::slots(const kir::Expr& begin, const kir::Expr& end) const {
  if (!request_.options.deterministic) return kir::builtin(kir::Builtin::n_threads);
  const kir::Expr chunk = kir::integer(deterministic_chunk);
  return (end - begin + kir::integer(deterministic_chunk - 1)) / chunk;
}

kir::Expr Builder::slot_begin(const kir::Expr& begin, const kir::Expr& end,
                              const kir::Expr& slot) const {
  if (request_.options.deterministic) return begin + slot * kir::integer(deterministic_chunk);
  return begin + (end - begin) * slot / slots(begin, end);
}

kir::Expr Builder::slot_end(const kir::Expr& begin, const kir::Expr& end,
                            const kir::Expr& slot) const {
  const kir::Expr next = slot_begin(begin, end, slot + kir::integer(1));
  return request_.options.deterministic ? kir::minimum(next, end) : next;
}

kir::Stmt Builder::call(const std::string& function, const kir::Expr& begin, const kir::Expr& end,
                        const kir::Expr& slot) const {
  const auto callee =
      std::find_if(module_.functions.begin(), module_.functions.end(),
                   [&function](const kir::Function& other) { return other.name == function; });
  if (callee == module_.functions.end()) throw InternalError("call before its function");
  kir::Call call{function, {begin, end}};
  for (const kir::Parameter& parameter : callee->parameters) {
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
  if (!spreads()) return {call(function, begin, end, kir::integer(0))};
  const kir::Expr slot = kir::name("slot");
  kir::Block body{call(function, slot_begin(begin, end, slot), slot_end(begin, end, slot), slot)};
  return {{kir::Region{{{kir::For{kir::Axis::thread, "slot", kir::integer(0), slots(begin, end),
                                  std::move(body)}}}}}};
}

void Builder::finish(kir::Block work, const kir::Expr& n_slots) {
  kir::Block& out = module_.launch;
  if (!partials_.empty()) {
    out.push_back({kir::Decl{constant_index(), "n_slots", 0, {n_slots}}});
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
                            {for_components(ir::dim_of(arg), {at, kir::Update::set, start})}}});
  }
  for (const ItemResult& result : item_results_) {
    const kir::Expr items = whole_end() - whole_begin();
    out.push_back({kir::Decl{{result.dtype, false, true},
                             result.name,
                             0,
                             {kir::scratch_at(count * kir::integer(module_.scratch.per_slot) +
                                              items * kir::integer(result.offset))}}});
  }
  out.insert(out.end(), work.begin(), work.end());
  for (const Partial& partial : partials_) {
    const ir::Arg& arg = request_.loop.args[partial.arg];
    const kir::Expr at =
        kir::element(partial.name, slot * kir::integer(partial.stride) + kir::name("c"));
    out.push_back(
        {kir::For{kir::Axis::serial,
                  "slot",
                  kir::integer(0),
                  count,
                  {for_components(ir::dim_of(arg),
                                  {kir::element(packed_.args[partial.arg].data, kir::name("c")),
                                   update_of(ir::access_of(arg)), at})}}});
  }
}

}  // namespace op2::lower
