// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "lower/items.hpp"
#include "lower/make.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

/// `for (colour = 0; colour < sizes[0]; ++colour) body`, in one team of threads or as launches.
kir::Block for_colours(const Builder& builder, const kir::Parameter& sizes, kir::Block body) {
  kir::Block loop =
      commented("One colour after the other: what one has updates no target twice.",
                {{kir::For{kir::Axis::serial, "colour", kir::integer(0),
                           kir::element(sizes.name, kir::integer(0)), std::move(body)}}});
  if (builder.is_grid()) return loop;
  return {{kir::Region{std::move(loop)}}};
}

/// The part of colour `colour` that lies in the launch's range.
std::pair<kir::Expr, kir::Expr> range_of_colour(const kir::Parameter& colour_offset) {
  const kir::Expr colour = kir::name("colour");
  const kir::Expr first = kir::element(colour_offset.name, colour);
  const kir::Expr last = kir::element(colour_offset.name, colour + kir::integer(1));
  return {kir::select(kir::less(first, whole_begin()), whole_begin(), first),
          kir::minimum(last, whole_end())};
}

}  // namespace

void run_in_order(Builder& builder) {
  const std::string function =
      builder.packed().names.take("wrap_" + ir::name_of(builder.request().loop));
  kir::Block in_order{
      {kir::If{kir::equal(kir::builtin(kir::Builtin::lane_id), kir::integer(0)),
               {{over_positions(builder.packed().items, kir::Axis::serial, whole_begin(),
                                whole_end(), element_body(builder.packed()))}}}}};
  builder.add_kernel(function, builder.with_range(builder.packed().parameters),
                     std::move(in_order));
  builder.finish({builder.launch(function, kir::Grid::single, kir::integer(1), {})},
                 kir::integer(0));
  builder.module().items = kir::Items::elements;
}

namespace {

struct BlockPlan {
  kir::Parameter sizes;
  kir::Parameter colour_offset;
  kir::Parameter block_of;
  kir::Parameter block_offset;
};

BlockPlan add_block_plan(Builder& builder, const Races& races) {
  BlockPlan plan;
  plan.sizes = builder.plan_array(kir::PlanArray::sizes, "sizes", DType::int64);
  plan.colour_offset =
      builder.plan_array(kir::PlanArray::colour_offset, "colour_offset", DType::int64);
  plan.block_of = builder.plan_array(kir::PlanArray::block_of, "block_of", DType::int64);
  plan.block_offset =
      builder.plan_array(kir::PlanArray::block_offset, "block_offset", DType::int64);
  kir::Module& module = builder.module();
  module.items = kir::Items::blocks;
  abi::BlocksPlan blocks;
  if (!races.overlaps) blocks.conflicts = races.conflicts;
  module.plan = std::move(blocks);
  return plan;
}

}  // namespace

void launch_blocks(Builder& builder) {
  const Races races = find_races(builder.request().loop, builder.request().maps);
  PackedLoop& packed = builder.packed();
  const std::string function = packed.names.take("wrap_" + ir::name_of(builder.request().loop));
  const BlockPlan plan = add_block_plan(builder, races);
  const kir::Expr block = kir::name("block");
  kir::Block one{
      index_decl("block", kir::element(plan.block_of.name, kir::name("k"))),
      {over_positions(packed.items, kir::Axis::serial, kir::element(plan.block_offset.name, block),
                      kir::element(plan.block_offset.name, block + kir::integer(1)),
                      element_body(packed))}};
  kir::Block body{
      {kir::If{kir::equal(kir::builtin(kir::Builtin::lane_id), kir::integer(0)),
               {{kir::For{kir::Axis::block, "k", whole_begin(), whole_end(), std::move(one)}}}}}};
  std::vector<kir::Parameter> parameters = packed.parameters;
  parameters.insert(parameters.end(), {plan.block_of, plan.block_offset});
  builder.add_kernel(function, Builder::with_range(std::move(parameters)), std::move(body));

  const auto [begin, end] = range_of_colour(plan.colour_offset);
  const kir::Expr first = kir::name("first");
  const kir::Expr last = kir::name("last");
  kir::Block one_colour{index_decl("first", begin), index_decl("last", end)};
  one_colour.push_back(
      builder.launch(function, kir::Grid::blocks, last - first, {{"begin", first}, {"end", last}}));
  builder.finish(for_colours(builder, plan.sizes, std::move(one_colour)), kir::integer(0));
}

void colour_blocks(Builder& builder) {
  const Request& request = builder.request();
  const Races races = find_races(request.loop, request.maps);
  const std::string function = builder.packed().names.take("wrap_" + ir::name_of(request.loop));
  builder.add_element_function(function, builder.packed().parameters);

  const BlockPlan plan = add_block_plan(builder, races);
  const kir::Expr position = kir::name("k");
  const kir::Expr block = kir::name("block");
  kir::Block body{index_decl("block", kir::element(plan.block_of.name, position)),
                  builder.call(function, kir::element(plan.block_offset.name, block),
                               kir::element(plan.block_offset.name, block + kir::integer(1)),
                               position - whole_begin())};
  const auto [first, last] = range_of_colour(plan.colour_offset);
  kir::Block one_colour{index_decl("first", first), index_decl("last", last)};
  one_colour.push_back(
      {kir::For{kir::Axis::thread, "k", kir::name("first"), kir::name("last"), std::move(body)}});
  builder.finish(for_colours(builder, plan.sizes, std::move(one_colour)),
                 whole_end() - whole_begin());
  builder.module().scratch.chunk = -1;
}

void colour_elements(Builder& builder) {
  const Request& request = builder.request();
  const std::string function = builder.packed().names.take("wrap_" + ir::name_of(request.loop));
  const kir::Parameter sizes = builder.plan_array(kir::PlanArray::sizes, "sizes", DType::int64);
  const kir::Parameter colour_offset =
      builder.plan_array(kir::PlanArray::colour_offset, "colour_offset", DType::int64);
  const kir::Parameter elements = builder.plan_array(
      kir::PlanArray::elements, "element", index_dtype(request.options.widths.element_bytes));

  PackedLoop& packed = builder.packed();
  kir::Block body = element_body(packed);
  body.insert(body.begin(),
              index_decl(packed.items.position, kir::element(elements.name, kir::name("k"))));
  std::vector<kir::Parameter> parameters = packed.parameters;
  parameters.push_back(elements);
  builder.add_function(function, std::move(parameters), "k", std::move(body));

  const auto [first, last] = range_of_colour(colour_offset);
  const kir::Expr from = kir::name("first");
  const kir::Expr to = kir::name("last");
  kir::Block one_colour{index_decl("first", first), index_decl("last", last)};
  const kir::Expr slot = kir::name("slot");
  if (builder.spreads() && !builder.is_grid()) {
    one_colour.push_back({kir::For{kir::Axis::thread,
                                   "slot",
                                   kir::integer(0),
                                   builder.slots(from, to),
                                   {builder.call(function, builder.slot_begin(from, to, slot),
                                                 builder.slot_end(from, to, slot), slot)}}});
  } else {
    for (kir::Stmt& stmt : builder.over_range(function, from, to)) {
      one_colour.push_back(std::move(stmt));
    }
  }
  builder.finish(for_colours(builder, sizes, std::move(one_colour)),
                 builder.slots(whole_begin(), whole_end()));

  kir::Module& module = builder.module();
  module.items = kir::Items::elements;
  module.plan = abi::ColoursPlan{find_races(request.loop, request.maps).conflicts};
}

}  // namespace op2::lower
