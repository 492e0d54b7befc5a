// SPDX-License-Identifier: BSD-3-Clause
#include "api/graphs.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "../base/message_of.hpp"
#include "../base/own_path.hpp"

namespace op2 {
namespace {

using testing::message_of;

class SavedGraph : public ::testing::Test {
 protected:
  Set cells{3, "cells"};
  std::vector<double> a{1.0, 2.0, 4.0};
  std::vector<std::int32_t> n{1, 2, 3, 4, 5, 6};
  std::vector<std::int32_t> sums = std::vector<std::int32_t>(6);
  std::vector<double> b = std::vector<double>(3);
  std::vector<double> left{5.0};
  Dat<double> from{cells, a, "from"};
  Dat<double> to{cells, b, "to"};
  Dat<std::int32_t, 2> counts{cells, n, "counts"};
  Dat<std::int32_t, 2> offsets{cells, sums, "offsets"};
  Global<double> residual{left, "residual"};
};

TEST_F(SavedGraph, DoesItsStepsInOrder) {
  api::GraphSteps steps;
  steps.copy(from, to);
  steps.fill(from, 0.5);
  steps.scan(counts, offsets);
  Graph graph("steps", std::move(steps), {});
  graph.submit();
  EXPECT_EQ(b, (std::vector<double>{1.0, 2.0, 4.0}));
  EXPECT_EQ(a, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(sums, (std::vector<std::int32_t>{0, 0, 1, 2, 4, 6}));
  graph.submit(2);
  EXPECT_EQ(b, a);
}

TEST_F(SavedGraph, ScansInPlace) {
  api::GraphSteps steps;
  steps.scan(counts, counts);
  Graph("scan", std::move(steps), {}).submit();
  EXPECT_EQ(n, (std::vector<std::int32_t>{0, 0, 1, 2, 4, 6}));
}

TEST_F(SavedGraph, CopiesIntoWiderTypes) {
  std::vector<std::complex<double>> wide(3);
  std::vector<float> narrow{0.5F, 1.5F, 2.5F};
  const Dat<std::complex<double>> target(cells, wide);
  const Dat<float> source(cells, narrow);
  api::GraphSteps steps;
  steps.copy(source, target);
  Graph("copy", std::move(steps), {}).submit();
  EXPECT_EQ(wide[2], std::complex<double>(2.5, 0.0));
}

TEST_F(SavedGraph, RepeatsAsLongAsItsConditionHolds) {
  int n_passes = 0;
  api::GraphSteps once;
  once.fill(to, 3.0);
  api::GraphSteps steps;
  steps.repeat(
      [this, &n_passes] {
        left[0] -= 1.0;
        ++n_passes;
        return left[0] > 2.5;
      },
      100, once);
  Graph graph("while", std::move(steps), {});
  graph.submit();
  EXPECT_EQ(n_passes, 3);
  EXPECT_EQ(b[0], 3.0);
  api::GraphSteps bounded;
  bounded.repeat([&n_passes] { return ++n_passes > 0; }, 4, once);
  n_passes = 0;
  Graph("bounded", std::move(bounded), {}).submit();
  EXPECT_EQ(n_passes, 4);
}

TEST_F(SavedGraph, KnowsItsValuesByName) {
  const Graph graph("named", {},
                    {{"u", DType::float64, from.state(), true, false},
                     {"n", DType::int32, counts.state(), true, true}});
  EXPECT_EQ(graph.name(), "named");
  EXPECT_EQ(graph.inputs(), (std::vector<std::string>{"u", "n"}));
  EXPECT_EQ(graph.outputs(), (std::vector<std::string>{"n"}));
  graph.values<double>("u")[1] = 8.0;
  EXPECT_EQ(a[1], 8.0);
  EXPECT_EQ(graph.values<std::int32_t>("n").size(), 6U);
  EXPECT_EQ(message_of<UsageError>([&] { (void)graph.values<float>("u"); }),
            "graph 'named': the values of 'u' are float64, not float32");
  EXPECT_EQ(message_of<UsageError>([&] { (void)graph.values<double>("v"); }),
            "graph 'named' uses nothing of the name 'v'; there are: u, n");
}

TEST_F(SavedGraph, RefusesWhatMakesNoSense) {
  Graph graph("none", {}, {});
  EXPECT_EQ(message_of<UsageError>([&] { graph.submit(0); }),
            "graph 'none': submit: n must be positive, got 0");
  api::GraphSteps steps;
  EXPECT_EQ(message_of<UsageError>([&] { steps.copy(from, counts); }),
            "graph: copy: the source has 3 values, the target 6; pass objects of one Set and dim");
}

TEST_F(SavedGraph, KeepsWhatItReadAsLongAsACopyOfIt) {
  const std::string path = testing::own_path("kept.bin");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(a.data()), 3 * sizeof(double));
  const Graph graph = [&] {
    api::Recorded file(path);
    api::KeptValues kept;
    const auto values = kept.next<double>(file, 3);
    const Dat<double> held(cells, values, "held");
    api::GraphSteps steps;
    steps.fill(held, 7.0);
    Graph made("kept", std::move(steps), {{"held", DType::float64, held.state(), false, true}});
    made.keep(std::move(kept));
    return made;
  }();
  std::remove(path.c_str());
  EXPECT_EQ(graph.values<double>("held")[2], 4.0);
  Graph copy = graph;
  copy.submit();
  EXPECT_EQ(graph.values<double>("held")[2], 7.0);
}

}  // namespace
}  // namespace op2
