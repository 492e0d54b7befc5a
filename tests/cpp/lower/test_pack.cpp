// SPDX-License-Identifier: BSD-3-Clause
#include "lower/pack.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "loops.hpp"
#include "lower/builder.hpp"
#include "lower/make.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::edges_to_nodes;
using testing::global_read;
using testing::global_reduce;
using testing::indirect;
using testing::make_loop;
using testing::names_of;

constexpr Options by_argument{.semantics = {.convention = 1}};
constexpr Options by_array{.semantics = {.convention = 2}};

PackedLoop packed(const ir::Loop& loop, const Options& options = {}) {
  return pack(loop, testing::no_facts(loop), testing::threads, options);
}

/// Load, call and store as text.
std::string body_of(const ir::Loop& loop, const Options& options = {}) {
  const PackedLoop body = packed(loop, options);
  kir::Module module;
  module.launch = loads(body);
  append_call(module.launch, body);
  append(module.launch, stores(body));
  const std::string text = kir::dump(module);
  return text.substr(text.find('\n') + 1);
}

std::string body_of(Access access) {
  return body_of(make_loop({indirect("y", access, 0)}, edges_to_nodes()));
}

const kir::Parameter& parameter(const PackedLoop& body, const std::string& name) {
  for (const kir::Parameter& candidate : body.parameters) {
    if (candidate.name == name) return candidate;
  }
  throw InternalError("no parameter " + name);
}

/// One Dat read through two Maps and incremented through one of them.
ir::Loop shared_dat() {
  return make_loop(
      {indirect("p", Access::read, 0, 2, {0, 0}), direct("q", Access::write),
       indirect("r", Access::inc, 1, 2, {0, 0}), indirect("s", Access::read, 0, 2, {0, 0})},
      {{2, 0}, {3, 0}});
}

TEST(PackConventions, OnePassesAMapAfterEveryArgument) {
  EXPECT_EQ(names_of(packed(shared_dat(), by_argument).parameters),
            (std::vector<std::string>{"p", "p_map", "q", "r", "r_map", "s", "s_map"}));
}

TEST(PackConventions, OnePassesWhatIsReadTwiceTwice) {
  const ir::Loop loop = make_loop(
      {indirect("p", Access::read, 0, 2, {0, 0}), indirect("s", Access::read, 0, 2, {0, 0})},
      {{2, 0}});
  const PackedLoop body = packed(loop, by_argument);
  EXPECT_EQ(body.args[1].pack, body.args[0].pack);  // gathered once
  EXPECT_EQ(body.kept, (std::vector<std::string>{"s", "s_map"}));
  EXPECT_TRUE(packed(loop, by_array).kept.empty());
}

TEST(PackConventions, TwoPassesEveryArrayOnce) {
  const PackedLoop body = packed(shared_dat(), by_array);
  EXPECT_EQ(names_of(body.parameters), (std::vector<std::string>{"p", "p_map", "q", "r_map"}));
  EXPECT_FALSE(parameter(body, "p").type.is_const);  // r, the same Dat, is incremented
  EXPECT_EQ(body.args[2].data, "p");
  EXPECT_EQ(body.args[3].data, "p");
  EXPECT_EQ(body.args[3].map, "p_map");
}

TEST(Pack, NarrowMemoryIsNeverHandedToTheKernel) {
  ir::Loop loop = make_loop({direct("q", Access::rw, 2)});
  EXPECT_EQ(packed(loop).args[0].pack, "");
  std::get<ir::DirectDat>(static_cast<ir::Arg&>(loop.args[0])).stored = DType::float32;
  const PackedLoop body = packed(loop);
  EXPECT_EQ(body.args[0].pack, "q_pack");
  EXPECT_EQ(parameter(body, "q").type.dtype, DType::float32);
  EXPECT_EQ(std::get<kir::Decl>(body.args[0].decl.front().node).type.dtype, DType::float64);
  EXPECT_EQ(std::get<kir::Gather>(body.args[0].load.front().node).rows.stored, DType::float32);
  EXPECT_EQ(std::get<kir::Scatter>(body.args[0].store.front().node).rows.stored, DType::float32);
}

TEST(Pack, StatementsKeepTheNumberOfTheirArgument) {
  const ir::Loop loop = make_loop({direct("q", Access::write), indirect("p", Access::read, 0),
                                   indirect("r", Access::inc, 0), global_reduce("s", Access::min)},
                                  edges_to_nodes());
  const PackedLoop body = packed(loop);
  const auto numbers = [](const kir::Block& block) {
    std::vector<int> found;
    for (const kir::Stmt& stmt : block) {
      std::visit(
          [&found](const auto& node) {
            if constexpr (requires { node.arg; }) found.push_back(node.arg);
          },
          stmt.node);
    }
    return found;
  };
  // the row of q is handed over where it is; r starts at zero
  EXPECT_EQ(numbers(loads(body)), (std::vector<int>{1, 1, 2, 3, 3}));
  EXPECT_EQ(numbers(stores(body)), (std::vector<int>{2, 3}));
}

TEST(PackConventions, ParametersSayWhatTheyStandFor) {
  const PackedLoop body = packed(shared_dat(), by_argument);
  EXPECT_EQ(parameter(body, "r").role, kir::Role::data);
  EXPECT_EQ(parameter(body, "r").index, 2);
  EXPECT_EQ(parameter(body, "r_map").role, kir::Role::map);
  EXPECT_EQ(parameter(body, "r_map").index, 1);
  EXPECT_EQ(parameter(body, "s_map").index, 0);
  EXPECT_TRUE(parameter(body, "p").type.is_const);
  EXPECT_FALSE(parameter(body, "q").type.is_const);
}

TEST(PackConventions, MapsHaveTheWidthOfTheirIndices) {
  const ir::Loop loop =
      make_loop({indirect("x", Access::read, 0), indirect("y", Access::inc, 1)}, {{1, 0}, {1, 0}});
  const PackedLoop body = pack(loop, {{}, {.index_bytes = 8}}, testing::threads, {});
  EXPECT_EQ(parameter(body, "x_map").type, (kir::VariableType{DType::int32, true, true}));
  EXPECT_EQ(parameter(body, "y_map").type, (kir::VariableType{DType::int64, true, true}));
}

TEST(PackConventions, ConstsComeLast) {
  ir::Loop loop = make_loop({direct("x", Access::write)});
  loop.constants = {{"gam", DType::float64, 1}, {"qinf", DType::float32, 4}};
  const PackedLoop body = packed(loop);
  EXPECT_EQ(names_of(body.parameters), (std::vector<std::string>{"x", "gam", "qinf"}));
  EXPECT_EQ(parameter(body, "qinf").role, kir::Role::constant);
  EXPECT_EQ(parameter(body, "qinf").index, 1);
  EXPECT_EQ(body_of(loop), "  kernel(&x[n], gam[0], qinf)\n");  // one value is passed by value
}

TEST(PackRestrict, OnlyWithoutAliasingWrites) {
  const auto is_restrict = [](Access first, Access second, ir::Alias alias) {
    const PackedLoop body = packed(
        make_loop({direct("x", first, 1, {0, 0}), direct("y", second, 1, alias)}), by_argument);
    EXPECT_EQ(parameter(body, "x").is_restrict, parameter(body, "y").is_restrict);
    return parameter(body, "x").is_restrict;
  };
  EXPECT_TRUE(is_restrict(Access::read, Access::write, {1, 1}));
  EXPECT_FALSE(is_restrict(Access::read, Access::write, {0, 0}));
  EXPECT_FALSE(is_restrict(Access::rw, Access::read, {1, 0}));  // another Dat, the same memory
  EXPECT_TRUE(is_restrict(Access::read, Access::read, {0, 0}));
}

TEST(PackByAccess, ReadsGatherOnly) {
  EXPECT_EQ(body_of(Access::read),
            "  decl float64 y_pack[2]\n"
            "  gather y_pack = float64 y[y_map[n] x2] x1\n"
            "  kernel(y_pack)\n");
}

TEST(PackByAccess, IncrementsAndWritesStartAtZero) {
  EXPECT_EQ(body_of(Access::inc),
            "  decl float64 y_pack[2] = 0\n"
            "  kernel(y_pack)\n"
            "  scatter float64 y[y_map[n] x2] x1 += y_pack\n");
  EXPECT_EQ(body_of(Access::write),
            "  decl float64 y_pack[2] = 0\n"
            "  kernel(y_pack)\n"
            "  scatter float64 y[y_map[n] x2] x1 = y_pack\n");
}

TEST(PackByAccess, WhatDependsOnTheOldValueGathersIt) {
  for (const auto& [access, symbol] : std::vector<std::pair<Access, std::string>>{
           {Access::rw, "="}, {Access::min, "min="}, {Access::max, "max="}}) {
    EXPECT_EQ(body_of(access),
              "  decl float64 y_pack[2]\n"
              "  gather y_pack = float64 y[y_map[n] x2] x1\n"
              "  kernel(y_pack)\n"
              "  scatter float64 y[y_map[n] x2] x1 " +
                  symbol + " y_pack\n");
  }
}

TEST(PackByAccess, DirectArgumentsAreLivePointers) {
  EXPECT_EQ(body_of(make_loop({direct("x", Access::read, 3), direct("y", Access::inc),
                               direct("z", Access::write, 2)})),
            "  kernel(&x[(n * 3)], &y[n], &z[(n * 2)])\n");
}

TEST(PackByAccess, GlobalsAreReadInPlaceAndReducedInPrivate) {
  EXPECT_EQ(body_of(make_loop({global_read("g", 2), global_reduce("s", Access::inc, 2)})),
            "  decl float64 s_pack[2] = 0\n"
            "  kernel(g, s_pack)\n"
            "  copy 2 of s[c] += s_pack[c]\n");
  EXPECT_EQ(body_of(make_loop({global_reduce("m", Access::max)})),
            "  decl float64 m_pack[1]\n"
            "  copy 1 of m_pack[c] = m[c]\n"
            "  kernel(m_pack)\n"
            "  copy 1 of m[c] max= m_pack[c]\n");
}

TEST(PackByAccess, DimZeroStillHandsTheKernelAPointer) {
  EXPECT_EQ(body_of(make_loop({indirect("y", Access::inc, 0, 0)}, edges_to_nodes())),
            "  decl float64 y_pack[1] = 0\n"
            "  kernel(y_pack)\n"
            "  scatter float64 y[y_map[n] x2] x0 += y_pack\n");
}

TEST(PackSharing, OneDatReadTwiceThroughOneMapIsGatheredOnce) {
  const ir::Loop loop = make_loop(
      {indirect("a", Access::read, 0, 1, {0, 0}), indirect("b", Access::read, 0, 1, {0, 0})},
      edges_to_nodes());
  const PackedLoop body = packed(loop);
  EXPECT_EQ(body.args[1].pack, "a_pack");
  EXPECT_EQ(body.args[0].decl.size(), 1U);
  EXPECT_EQ(body.args[0].load.size(), 1U);
  EXPECT_TRUE(body.args[1].decl.empty());
  EXPECT_TRUE(body.args[1].load.empty());
  EXPECT_EQ(body_of(loop),
            "  decl float64 a_pack[2]\n"
            "  gather a_pack = float64 a[a_map[n] x2] x1\n"
            "  kernel(a_pack, a_pack)\n");
}

TEST(PackSharing, NothingElseShares) {
  const auto n_gathers = [](const testing::NamedArg& first, const testing::NamedArg& second) {
    const ir::Loop loop = make_loop({first, second}, {{2, 0}, {2, 0}});
    return testing::count<kir::Gather>(loads(packed(loop)));
  };
  const testing::NamedArg a = indirect("a", Access::read, 0, 1, {0, 0});
  EXPECT_EQ(n_gathers(a, indirect("b", Access::read, 0, 1, {1, 1})), 2);  // another Dat
  EXPECT_EQ(n_gathers(a, indirect("b", Access::read, 1, 1, {0, 0})), 2);  // another Map
  EXPECT_EQ(n_gathers(a, indirect("b", Access::rw, 0, 1, {0, 0})), 2);    // another access
}

TEST(PackNames, ClashWithNothingOfTheWrapper) {
  const ir::Loop loop = make_loop({direct("n", Access::read), direct("begin", Access::read),
                                   direct("res", Access::read), direct("context", Access::write)});
  EXPECT_EQ(names_of(packed(loop).parameters),
            (std::vector<std::string>{"n_1", "begin_1", "res_1", "context_1"}));
}

TEST(PackNames, AreNumberedWhereTheKernelHasNone) {
  ir::Loop loop = make_loop({direct("x", Access::read), direct("y", Access::write)});
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  kernel->parameters[0].name = "";
  kernel->parameters.pop_back();
  loop.members[0].kernel = kernel;
  EXPECT_EQ(names_of(packed(loop).parameters), (std::vector<std::string>{"arg0", "arg1"}));
}

TEST(UpdateOf, EveryAccessThatWrites) {
  EXPECT_EQ(update_of(Access::write), kir::Update::set);
  EXPECT_EQ(update_of(Access::rw), kir::Update::set);
  EXPECT_EQ(update_of(Access::inc), kir::Update::add);
  EXPECT_EQ(update_of(Access::min), kir::Update::min);
  EXPECT_EQ(update_of(Access::max), kir::Update::max);
  EXPECT_THROW((void)update_of(Access::read), InternalError);
}

// ------------------------------------------------------------------------------------------ grids

/// Parameters, and load, call and store as text.
std::pair<std::vector<std::string>, std::string> on_grid(const ir::Loop& loop,
                                                         bool one_address_space = true) {
  Facts facts = testing::grid;
  facts.one_address_space = one_address_space;
  const PackedLoop body = pack(loop, testing::no_facts(loop), facts, {});
  kir::Module module;
  module.launch = loads(body);
  append_call(module.launch, body);
  append(module.launch, stores(body));
  const std::string text = kir::dump(module);
  return {names_of(body.parameters), text.substr(text.find('\n') + 1)};
}

TEST(PackOnGrids, ParametersAreSortedAsDocument003SaysForDevices) {
  ir::Loop loop =
      make_loop({global_reduce("s", Access::inc), indirect("x", Access::read, 0),
                 global_read("g", 2), direct("y", Access::write), indirect("z", Access::inc, 0)},
                edges_to_nodes());
  loop.constants = {{"gam", DType::float64, 1}};
  EXPECT_EQ(on_grid(loop).first,
            (std::vector<std::string>{"x", "y", "z", "g", "s", "gam", "x_map"}));
}

TEST(PackOnGrids, DirectArgumentsLoadAndStore) {
  EXPECT_EQ(on_grid(make_loop({direct("x", Access::rw, 2)})).second,
            "  decl float64 x_pack[2]\n"
            "  gather x_pack = float64 x[n] x2\n"
            "  kernel(x_pack)\n"
            "  scatter float64 x[n] x2 = x_pack\n");
  EXPECT_EQ(on_grid(make_loop({direct("x", Access::read)})).second,
            "  decl float64 x_pack[1]\n"
            "  gather x_pack = float64 x[n] x1\n"
            "  kernel(x_pack)\n");
}

TEST(PackOnGrids, AWriteLoadsUnlessTheKernelIsKnownToWriteAll) {
  const ir::Loop written = make_loop({direct("x", Access::write, 2)});
  EXPECT_EQ(on_grid(written).second.find("gather"), std::string::npos);
  EXPECT_NE(on_grid(testing::with_opaque_kernel(written)).second.find("gather"), std::string::npos);
}

TEST(PackOnGrids, WhatRwDoesNotLookAtIsNotLoaded) {
  ir::Loop unseen = make_loop({direct("x", Access::write, 2)});
  std::get<ir::DirectDat>(unseen.args[0]).access = Access::rw;
  EXPECT_EQ(on_grid(unseen).second,
            "  decl float64 x_pack[2]\n"
            "  kernel(x_pack)\n"
            "  scatter float64 x[n] x2 = x_pack\n");
}

TEST(PackOnGrids, ArgumentsOfOneDatShareAPack) {
  const auto [parameters, text] = on_grid(
      make_loop({direct("a", Access::read, 1, {0, 0}), direct("b", Access::write, 1, {0, 0})}));
  EXPECT_EQ(parameters, (std::vector<std::string>{"a"}));
  EXPECT_EQ(text,
            "  decl float64 a_pack[1]\n"
            "  gather a_pack = float64 a[n] x1\n"
            "  kernel(a_pack, a_pack)\n"
            "  scatter float64 a[n] x1 = a_pack\n");
}

TEST(PackOnGrids, GlobalsAndConstsAreCopiedIfPrivateMemoryIsApart) {
  ir::Loop loop = make_loop({global_read("g", 2)});
  loop.constants = {{"gam", DType::float64, 1}, {"q", DType::float64, 4}};
  EXPECT_EQ(on_grid(loop, true).second, "  kernel(g, gam[0], q)\n");
  EXPECT_EQ(on_grid(loop, false).second,
            "  decl float64 g_pack[2]\n"
            "  gather g_pack = float64 g[0] x2\n"
            "  decl float64 q_pack[4]\n"
            "  gather q_pack = float64 q[0] x4\n"
            "  kernel(g_pack, gam[0], q_pack)\n");
}

}  // namespace
}  // namespace op2::lower
