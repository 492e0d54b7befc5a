// SPDX-License-Identifier: BSD-3-Clause
#include "base/tuning.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/error.hpp"
#include "message_of.hpp"

namespace op2 {
namespace {

TEST(Tuning, AllNumbersHaveNamesAndDefaultsInTheirRanges) {
  std::set<std::string_view> names;
  for (const Tunable& one : tunables()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    for (const DeviceClass device : {DeviceClass::host, DeviceClass::processor, DeviceClass::gpu}) {
      const Tuning usual = Tuning::of(device);
      Tuning same = usual;
      tune(same, one.name, tuned(usual, one.name));
      EXPECT_EQ(same, usual) << one.name;
    }
  }
  // a number that is added to the struct is added to the table: they fill it but for padding
  std::size_t n_bytes = 0;
  for (const Tunable& one : tunables()) {
    n_bytes += std::holds_alternative<double Tuning::*>(one.member) ? sizeof(double)
               : std::holds_alternative<int Tuning::*>(one.member)  ? sizeof(int)
                                                                    : sizeof(bool);
  }
  EXPECT_LT(sizeof(Tuning) - n_bytes, 3 * sizeof(double));
}

TEST(Tuning, TextSaysWhatIsNotUsual) {
  EXPECT_EQ(text_of({}), "");
  Tuning tuning;
  tune(tuning, "unrolled_scalars", std::int64_t{8});
  tune(tuning, "transposed", false);
  tune(tuning, "most_padding", std::int64_t{2});
  EXPECT_EQ(text_of(tuning), "most_padding=2,unrolled_scalars=8,transposed=False");
  EXPECT_EQ(tuned(tuning, "unrolled_scalars"), TunedValue(std::int64_t{8}));
}

TEST(Tuning, WrongNamesAndValuesAreRefused) {
  const auto message = [](std::string_view name, const TunedValue& value) {
    return testing::message_of<UsageError>([&] {
      Tuning tuning;
      tune(tuning, name, value);
    });
  };
  EXPECT_EQ(message("speed", std::int64_t{1}).find("tuning: there is no 'speed'; there are: "), 0U);
  EXPECT_EQ(message("block_lanes", std::int64_t{100}),
            "tuning: 'block_lanes' must be a power of two from 1 to 1024, got 100");
  EXPECT_EQ(message("selected_slots", std::int64_t{-1}),
            "tuning: 'selected_slots' must be an int from 0 to 64, got -1");
  EXPECT_EQ(message("selected_slots", 0.5), "tuning: 'selected_slots' must be an int, got 0.5");
  EXPECT_EQ(message("selected_slots", 3.0), "tuning: 'selected_slots' must be an int, got 3.0");
  EXPECT_EQ(message("selected_slots", true), "tuning: 'selected_slots' must be an int, got True");
  EXPECT_EQ(message("most_padding", true), "tuning: 'most_padding' must be a number, got True");
  EXPECT_EQ(message("transposed", std::int64_t{1}),
            "tuning: 'transposed' must be True or False, got 1");
  EXPECT_EQ(message("most_padding", -1.0),
            "tuning: 'most_padding' must be a number from 0 to 1000, got -1.0");
}

TEST(Tuning, ClassesDiffer) {
  EXPECT_EQ(Tuning::of(DeviceClass::host), Tuning());
  EXPECT_EQ(Tuning::of(DeviceClass::gpu).block_lanes, 128);
  EXPECT_EQ(Tuning::of(DeviceClass::processor).block_lanes, 64);
  EXPECT_GT(Tuning::of(DeviceClass::gpu).lane_operations, Tuning().lane_operations);
  EXPECT_GT(Tuning::of(DeviceClass::gpu).memory_rate, Tuning().memory_rate);
  EXPECT_EQ(Tuning::of(DeviceClass::processor).memory_rate, Tuning().memory_rate);
}

}  // namespace
}  // namespace op2
