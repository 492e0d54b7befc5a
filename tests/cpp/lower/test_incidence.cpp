// SPDX-License-Identifier: BSD-3-Clause
#include "lower/incidence.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::edge_loop;
using testing::indirect;
using testing::make_loop;

struct Workbench {
  explicit Workbench(ir::Loop what, const Options& how = {}, const Facts& where = testing::threads)
      : loop(std::move(what)), facts(where), maps(testing::no_facts(loop)), options(how) {}

  ir::Loop loop;
  Facts facts;
  std::vector<MapFacts> maps;
  Options options;
  Request request{loop, Strategy::owner, facts, maps, options};
  Builder builder{request, pack(loop, maps, facts, options)};
};

std::string incidence_dump(const kir::Block& block) {
  kir::Module module;
  module.launch = block;
  const std::string text = kir::dump(module);
  return text.substr(text.find('\n') + 1);
}

/// Two Maps to one Set are reduced through, a third is only read through.
ir::Loop loop_of_two_maps() {
  return make_loop({indirect("a", Access::read, 0), indirect("b", Access::inc, 1, 2),
                    indirect("c", Access::inc, 2), indirect("d", Access::max, 1)},
                   {{2, 0}, {3, 1}, {2, 1}});
}

TEST(ReducedArgs, AreReductionsThroughMaps) {
  EXPECT_EQ(reduced_args(loop_of_two_maps()), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(
      reduced_args(make_loop({direct("x", Access::inc), testing::global_reduce("s", Access::inc),
                              indirect("y", Access::rw, 0)},
                             {{2, 0}})),
      (std::vector<std::size_t>{}));
}

TEST(Slots, AreTheAritiesOfTheReducedMapsSummedOnce) {
  EXPECT_EQ(n_slots(loop_of_two_maps()), 3 + 2);
  EXPECT_EQ(n_slots(edge_loop()), 2);
  EXPECT_EQ(n_slots(make_loop({direct("x", Access::inc)})), 0);
}

TEST(CountingSlot, IsTheFirstOfAMapThatLeadsSomewhereFromAll) {
  EXPECT_EQ(counting_slot(loop_of_two_maps(), testing::no_facts(loop_of_two_maps())),
            0);  // Maps of Dats do
  const ir::MatArg matrix{DType::float64, 1, 1, Access::inc, 0, 1, true, false, testing::own_data};
  const ir::Loop rows = make_loop({{"A", matrix}}, {{2, 0}, {3, 1}});
  EXPECT_EQ(counting_slot(rows, {{}, {}}), std::nullopt);
  EXPECT_EQ(counting_slot(rows, {{.has_negative = false}, {}}), 0);
  const ir::Loop both =
      make_loop({{"A", matrix}, indirect("b", Access::inc, 2)}, {{2, 0}, {3, 1}, {1, 0}});
  EXPECT_EQ(counting_slot(both, {{}, {}, {}}), 2);
}

TEST(AddIncidence, AsksForTheInverseOfTheReducedMaps) {
  Workbench workshop(loop_of_two_maps(), {.widths = {.entry_bytes = 8, .target_bytes = 4}});
  const Incidence incidence = add_incidence(workshop.builder, Sizes::if_padded);
  EXPECT_EQ(incidence.maps, (std::vector<int>{1, 2}));
  EXPECT_EQ(incidence.n_slots, 5);
  EXPECT_EQ(incidence.offset.type.dtype, DType::int64);
  EXPECT_EQ(incidence.entry.type.dtype, DType::int64);
  EXPECT_EQ(incidence.target.type.dtype, DType::int32);
  EXPECT_EQ(workshop.builder.module().plan, kir::PlanSpec(abi::InversePlan{{{1, 2}}}));
}

TEST(OfTarget, ListsThemOnlyIfTheyAreListed) {
  Workbench workshop(edge_loop());
  const Incidence incidence = add_incidence(workshop.builder, Sizes::if_padded);
  EXPECT_EQ(incidence_dump(
                of_target(workshop.builder, incidence, {{kir::CallUser{{kir::name("target")}}}})),
            "  decl const int64 target = select(touched, touched[t], t)\n"
            "  kernel(target)\n");
}

TEST(ForIncidences, SplitsAnEntryIntoElementAndSlot) {
  Workbench workshop(edge_loop());
  const Incidence incidence = add_incidence(workshop.builder, Sizes::if_padded);
  EXPECT_EQ(incidence_dump(for_incidences(workshop.builder, incidence,
                                          {{kir::CallUser{{kir::name("n"), kir::name("o")}}}})),
            "  for serial k in [incidence_offset[t], incidence_offset[(t + 1)])\n"
            "    decl const int64 n = (incidence[k] / 2)\n"
            "    decl const int64 o = (incidence[k] - (n * 2))\n"
            "    kernel(n, o)\n");
}

TEST(ForIncidences, PaddedOnesAreColumnsThatMayHaveHoles) {
  Workbench workshop(edge_loop(), {.widths = {.padded = true}}, testing::grid);
  const Incidence incidence = add_incidence(workshop.builder, Sizes::if_padded);
  EXPECT_EQ(workshop.builder.module().plan, kir::PlanSpec(abi::PaddedPlan{{{0}}}));
  EXPECT_EQ(incidence.sizes.array, kir::PlanArray::sizes);
  EXPECT_EQ(incidence.entry.array, kir::PlanArray::incidences);
  EXPECT_EQ(incidence_dump(for_incidences(workshop.builder, incidence,
                                          {{kir::CallUser{{kir::name("n"), kir::name("o")}}}})),
            "  decl int64 next = select((0 < n_columns), incidence[t], -1)\n"
            "  for serial k in [0, n_columns)\n"
            "    decl const int64 entry = next\n"
            "    next = select(((k + 1) < n_columns), incidence[(((k + 1) * n_rows) + t)], -1)\n"
            "    if (-1 < entry)\n"
            "      decl const int64 n = (entry / 2)\n"
            "      decl const int64 o = (entry - (n * 2))\n"
            "      kernel(n, o)\n");
}

TEST(Accumulators, SumsMayBeAddedAtLast) {
  Workbench workshop(
      make_loop({indirect("a", Access::inc, 0), indirect("b", Access::min, 0)}, {{2, 0}}),
      {.tuning = {.sums_added_last = true}});
  const std::vector<std::string> names = take_accumulators(workshop.builder);
  EXPECT_EQ(incidence_dump(load_accumulators(workshop.builder, names)),
            "  decl float64 a_own[1]\n"
            "  copy 1 of a_own[c] = 0\n"
            "  decl float64 b_own[1]\n"
            "  copy 1 of b_own[c] = b[(target + c)]\n");
  EXPECT_EQ(incidence_dump(store_accumulators(workshop.builder, names)),
            "  copy 1 of a[(target + c)] += a_own[c]\n"
            "  copy 1 of b[(target + c)] = b_own[c]\n");
}

TEST(Accumulators, OneForEachDat) {
  Workbench workshop(
      make_loop({indirect("a", Access::inc, 0, 1, {0, 0}), indirect("b", Access::inc, 0, 1, {1, 1}),
                 indirect("c", Access::inc, 1, 1, {0, 0})},
                {{2, 0}, {3, 0}}));
  const std::vector<std::string> names = take_accumulators(workshop.builder);
  EXPECT_EQ(names, (std::vector<std::string>{"a_own", "b_own", "a_own"}));
  EXPECT_EQ(incidence_dump(load_accumulators(workshop.builder, names)),
            "  decl float64 a_own[1]\n"
            "  copy 1 of a_own[c] = a[(target + c)]\n"
            "  decl float64 b_own[1]\n"
            "  copy 1 of b_own[c] = b[(target + c)]\n");
  EXPECT_EQ(incidence_dump(store_accumulators(workshop.builder, names)),
            "  copy 1 of a[(target + c)] = a_own[c]\n"
            "  copy 1 of b[(target + c)] = b_own[c]\n");
}

/// The share of argument @p arg, added to `own` from `values`.
std::string share_of(const ir::Loop& loop, std::size_t arg, ShareFrom from,
                     const kir::Expr& at = kir::integer(0)) {
  Workbench workshop(loop);
  const Incidence incidence = add_incidence(workshop.builder, Sizes::if_padded);
  return incidence_dump(
      {{keep_share(workshop.builder, incidence, arg, "own", "values", at, from)}});
}

TEST(KeepShare, FromMemoryIsIndexedByTheSlot) {
  EXPECT_EQ(share_of(edge_loop(), 1, ShareFrom::memory), "  copy 1 of own[c] += values[(o + c)]\n");
}

TEST(KeepShare, WithSeveralMapsOnlyTheArgumentsOwnSlots) {
  EXPECT_EQ(share_of(loop_of_two_maps(), 1, ShareFrom::memory),
            "  if (o < 3)\n"
            "    copy 2 of own[c] += values[((o * 2) + c)]\n");
  EXPECT_EQ(share_of(loop_of_two_maps(), 2, ShareFrom::memory, kir::name("at")),
            "  if (2 < o)\n"
            "    if (o < 5)\n"
            "      copy 1 of own[c] += values[((at + (o - 3)) + c)]\n");
}

TEST(KeepShare, FromAPackOfFewSlotsIsSelected) {
  EXPECT_EQ(share_of(loop_of_two_maps(), 1, ShareFrom::pack),
            "  if (o < 3)\n"
            "    copy 2 of own[c] += select((o == 0), values[c], select((o == 1), values[(2 + c)], "
            "values[(4 + c)]))\n");
  EXPECT_EQ(share_of(loop_of_two_maps(), 2, ShareFrom::pack),
            "  if (2 < o)\n"
            "    if (o < 5)\n"
            "      copy 1 of own[c] += select((o == 3), values[c], values[(1 + c)])\n");
}

TEST(KeepShare, FromAPackOfManySlotsIsIndexed) {
  EXPECT_EQ(share_of(make_loop({indirect("y", Access::min, 0)}, {{5, 0}}), 0, ShareFrom::pack),
            "  copy 1 of own[c] min= values[(o + c)]\n");
}

}  // namespace
}  // namespace op2::lower
