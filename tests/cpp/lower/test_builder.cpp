// SPDX-License-Identifier: BSD-3-Clause
#include "lower/builder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::edge_loop;
using testing::global_read;
using testing::global_reduce;
using testing::indirect;
using testing::make_loop;
using testing::names_of;
using testing::one_lane;
using testing::threads;

/// A builder and all that it refers to.
struct Workshop {
  explicit Workshop(ir::Loop what, const Facts& where = threads, const Options& how = {})
      : loop(std::move(what)), facts(where), maps(testing::no_facts(loop)), options(how) {}

  ir::Loop loop;
  Facts facts;
  std::vector<MapFacts> maps;
  Options options;
  Request request{loop, Strategy::direct, facts, maps, options};
  Builder builder{request, pack(loop, maps, facts, options)};
};

std::string dump(const kir::Block& block) {
  kir::Module module;
  module.launch = block;
  const std::string text = kir::dump(module);
  return text.substr(text.find('\n') + 1);
}

ir::Loop reducing_loop() {
  return make_loop({direct("x", Access::read), global_reduce("s", Access::inc, 2),
                    global_reduce("m", Access::min, 9, DType::float32)});
}

TEST(BuilderArgv, HasDataThenConstsThenEachMapOnce) {
  const ir::Loop loop = make_loop({indirect("a", Access::read, 1), global_read("g"),
                                   indirect("b", Access::inc, 0), indirect("d", Access::read, 1)},
                                  {{2, 0}, {3, 1}});
  Workshop workshop(testing::with_consts(loop, {{"gam", DType::float64, 1}}));
  EXPECT_EQ(names_of(workshop.builder.module().argv),
            (std::vector<std::string>{"a", "g", "b", "d", "gam", "b_map", "a_map"}));
}

TEST(BuilderArgv, PlanArraysFollowInTheOrderTheyAreAskedForWithNumbersOfTheirOwn) {
  Workshop workshop(make_loop({direct("sizes", Access::write)}));
  const kir::Parameter first =
      workshop.builder.plan_array(kir::PlanArray::sizes, "sizes", DType::int64);
  const kir::Parameter second =
      workshop.builder.plan_array(kir::PlanArray::composed_rows, "a", DType::int32);
  const kir::Parameter third =
      workshop.builder.plan_array(kir::PlanArray::composed_rows, "b", DType::int32);
  EXPECT_EQ(first.name, "sizes_1");  // the user's parameter has the name already
  EXPECT_EQ(first.index, 0);
  EXPECT_EQ(first.array, kir::PlanArray::sizes);
  EXPECT_EQ(second.index, 0);
  EXPECT_EQ(third.index, 1);  // of its name
  EXPECT_EQ(second.role, kir::Role::plan);
  EXPECT_EQ(second.type, (kir::VariableType{DType::int32, true, true}));
  EXPECT_EQ(names_of(workshop.builder.module().argv),
            (std::vector<std::string>{"sizes", "sizes_1", "a", "b"}));
}

TEST(BuilderFunctions, LoseParametersThatTheyDoNotUse) {
  Workshop workshop(edge_loop());
  Builder& builder = workshop.builder;
  builder.add_function("wrap", builder.packed().parameters, "n",
                       {{kir::CallUser{{kir::name("y"), kir::name("x_map")}}}});
  EXPECT_EQ(names_of(builder.module().functions.front().parameters),
            (std::vector<std::string>{"x_map", "y"}));
}

TEST(BuilderFunctions, AreCalledWithTheirArraysAndASharedMap) {
  Workshop workshop(edge_loop());
  Builder& builder = workshop.builder;
  builder.add_function("wrap", builder.packed().parameters, "n", element_body(builder.packed()));
  // The wrapper has a map parameter for each argument; argv has the one Map that both use.
  EXPECT_EQ(names_of(builder.module().functions.front().parameters),
            (std::vector<std::string>{"x", "x_map", "y", "y_map"}));
  EXPECT_EQ(dump({builder.call("wrap", whole_begin(), whole_end(), kir::integer(0))}),
            "  call wrap(begin, end, x, x_map, y, x_map)\n");
}

TEST(BuilderFunctions, MustBeThereBeforeTheirCalls) {
  Workshop workshop(edge_loop());
  EXPECT_THROW((void)workshop.builder.call("wrap", whole_begin(), whole_end(), kir::integer(0)),
               InternalError);
}

TEST(BuilderElementBody, LoadsCallsAndStores) {
  Workshop workshop(edge_loop());
  EXPECT_EQ(dump(element_body(workshop.builder.packed())),
            "  decl float64 x_pack[2]\n"
            "  gather x_pack = float64 x[x_map[n] x2] x1\n"
            "  decl float64 y_pack[2] = 0\n"
            "  kernel(x_pack, y_pack)\n"
            "  scatter float64 y[y_map[n] x2] x1 += y_pack\n");
}

TEST(BuilderRanges, OneLaneTakesAll) {
  Workshop workshop(make_loop({direct("x", Access::write)}), one_lane);
  Builder& builder = workshop.builder;
  builder.add_function("wrap", builder.packed().parameters, "n", element_body(builder.packed()));
  EXPECT_EQ(dump(builder.over_range("wrap", whole_begin(), whole_end())),
            "  call wrap(begin, end, x)\n");
  EXPECT_FALSE(builder.spreads());
}

TEST(BuilderRanges, ThreadsTakeASlotEach) {
  Workshop workshop(make_loop({direct("x", Access::write)}));
  Builder& builder = workshop.builder;
  builder.add_function("wrap", builder.packed().parameters, "n", element_body(builder.packed()));
  EXPECT_EQ(dump(builder.over_range("wrap", whole_begin(), whole_end())),
            "  region\n"
            "    for thread slot in [0, @threads)\n"
            "      call wrap((begin + (((end - begin) * slot) / @threads)), "
            "(begin + (((end - begin) * (slot + 1)) / @threads)), x)\n");
}

TEST(BuilderRanges, AGridLaunchesAFunctionThatStrides) {
  Workshop workshop(edge_loop(), testing::grid);
  Builder& builder = workshop.builder;
  builder.add_function("wrap", builder.packed().parameters, "n", element_body(builder.packed()));
  const kir::Function& function = builder.module().functions.front();
  EXPECT_TRUE(function.is_kernel);
  EXPECT_EQ(names_of(function.parameters),
            (std::vector<std::string>{"x", "y", "x_map", "begin", "end"}));
  const auto& loop = std::get<kir::For>(function.body.front().node);
  EXPECT_EQ(loop.axis, kir::Axis::grid);
  EXPECT_EQ(loop.index, "n");
  EXPECT_EQ(dump(builder.over_range("wrap", kir::integer(3), kir::name("end"))),
            "  launch wrap over (end - 3) items (x, y, x_map, 3, end)\n");
}

TEST(BuilderRanges, DeterministicSlotsAreFixedChunks) {
  Workshop workshop(make_loop({direct("x", Access::write)}), threads,
                    {.semantics = {.deterministic = true}});
  Builder& builder = workshop.builder;
  const kir::Expr slot = kir::name("slot");
  const kir::Expr begin = whole_begin();
  const kir::Expr end = whole_end();
  EXPECT_EQ(kir::dump(builder.slots(begin, end)), "(((end - begin) + 2047) / 2048)");
  EXPECT_EQ(kir::dump(builder.slot_begin(begin, end, slot)), "(begin + (slot * 2048))");
  EXPECT_EQ(kir::dump(builder.slot_end(begin, end, slot)),
            "min((begin + ((slot + 1) * 2048)), end)");
}

TEST(BuilderPartials, FillWholeCacheLines) {
  Workshop workshop(reducing_loop());
  EXPECT_TRUE(workshop.builder.has_partials());
  EXPECT_EQ(workshop.builder.module().scratch.per_slot, 64 + 64);  // 2 doubles; 9 floats
  Workshop large(make_loop({global_reduce("s", Access::inc, 9)}));
  EXPECT_EQ(large.builder.module().scratch.per_slot, 128);
}

TEST(BuilderPartials, AreNotNeededOnOneLaneNorForEmptyGlobals) {
  EXPECT_FALSE(Workshop(reducing_loop(), one_lane).builder.has_partials());
  EXPECT_FALSE(Workshop(make_loop({global_reduce("s", Access::inc, 0)})).builder.has_partials());
  EXPECT_FALSE(Workshop(make_loop({global_read("g")})).builder.has_partials());
}

TEST(BuilderPartials, StartBeforeTheWorkAndAreCombinedAfterIt) {
  Workshop workshop(reducing_loop());
  Builder& builder = workshop.builder;
  builder.add_function("wrap", builder.packed().parameters, "n", element_body(builder.packed()));
  builder.finish({builder.call("wrap", whole_begin(), whole_end(), kir::name("slot"))},
                 kir::integer(7));
  EXPECT_EQ(dump(builder.module().launch),
            "  decl const int64 n_slots = 7\n"
            "  decl float64* s_partial = @scratch[0]\n"
            "  for serial slot in [0, n_slots)\n"
            "    copy 2 of s_partial[((slot * 8) + c)] = 0\n"
            "  decl float32* m_partial = @scratch[(n_slots * 64)]\n"
            "  for serial slot in [0, n_slots)\n"
            "    copy 9 of m_partial[((slot * 16) + c)] = m[c]\n"
            "  call wrap(begin, end, x, &s_partial[(slot * 8)], &m_partial[(slot * 16)])\n"
            "  for serial slot in [0, n_slots)\n"
            "    copy 2 of s[c] += s_partial[((slot * 8) + c)]\n"
            "  for serial slot in [0, n_slots)\n"
            "    copy 9 of m[c] min= m_partial[((slot * 16) + c)]\n");
}

TEST(BuilderPartials, OfThirtyTwoBitsAreSumsOfChunksOnOneLaneToo) {
  for (const DType dtype : {DType::float32, DType::complex64}) {
    Workshop workshop(
        make_loop({global_reduce("s", Access::inc, 1, dtype), global_reduce("t", Access::inc, 1)}),
        one_lane);
    EXPECT_TRUE(workshop.builder.has_partials());
    EXPECT_TRUE(workshop.builder.has_chunks());
    EXPECT_EQ(workshop.builder.module().scratch.per_slot, 64);  // the double is added to at once
  }
  EXPECT_FALSE(Workshop(make_loop({global_reduce("m", Access::min, 1, DType::float32)}), one_lane)
                   .builder.has_chunks());
}

TEST(BuilderPartials, OfThirtyTwoBitsAreAddedInRuns) {
  Workshop workshop(make_loop({global_reduce("s", Access::inc, 2, DType::float32)}), one_lane);
  Builder& builder = workshop.builder;
  builder.add_function("wrap", builder.packed().parameters, "n", element_body(builder.packed()));
  builder.finish(builder.over_range("wrap", whole_begin(), whole_end()), kir::integer(7));
  EXPECT_EQ(dump(builder.module().launch),
            "  decl const int64 n_slots = 7\n"
            "  decl float32* s_partial = @scratch[0]\n"
            "  for serial slot in [0, n_slots)\n"
            "    copy 2 of s_partial[((slot * 16) + c)] = 0\n"
            "  for serial slot in [0, (((end - begin) + 2047) / 2048))\n"
            "    call wrap((begin + (slot * 2048)), min((begin + ((slot + 1) * 2048)), end), "
            "&s_partial[(slot * 16)])\n"
            "  for serial first_slot in [0, n_slots) by 128\n"
            "    for serial slot in [(first_slot + 1), min((first_slot + 128), n_slots))\n"
            "      copy 2 of s_partial[((first_slot * 16) + c)] += s_partial[((slot * 16) + c)]\n"
            "    copy 2 of s[c] += s_partial[((first_slot * 16) + c)]\n");
}

TEST(BuilderItemResults, LieBehindTheSlotsOneArrayAfterTheOther) {
  Workshop workshop(make_loop({indirect("y", Access::inc, 0, 3, testing::own_data, DType::float32),
                               indirect("z", Access::inc, 0, 1), global_reduce("s", Access::inc)},
                              {{2, 0}}));
  Builder& builder = workshop.builder;
  const kir::Parameter y = builder.item_results(0, 6);
  EXPECT_EQ(y.name, "y_scratch");
  EXPECT_EQ(y.role, kir::Role::local);
  EXPECT_EQ(y.type, (kir::VariableType{DType::float32, false, true}));
  (void)builder.item_results(1, 2);
  EXPECT_EQ(builder.module().scratch.per_item, 32 + 16);  // 24 bytes in steps of the widest scalar
  builder.finish({}, kir::integer(1));
  const std::string text = dump(builder.module().launch);
  EXPECT_NE(text.find("decl float32* y_scratch = @scratch[(n_slots * 64)]\n"), std::string::npos)
      << text;
  EXPECT_NE(
      text.find("decl float64* z_scratch = @scratch[((n_slots * 64) + ((end - begin) * 32))]"),
      std::string::npos)
      << text;
}

TEST(Builder, NamesTheLaunchAfterTheKernel) {
  Workshop workshop(edge_loop());
  EXPECT_EQ(workshop.builder.module().launch_name, "op2_launch_res");
  EXPECT_EQ(workshop.builder.module().name, workshop.loop.members[0].kernel->name);
  ASSERT_EQ(workshop.builder.module().kernels.size(), 1U);
  EXPECT_EQ(workshop.builder.module().kernels[0]->key, workshop.loop.members[0].kernel->key);
}

}  // namespace
}  // namespace op2::lower
