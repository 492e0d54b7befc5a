// SPDX-License-Identifier: BSD-3-Clause
#include "api/loops.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "exec/portable.hpp"

namespace op2::api {
namespace {

using testing::message_of;

/// What a compiled loop `target[map[i]] += source[i]` is.
int gather(const op2_context_v1* /*context*/, long begin, long end, void* const* argv,
           unsigned int /*argc*/) {
  auto* target = static_cast<double*>(argv[0]);
  const auto* source = static_cast<const double*>(argv[1]);
  const auto* map = static_cast<const std::int32_t*>(argv[2]);
  for (long i = begin; i < end; ++i) target[map[i]] += source[i];
  return 0;
}

int refuse(const op2_context_v1* context, long /*begin*/, long /*end*/, void* const* /*argv*/,
           unsigned int /*argc*/) {
  context->error[0] = 2;
  return 2;
}

std::string executable_text() {
  exec::Executable made;
  made.name = "gather";
  made.strategy = "direct";
  made.arguments = {{"target", {DType::float64, false, true}, true, abi::Role::data, 0},
                    {"source", {DType::float64, true, true}, true, abi::Role::data, 1},
                    {"map", {DType::int32, true, true}, true, abi::Role::map, 0}};
  made.data = {{Access::inc}, {Access::read}};
  return exec::canonical(made);
}

class GeneratedLoop : public ::testing::Test {
 protected:
  GeneratedLoop() { init({"sequential", 1}); }
  ~GeneratedLoop() override { init({}); }

  Loop made(const Set& set, const Dat<double>& target, const Map<1>& map,
            const Dat<double>& source) const {
    const LoopText loop{"gather", {0}, {{"sequential", launch, text.c_str(), 0, {injective}, {}}}};
    return made_loop(loop, set, {{{target.state(), 0}, {source.state(), -1}}, {map.state()}, {}});
  }

  std::string text = executable_text();
  op2_launch_v1 launch = gather;
  bool injective = false;
  Set edges{3, "edges"};
  Set cells{2, "cells"};
  std::vector<std::int32_t> to{0, 1, 1};
  std::vector<double> sums = std::vector<double>(2);
  std::vector<double> parts{1.0, 2.0, 4.0};
  Map<1> map{edges, cells, std::span<const std::int32_t>(to), "to"};
  Dat<double> target{cells, std::span<double>(sums), "sums"};
  Dat<double> source{edges, std::span<double>(parts), "parts"};
};

TEST_F(GeneratedLoop, WorksOnTheUsersMemory) {
  Loop loop = made(edges, target, map, source);
  loop();
  loop.run();
  EXPECT_EQ(sums, (std::vector<double>{2.0, 12.0}));
}

/// What a compiled loop that adds up the entries of ragged rows is.
int gather_rows(const op2_context_v1* /*context*/, long begin, long end, void* const* argv,
                unsigned int /*argc*/) {
  auto* sums = static_cast<double*>(argv[0]);
  const auto* source = static_cast<const double*>(argv[1]);
  const auto* counts = static_cast<const std::int32_t*>(argv[2]);
  const auto* rows = static_cast<const std::int32_t*>(argv[3]);
  for (long n = begin; n < end; ++n) {
    for (int i = 0; i < counts[n]; ++i) sums[n] += source[rows[rows[n] + i]];
  }
  return 0;
}

TEST_F(GeneratedLoop, GoesByRaggedMaps) {
  exec::Executable of_rows;
  of_rows.name = "gather";
  of_rows.strategy = "direct";
  of_rows.arguments = {{"sums", {DType::float64, false, true}, true, abi::Role::data, 0},
                       {"source", {DType::float64, true, true}, true, abi::Role::data, 1},
                       {"counts", {DType::int32, true, true}, true, abi::Role::data, 2},
                       {"rows", {DType::int32, true, true}, true, abi::Role::map, 0}};
  of_rows.data = {{Access::inc}, {Access::read}, {Access::read, DType::int32, DType::int32}};
  const std::string of_gather = exec::canonical(of_rows);
  const auto ragged = [this](std::vector<std::int32_t> offsets, std::vector<std::int32_t> entries) {
    return RaggedMap<>(cells, edges, offsets, entries, "edges_of");
  };
  const RaggedMap<> map = ragged({0, 3, 4}, {0, 2, 2, 1});
  const auto made_by = [&](const RaggedMap<>& by, const RaggedMap<>& counted, int longest) {
    const LoopText loop{
        "gather", {0}, {{"sequential", gather_rows, of_gather.c_str(), 0, {false}, {}, {longest}}}};
    return made_loop(
        loop, cells,
        {{{target.state(), -1}, {source.state(), 0}, {counts_of(*counted.state()), -1}},
         {by.state()},
         {}});
  };
  made_by(map, map, 3)();
  EXPECT_EQ(sums, (std::vector<double>{9.0, 2.0}));
  made_by(map, ragged({0, 3, 4}, {0, 0, 0, 0}), 0)();  // as long, row by row
  EXPECT_EQ(sums, (std::vector<double>{18.0, 4.0}));
  EXPECT_EQ(message_of<UsageError>([&] {
              (void)made_by(map, ragged({0, 1, 4}, {0, 1, 1, 1}), 0);
            }),
            "par_loop 'gather': it reads Dat 'edges_of_counts', but goes by Map 'edges_of', whose "
            "rows are of other lengths; pass one Map for both");
  EXPECT_EQ(
      message_of<UsageError>([&] { (void)made_by(map, map, 2); }),
      "par_loop 'gather': row 0 of Map 'edges_of' has 3 entries, and here a row may have 2, as "
      "an element's values are packed");
  EXPECT_EQ(sums, (std::vector<double>{18.0, 4.0}));
}

TEST_F(GeneratedLoop, ObjectsHaveToBelongTogether) {
  const auto message = [&](auto&&... objects) {
    return message_of<UsageError>([&] { (void)made(objects...); });
  };
  EXPECT_EQ(message(cells, target, map, source),
            "par_loop 'gather': arg 0: Map 'to' starts on Set 'edges', but the loop runs over "
            "'cells'; pass a Map cells → cells");
  EXPECT_EQ(message(edges, source, map, source),
            "par_loop 'gather': arg 0: Map 'to' leads from Set 'edges' to Set 'cells', but the Dat "
            "lives on Set 'edges'; pass a Map edges → edges");
  EXPECT_EQ(message(edges, target, map, target),
            "par_loop 'gather': arg 1: Dat 'sums' lives on Set 'cells', but the loop runs over "
            "'edges'; pass a Map edges → cells");
  const Dat<double> same(edges, std::span<double>(parts), "same");
  const Dat<double> overlapping(cells, std::span<double>(parts.data() + 1, 2), "overlapping");
  EXPECT_EQ(message(edges, overlapping, map, same),
            "par_loop 'gather': arg 0 (Dat 'overlapping') and arg 1 (Dat 'same') share memory, for "
            "which it was not generated; pass memory of its own to each");
  EXPECT_EQ(sums, (std::vector<double>{0.0, 0.0}));
}

TEST_F(GeneratedLoop, CodeForInjectiveMapsAsksForOne) {
  injective = true;
  const auto fails = [&] { (void)made(edges, target, map, source); };
  const std::string message = message_of<UsageError>(fails);
  EXPECT_NE(message.find("a Map 'to' that leads to no entity twice"), std::string::npos) << message;
  const Set pairs(2, "pairs");
  std::vector<std::int32_t> swapped{1, 0};
  Map<1> other(pairs, cells, std::span<const std::int32_t>(swapped), "swapped");
  const Dat<double> two(pairs, std::span<double>(parts.data(), 2), "two");
  Loop loop = made(pairs, target, other, two);
  loop();
  EXPECT_EQ(sums, (std::vector<double>{2.0, 1.0}));
  swapped[1] = 1;
  other.changed();
  EXPECT_THROW(loop(), UsageError);
  EXPECT_EQ(sums, (std::vector<double>{2.0, 1.0}));
}

TEST_F(GeneratedLoop, TheFirstCodeThatSuitsTheMeshIsTaken) {
  const LoopText loop{"gather",
                      {0},
                      {{"sequential", refuse, text.c_str(), 0, {true}, {}},
                       {"sequential", launch, text.c_str(), 0, {false}, {}}}};
  const auto of = [&](const Set& set, const Map<1>& by, const Dat<double>& values) {
    return made_loop(loop, set, {{{target.state(), 0}, {values.state(), -1}}, {by.state()}, {}});
  };
  of(edges, map, source)();
  EXPECT_EQ(sums, (std::vector<double>{1.0, 6.0}));
  const Set pairs(2, "pairs");
  std::vector<std::int32_t> swapped{1, 0};
  const Map<1> other(pairs, cells, std::span<const std::int32_t>(swapped), "swapped");
  const Dat<double> two(pairs, std::span<double>(parts.data(), 2), "two");
  EXPECT_THROW(of(pairs, other, two)(), ExecutionError);
}

TEST_F(GeneratedLoop, CodeIsChosenAnewWhenAMapHasChanged) {
  const LoopText loop{"gather",
                      {0},
                      {{"sequential", refuse, text.c_str(), 0, {true}, {}},
                       {"sequential", launch, text.c_str(), 0, {false}, {}}}};
  const Set pairs(2, "pairs");
  std::vector<std::int32_t> where{1, 0};
  Map<1> by(pairs, cells, std::span<const std::int32_t>(where), "by");
  const Dat<double> two(pairs, std::span<double>(parts.data(), 2), "two");
  Loop made = made_loop(loop, pairs, {{{target.state(), 0}, {two.state(), -1}}, {by.state()}, {}});
  EXPECT_THROW(made(), ExecutionError);  // the first code, which is for such a Map
  where = {1, 1};
  by.changed();
  made();
  EXPECT_EQ(sums, (std::vector<double>{0.0, 3.0}));
  where = {0, 1};
  by.changed();
  EXPECT_THROW(made(), ExecutionError);
}

TEST_F(GeneratedLoop, BackendsThatWereNotGeneratedAreRefused) {
  init({"openmp", 1});
  EXPECT_EQ(message_of<UnsupportedError>([&] { (void)made(edges, target, map, source); }),
            "par_loop 'gather': it was not generated for backend 'openmp', but for: sequential; "
            "generate it with --backend openmp, or choose another one by op2::init()");
}

/// `x[i] *= factor; total += x[i]`, as text and code.
int scale(const op2_context_v1* /*context*/, long begin, long end, void* const* argv,
          unsigned int /*argc*/) {
  auto* x = static_cast<double*>(argv[0]);
  auto* total = static_cast<double*>(argv[1]);
  const auto* factor = static_cast<const double*>(argv[2]);
  for (long i = begin; i < end; ++i) total[0] += (x[i] *= factor[0]);
  return 0;
}

TEST_F(GeneratedLoop, GlobalsAndConstsAreLookedAtWhenItRuns) {
  exec::Executable code;
  code.name = "scale";
  code.arguments = {{"x", {DType::float64, false, true}, true, abi::Role::data, 0},
                    {"total", {DType::float64, false, true}, true, abi::Role::data, 1},
                    {"factor", {DType::float64, true, true}, true, abi::Role::constant, 0}};
  code.data = {{Access::rw}, {Access::inc}};
  const std::string written = exec::canonical(code);
  double sum = 0.0;
  double value = 2.0;
  const Global<double> total(std::span<double>(&sum, 1), "total");
  const Const<double> factor(std::span<const double>(&value, 1), "factor");
  const LoopText loop{
      "scale",
      {},
      {{"sequential", scale, written.c_str(), 0, {}, {{"block_elements", std::int64_t{1024}}}}}};
  Loop made =
      made_loop(loop, edges, {{{source.state(), -1}, {total.state(), -1}}, {}, {factor.state()}});
  made();
  EXPECT_EQ(sum, 14.0);
  value = 0.5;
  sum = 0.0;
  made();
  EXPECT_EQ(sum, 7.0);
  const LoopText wrong{
      "scale", {}, {{"sequential", scale, written.c_str(), 0, {}, {{"no_such_number", true}}}}};
  EXPECT_THROW((void)made_loop(wrong, edges,
                               {{{source.state(), -1}, {total.state(), -1}}, {}, {factor.state()}}),
               UsageError);
}

TEST_F(GeneratedLoop, FailedChecksAreExceptions) {
  launch = refuse;
  Loop loop = made(edges, target, map, source);
  EXPECT_THROW(loop(), ExecutionError);
}

}  // namespace
}  // namespace op2::api
