// SPDX-License-Identifier: BSD-3-Clause
#include "api/graph_builder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
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
