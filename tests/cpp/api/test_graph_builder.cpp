// SPDX-License-Identifier: BSD-3-Clause
#include "api/graph_builder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "api/loops.hpp"
#include "api/report.hpp"
#include "base/error.hpp"
#include "exec/portable.hpp"

namespace op2 {
namespace {

using testing::contains;
using testing::message_of;

/// What a compiled loop `target[i] += source[i]` is.
int built_add(const op2_context_v1* /*context*/, long begin, long end, void* const* argv,
              unsigned int /*argc*/) {
  auto* target = static_cast<double*>(argv[0]);
  const auto* source = static_cast<const double*>(argv[1]);
  for (long i = begin; i < end; ++i) target[i] += source[i];
  return 0;
}

std::string built_executable() {
  exec::Executable made;
  made.name = "add";
  made.strategy = "direct";
  made.arguments = {{"target", {DType::float64, false, true}, true, abi::Role::data, 0},
                    {"source", {DType::float64, true, true}, true, abi::Role::data, 1}};
  made.data = {{Access::rw}, {Access::read}};
  return exec::canonical(made);
}

class BuiltGraph : public ::testing::Test {
 protected:
  BuiltGraph() { init({"sequential", 1}); }
  ~BuiltGraph() override { init({}); }

  Loop add(const Dat<double>& target, const Dat<double>& source) const {
    const api::LoopText loop{"add", {}, {{"sequential", built_add, text.c_str(), 0, {}, {}}}};
    return api::made_loop(loop, cells, {{{target.state(), -1}, {source.state(), -1}}, {}, {}});
  }

  std::string text = built_executable();
  Set cells{2, "cells"};
  std::vector<double> a{1.0, 2.0};
  std::vector<double> b{10.0, 20.0};
  std::vector<double> c{100.0, 200.0};
  Dat<double> x{cells, a, "x"};
  Dat<double> y{cells, b, "y"};
  Dat<double> z{cells, c, "z"};
};

TEST_F(BuiltGraph, RunsItsNodesInOrder) {
  const GraphBuilder builder("step");
  const GraphNode left = builder.then(add(x, z));
  const GraphNode right = builder.then(add(y, z));
  builder.when_all({left, right}).then(add(x, y)).then_fill(y, 1.0).then_copy(y, z);
  Graph step = builder.instantiate();
  EXPECT_EQ(a, (std::vector<double>{1.0, 2.0}));
  step.submit();
  EXPECT_EQ(a, (std::vector<double>{211.0, 422.0}));
  EXPECT_EQ(b, (std::vector<double>{1.0, 1.0}));
  EXPECT_EQ(c, b);
  step.submit(2);
  EXPECT_EQ(a, (std::vector<double>{217.0, 428.0}));
  EXPECT_EQ(step.name(), "step");
  EXPECT_EQ(step.inputs(), (std::vector<std::string>{"x", "z", "y"}));
  EXPECT_EQ(step.outputs(), (std::vector<std::string>{"x", "z", "y"}));
  step.values<double>("x")[0] = 0.0;
  step.submit();
  EXPECT_EQ(a[0], 3.0);
  const std::string table = report().text();
  EXPECT_TRUE(contains(table, "add", "sequential", "direct")) << table;
}

TEST_F(BuiltGraph, ScansByThreeOperations) {
  std::vector<std::int32_t> counts{5, 3};
  std::vector<std::int64_t> offsets(2);
  const Dat<std::int32_t> n(cells, counts, "n");
  const Dat<std::int64_t> to(cells, offsets, "offsets");
  const GraphBuilder builder("scans");
  builder.root().then_scan(x, y).then_scan(y, z, Access::max, true);
  builder.root().then_scan(n, to, Access::min);
  builder.instantiate().submit();
  EXPECT_EQ(b, (std::vector<double>{0.0, 1.0}));
  EXPECT_EQ(c, (std::vector<double>{0.0, 1.0}));
  EXPECT_EQ(offsets, (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), 5}));
  const GraphBuilder racing("scans");
  racing.root().then_scan(x, y);
  racing.root().then_scan(y, z);
  EXPECT_THROW((void)racing.instantiate(), UsageError);
  EXPECT_EQ(message_of<UsageError>([&] { builder.root().then_scan(x, y, Access::write); }),
            "graph: scan: the operation is Access::inc for sums, min or max, got WRITE");
}

TEST_F(BuiltGraph, RepeatsNodesWhileAConditionHolds) {
  const Set one(1, "one");
  std::vector<double> sum{0.0};
  std::vector<double> step{1.5};
  const Global<double> total(sum, "total");
  const Global<double> more(step, "more");
  const auto count = [&] {
    const api::LoopText loop{"count", {}, {{"sequential", built_add, text.c_str(), 0, {}, {}}}};
    return api::made_loop(loop, one, {{{total.state(), -1}, {more.state(), -1}}, {}, {}});
  };
  const GraphBuilder builder("until");
  int n_bodies = 0;
  const GraphNode all = builder.while_(total < 6, 100, [&](const GraphBuilder& again) {
    again.then(count()).then_fill(x, 7.0);
    ++n_bodies;
  });
  all.then(add(y, x));
  Graph graph = builder.instantiate();
  EXPECT_EQ(n_bodies, 1);
  EXPECT_EQ(sum[0], 0.0);
  graph.submit();
  EXPECT_EQ(sum[0], 6.0);
  EXPECT_EQ(b, (std::vector<double>{17.0, 27.0}));
  graph.submit();  // no pass, the node behind runs
  EXPECT_EQ(sum[0], 6.0);
  EXPECT_EQ(b, (std::vector<double>{24.0, 34.0}));
  EXPECT_EQ(graph.inputs(), (std::vector<std::string>{"total", "more", "x", "y"}));
  EXPECT_EQ(graph.outputs(), (std::vector<std::string>{"total", "x", "y"}));
  const GraphBuilder bounded("most");
  bounded.while_(total > more, 3, [&](const GraphBuilder& again) {
    again.while_(more >= 100.0, 5, [&](const GraphBuilder& inner) { inner.then(count()); });
    again.then(count());
  });
  EXPECT_THROW((void)bounded.instantiate(), UsageError);  // nothing orders the two
  const GraphBuilder nested("most");
  nested.while_(total > more, 3, [&](const GraphBuilder& again) {
    again.while_(total <= 8.0, 2, [&](const GraphBuilder& inner) { inner.then(count()); })
        .then(count());
  });
  nested.instantiate().submit();
  EXPECT_EQ(sum[0], 6.0 + 2 * 1.5 + 3 * 1.5);
}

TEST_F(BuiltGraph, ChecksTheNodesOfARepetition) {
  std::vector<double> left{1.0};
  const Global<double> residual(left, "residual");
  const GraphBuilder inside("inside");
  inside.while_(residual > 0.25, 10, [&](const GraphBuilder& again) {
    again.then(add(x, y));
    again.then(add(y, z));
  });
  EXPECT_EQ(message_of<UsageError>([&] { (void)inside.instantiate(); }),
            "graph 'while residual > 0.25': nothing orders nodes that use the same data, and one "
            "of them writes it:\n  node 0 'add' and node 1 'add': y\nput one behind the other with "
            "then() or when_all()");
  const GraphBuilder outside("outside");
  const GraphNode before = outside.then(add(x, y));
  outside.while_(residual > 0.25, 10, [&](const GraphBuilder& again) { again.then(add(z, x)); });
  EXPECT_TRUE(testing::contains(message_of<UsageError>([&] { (void)outside.instantiate(); }),
                                "node 0 'add' and node 1 'while residual > 0.25': x"));
  const GraphBuilder condition("condition");
  condition.while_(residual > 0.25, 10, [&](const GraphBuilder& again) { again.then(add(z, x)); });
  condition.root().then_fill(residual, 0.0);
  EXPECT_THROW((void)condition.instantiate(), UsageError);
}

TEST_F(BuiltGraph, RefusesRepetitionsThatMakeNoSense) {
  std::vector<std::int32_t> left{1};
  const Global<std::int32_t> n(left, "n");
  EXPECT_TRUE((n > 0.5).holds());
  EXPECT_TRUE((n < 4'000'000'000U).holds());
  EXPECT_TRUE((n >= -1).holds());
  EXPECT_EQ((n <= -3).text(), "n <= -3");
  const GraphBuilder builder("none");
  EXPECT_EQ(message_of<UsageError>([&] { builder.while_(n > 0, 0, [](const GraphBuilder&) {}); }),
            "graph 'none': while_: most must be a positive number, got 0");
  EXPECT_THROW(builder.while_(n > 0, 5, nullptr), UsageError);
  std::vector<GraphBuilder> kept;
  builder.while_(n > 0, 5, [&](const GraphBuilder& again) { kept.push_back(again); });
  EXPECT_THROW(kept[0].then(add(x, y)), UsageError);
  EXPECT_THROW(builder.while_(n > 0, 5, [](const GraphBuilder&) { throw UsageError("no"); }),
               UsageError);
  builder.instantiate().submit();
}

TEST_F(BuiltGraph, NamesRaces) {
  const GraphBuilder builder("step");
  const GraphNode first = builder.then(add(x, y));
  (void)builder.then(add(y, z));
  const std::string message = message_of<UsageError>([&] { (void)builder.instantiate(); });
  EXPECT_EQ(message,
            "graph 'step': nothing orders nodes that use the same data, and one of them writes "
            "it:\n  node 0 'add' and node 1 'add': y\nput one behind the other with then() or "
            "when_all()");
  const GraphBuilder ordered("step");
  ordered.then(add(x, y)).then(add(y, z));
  EXPECT_NO_THROW((void)ordered.instantiate());
}

TEST_F(BuiltGraph, ValuesThatOverlapAreOne) {
  const Set one(1, "one");
  const Dat<double> tail(one, std::span<double>(a.data() + 1, 1), "tail");
  const GraphBuilder builder;
  (void)builder.then(add(x, z));
  builder.root().then_fill(tail, 0.0);
  EXPECT_THROW((void)builder.instantiate(), UsageError);
}

TEST_F(BuiltGraph, RefusesNodesOfOthersAndLateOnes) {
  const GraphBuilder builder("left");
  const GraphBuilder other("right");
  const GraphNode node = builder.then(add(x, y));
  EXPECT_EQ(message_of<UsageError>([&] { (void)other.when_all({node}); }),
            "graph 'right': when_all: a node belongs to graph 'left'");
  (void)builder.instantiate();
  EXPECT_EQ(message_of<UsageError>([&] { node.then(add(x, y)); }),
            "graph 'left' is built already, and takes no more nodes; make another "
            "op2::GraphBuilder");
  EXPECT_THROW((void)builder.instantiate(), UsageError);
  Graph nothing = other.instantiate();
  nothing.submit();
}

}  // namespace
}  // namespace op2
