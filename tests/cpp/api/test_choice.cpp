// SPDX-License-Identifier: BSD-3-Clause
#include "api/choice.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "api/object_states.hpp"
#include "base/error.hpp"
#include "exec/portable.hpp"

namespace op2::api {
namespace {

using testing::message_of;

const unsigned char image[] = {1};

std::string code_of_a_device() {
  exec::Executable made;
  made.name = "gather";
  made.data = {{Access::inc}, {Access::read}};
  return exec::canonical(made);
}

/// `cells[to[edge]] += edges[edge]`, with code for devices.
class ChoiceOfCode : public ::testing::Test {
 protected:
  [[nodiscard]] CompiledLoop code(bool for_processor, bool padded, int index_bytes,
                                  const char* backend = "opencl") const {
    CompiledLoop made{backend, nullptr, text.c_str(), 0, {false}, {}};
    made.images = {{"", image, sizeof image}};
    made.for_processor = for_processor;
    made.padded = padded;
    made.index_bytes = index_bytes;
    return made;
  }

  [[nodiscard]] const CompiledLoop* taken(const LoopText& loop) const {
    const Chosen found = chosen(loop, {"opencl", &info}, objects, edges);
    return found.compiled;
  }

  std::string text = code_of_a_device();
  runtime::DeviceInfo info = [] {
    runtime::DeviceInfo made;
    made.name = "T4";
    made.float64 = true;
    return made;
  }();
  Set edges{4, "edges"};
  Set cells{2, "cells"};
  std::vector<std::int32_t> to{0, 1, 1, 0};
  std::vector<double> sums = std::vector<double>(6);
  std::vector<double> parts = std::vector<double>(4);
  Map<1> map{edges, cells, std::span<const std::int32_t>(to), "to"};
  Dat<double, 3> target{cells, std::span<double>(sums), "sums"};
  Dat<double> source{edges, std::span<double>(parts), "parts"};
  Arguments objects{{{target.state(), 0}, {source.state(), -1}}, {map.state()}, {}};
};

TEST_F(ChoiceOfCode, ProcessorsRunOtherCodeThanGpus) {
  const LoopText loop{"gather", {0}, {code(true, false, 8), code(false, false, 8)}};
  EXPECT_EQ(taken(loop), &loop.compiled[1]);
  info.is_cpu = true;
  EXPECT_EQ(taken(loop), &loop.compiled[0]);
  const LoopText other{"gather", {0}, {code(true, false, 8, "cuda")}};
  EXPECT_NE(message_of<UnsupportedError>([&] { (void)taken(other); }).find("but for: cuda"),
            std::string::npos);
}

TEST_F(ChoiceOfCode, ColumnsArePaddedWhereTargetsHaveSimilarNumbersOfElements) {
  const LoopText loop{"gather", {0}, {code(false, true, 4), code(false, false, 4)}};
  EXPECT_EQ(taken(loop), &loop.compiled[0]);
  to = {0, 0, 0, 0};
  map.changed();
  EXPECT_EQ(taken(loop), &loop.compiled[1]);
}

TEST_F(ChoiceOfCode, NarrowIndicesHaveToFit) {
  LoopText loop{"gather", {0}, {code(false, false, 4), code(false, false, 8)}};
  EXPECT_EQ(taken(loop), &loop.compiled[0]);
  loop.slots = 1 << 30;
  EXPECT_EQ(taken(loop), &loop.compiled[1]);
}

TEST_F(ChoiceOfCode, DevicesWithoutDoublePrecisionAreRefused) {
  const LoopText loop{"gather", {0}, {code(false, false, 8)}};
  info.float64 = false;
  EXPECT_EQ(message_of<UnsupportedError>([&] { (void)taken(loop); }),
            "par_loop 'gather': it computes in double precision, which device 'T4' does not have");
}

TEST_F(ChoiceOfCode, EveryByteIsCountedOnce) {
  const auto executable = exec::read_executable(text);
  // 4 entries of a Map, 4 values that are read, 2 cells of 3 values that are added to
  EXPECT_EQ(useful_bytes(objects, edges, *executable), 4 * 4 + 4 * 8 + 2 * 2 * 3 * 8);
  const std::vector<std::int32_t> first{0};
  const Subset part(edges, std::span<const std::int32_t>(first), "part");
  EXPECT_EQ(useful_bytes(objects, part, *executable), 4 + 8 + 2 * 3 * 8);
}

TEST_F(ChoiceOfCode, NumbersAreThoseOfTheKindOfDevice) {
  EXPECT_EQ(tuning_of(code(false, false, 8)), Tuning::of(DeviceClass::gpu));
  EXPECT_EQ(tuning_of(code(true, false, 8)), Tuning::of(DeviceClass::processor));
  CompiledLoop host{"openmp", nullptr, "", 0, {}, {{"block_lanes", std::int64_t{64}}}};
  Tuning wanted = Tuning::of(DeviceClass::host);
  wanted.block_lanes = 64;
  EXPECT_EQ(tuning_of(host), wanted);
}

}  // namespace
}  // namespace op2::api
