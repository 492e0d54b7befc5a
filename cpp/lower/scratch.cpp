// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "lower/incidence.hpp"
#include "lower/make.hpp"
#include "lower/matrix.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

/// `values[position * extent + c] = pack[c]` for all components of one element's result.
kir::Stmt keep(const std::string& position, const std::string& values, const std::string& pack,
               int extent) {
  const kir::Expr at = kir::name(position) * kir::integer(extent) + kir::name("c");
  return for_components(extent, kir::element(values, at), kir::Update::set,
                        kir::element(pack, kir::name("c")));
}

}  // namespace

void sum_from_scratch(Builder& builder) {
  const ir::Loop& loop = builder.request().loop;
  const std::string compute = builder.packed().names.take("wrap_" + ir::name_of(loop));
  const std::string gather = builder.packed().names.take("sum_" + ir::name_of(loop));
  const Incidence incidence = add_incidence(builder, Sizes::always);
  PackedLoop& packed = builder.packed();

  std::vector<kir::Parameter> compute_parameters = packed.parameters;
  std::vector<kir::Parameter> sum_parameters = packed.parameters;
  for (kir::Parameter& parameter : incidence.parameters()) sum_parameters.push_back(parameter);
  const std::vector<std::string> accumulators = take_accumulators(builder);
  const std::vector<std::size_t> args = reduced_args(loop);
  kir::Block shares;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::size_t arg = args[i];
    const int extent = ir::extent_of(loop, loop.args[arg]);
    const kir::Parameter results = builder.item_results(arg, extent);
    compute_parameters.push_back(results);
    sum_parameters.push_back(results);
    sum_parameters.back().type.is_const = true;
    shares.push_back(keep_share(builder, incidence, arg, accumulators[i], results.name,
                                kir::name(packed.items.position) * kir::integer(extent),
                                ShareFrom::memory));
    packed.args[arg].store = {
        keep(packed.items.position, results.name, packed.args[arg].pack, extent)};
  }
  std::vector<OwnedRow> rows = take_rows(builder);
  kir::Block starts = declare_rows(builder, rows);
  for (OwnedRow& row : rows) {
    const int extent = ir::extent_of(loop, loop.args[row.arg]);
    const kir::Parameter results = builder.item_results(row.arg, extent);
    compute_parameters.push_back(results);
    sum_parameters.push_back(results);
    sum_parameters.back().type.is_const = true;
    row.results = results.name;
    row.in_scratch = true;
    shares.push_back(add_to_row(builder, incidence, row));
  }
  for (const OwnedRow& row : rows) {
    packed.args[row.arg].store = {keep(packed.items.position, row.results,
                                       packed.args[row.arg].pack,
                                       ir::extent_of(loop, loop.args[row.arg]))};
  }
  builder.add_element_function(compute, std::move(compute_parameters));

  kir::Block body = load_accumulators(builder, accumulators);
  append(body, std::move(starts));
  kir::Block walk = for_incidences(builder, incidence, located(packed.items, std::move(shares)));
  append(body, std::move(walk));
  kir::Block store = store_accumulators(builder, accumulators);
  append(body, std::move(store));
  builder.add_function(gather, std::move(sum_parameters), "t",
                       of_target(builder, incidence, std::move(body)));

  kir::Block work = commented("The results of all elements are kept,",
                              builder.over_range(compute, whole_begin(), whole_end()));
  kir::Block sums =
      commented("then each target sums what is its own, in the order of the elements.",
                builder.over_range(gather, kir::integer(0),
                                   kir::element(incidence.sizes.name, kir::integer(0))));
  append(work, std::move(sums));
  builder.finish(std::move(work), builder.slots(whole_begin(), whole_end()));
  builder.module().items = kir::Items::elements;
}

}  // namespace op2::lower
