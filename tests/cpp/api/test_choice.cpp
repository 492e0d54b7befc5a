// SPDX-License-Identifier: BSD-3-Clause
#include "api/choice.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "api/object_states.hpp"
#include "api/tuned.hpp"
#include "base/digest.hpp"
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

TEST_F(ChoiceOfCode, CodeOfTheMeasuredWayComesFirst) {
  std::string name = (std::filesystem::temp_directory_path() / "op2_choice_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const auto write = [&name](const std::string& device, const std::string& entries) {
    const std::string body = fmt::format(
        R"({{"entries":[{}],"place":{{"backend":"opencl","device":"{}"}}}})", entries, device);
    const std::string path = name + "/" + device + ".json";
    std::FILE* file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fputs(fmt::format(R"({{"checksum":"{}",{},"schema":2}})", digest(body),
                           body.substr(1, body.size() - 2))
                   .c_str(),
               file);
    std::fclose(file);
    ::chmod(path.c_str(), 0600);
  };
  const auto measured = [](int size, const char* strategy) {
    return fmt::format(R"({{"key":"k","kind":"loop","rule_us":6.0,"size":{},"us":2.0,"way":{{)"
                       R"("lanes":0,"strategy":"{}","tuning":{{}}}}}})",
                       size, strategy);
  };
  write("T4", measured(3, "atomic") + "," + measured(20, "owner"));
  write("H200", measured(3, "scratch"));
  LoopText loop{"gather", {0}, {code(false, false, 4), code(false, false, 4)}};
  for (CompiledLoop& one : loop.compiled) one.key = "k";
  loop.compiled[0].way = "owner, 0 lanes";
  loop.compiled[1].way = "atomic, 0 lanes";
  loop.compiled.push_back(loop.compiled[0]);
  loop.compiled[2].way = "scratch, 0 lanes";
  const auto made_on = [&](const char* device, std::shared_ptr<const Tuned> tuned) {
    info.name = device;
    return chosen(loop, {"opencl", &info, std::move(tuned)}, objects, edges);
  };
  const auto tuned = std::make_shared<const Tuned>(name);
  EXPECT_TRUE(tuned->problems().empty());
  EXPECT_EQ(made_on("T4", nullptr).compiled, &loop.compiled[0]);
  EXPECT_EQ(made_on("T4", nullptr).measured, "");
  EXPECT_EQ(made_on("T4", tuned).compiled, &loop.compiled[1]);
  EXPECT_EQ(made_on("T4", tuned).measured,
            "measured (exact): 2.0 us, 6.0 us by the rules: atomic, 0 lanes");
  EXPECT_EQ(made_on("H200", tuned).compiled, &loop.compiled[2]);
  write("T4", measured(20, "owner"));
  const auto large = std::make_shared<const Tuned>(name);
  EXPECT_EQ(made_on("T4", large).compiled, &loop.compiled[0]);
  EXPECT_TRUE(made_on("T4", large).measured.starts_with("measured (size)"));
  // code that does not suit the mesh stays behind
  loop.compiled[1].padded = true;
  to = {0, 0, 0, 0};
  map.changed();
  EXPECT_EQ(made_on("T4", tuned).compiled, &loop.compiled[0]);
  EXPECT_EQ(made_on("T4", tuned).measured, "");
  std::filesystem::remove_all(name);
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
