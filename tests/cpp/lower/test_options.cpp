// SPDX-License-Identifier: BSD-3-Clause
#include "lower/options.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace op2::lower {
namespace {

TEST(StrategyNames, RoundTrip) {
  for (const std::string_view name : strategy_names) {
    EXPECT_EQ(name_of(strategy_from_name(name)), name);
  }
  EXPECT_EQ(strategy_from_name("colour"), Strategy::colour);
}

TEST(StrategyNames, AnUnknownOneListsAll) {
  try {
    (void)strategy_from_name("fastest");
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "strategy 'fastest' does not exist; choose one of direct, owner, scratch, atomic, "
                 "block, colour, team");
  }
}

TEST(LoweringKey, DiffersForEverythingThatChangesTheCode) {
  const std::vector<MapFacts> maps(2);
  std::vector<std::string> keys;
  const auto add = [&keys](Strategy strategy, const Facts& facts,
                           const std::vector<MapFacts>& about, const Options& options) {
    keys.push_back(key_of(strategy, facts, about, options));
  };
  const Facts facts{Lanes::one, false};
  add(Strategy::block, facts, maps, {});
  add(Strategy::colour, facts, maps, {});
  add(Strategy::block, {Lanes::threads, false}, maps, {});
  add(Strategy::block, {Lanes::one, true}, maps, {});
  add(Strategy::block, {Lanes::grid, false}, maps, {});
  add(Strategy::block, {.warp = 32}, maps, {});
  add(Strategy::block, {.one_address_space = false}, maps, {});
  add(Strategy::block, {.complex_arithmetic = false}, maps, {});
  add(Strategy::block, {.float64 = false}, maps, {});
  add(Strategy::block, {.vectors_in_lane = true}, maps, {});
  add(Strategy::block, {.runs_in_lane = true}, maps, {});
  add(Strategy::block, {.fast_shared = false}, maps, {});
  add(Strategy::block, {.private_on_stack = true}, maps, {});
  add(Strategy::block, {.fences = true}, maps, {});
  add(Strategy::block, {.any_kernel = true}, maps, {});
  add(Strategy::block, {.rows_in_place = true}, maps, {});
  add(Strategy::block, {.const_optional = true}, maps, {});
  const MapFacts any;
  add(Strategy::block, facts, {{.index_bytes = 8}, any}, {});
  add(Strategy::block, facts, {any, {.index_bytes = 8}}, {});
  add(Strategy::block, facts, {{.injective = true}, any}, {});
  add(Strategy::block, facts, {{.has_negative = false}, any}, {});
  add(Strategy::block, facts, {any}, {});
  add(Strategy::block, facts, maps, {.semantics = {.deterministic = true}});
  add(Strategy::block, facts, maps, {.semantics = {.debug = true}});
  add(Strategy::block, facts, maps, {.widths = {.element_bytes = 8}});
  add(Strategy::block, facts, maps, {.widths = {.entry_bytes = 8}});
  add(Strategy::block, facts, maps, {.widths = {.target_bytes = 8}});
  add(Strategy::block, facts, maps, {.semantics = {.convention = 2}});
  add(Strategy::block, facts, maps, {.tuning = {.transposed = false}});
  add(Strategy::block, facts, maps, {.tuning = {.interleaved = false}});
  add(Strategy::block, facts, maps, {.tuning = {.unrolled_scalars = 8}});
  add(Strategy::block, facts, maps, {.widths = {.padded = true}});
  add(Strategy::block, facts, maps, {.widths = {.index_bytes = 4}});
  add(Strategy::block, facts, maps, {.by_slot = false});
  add(Strategy::block, facts, maps, {.widths = {.soa = {0}}});
  add(Strategy::block, facts, maps, {.widths = {.soa = {1}}});
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
  EXPECT_EQ(key_of(Strategy::block, facts, maps, {}), keys.front());
  // degrees decide about options; the text does not depend on them otherwise
  EXPECT_EQ(key_of(Strategy::block, facts, {{}, {}}, {}), keys.front());
}

TEST(Facts, OnADeviceWhatItCannotDoIsMissing) {
  const Facts grid{.lanes = Lanes::grid, .atomics = true, .warp = 32};
  EXPECT_EQ(grid.on(/*is_processor=*/false, /*has_float64=*/true), grid);
  EXPECT_FALSE(grid.on(/*is_processor=*/false, /*has_float64=*/false).float64);
  EXPECT_EQ(grid.on(/*is_processor=*/false, /*has_float64=*/true, 64).warp, 64);
  EXPECT_EQ(Facts{}.on(/*is_processor=*/false, /*has_float64=*/true, 64).warp, 0);
  EXPECT_FALSE(Facts{.float64 = false}.on(/*is_processor=*/false, /*has_float64=*/true).float64);
}

TEST(Facts, ADeviceTellsTheMemoryOfABlock) {
  EXPECT_EQ(Facts{}.on(false, true).shared_bytes, Facts{}.shared_bytes);
  EXPECT_EQ(Facts{}.on(false, true, 0, 232448).shared_bytes, 232448);
}

TEST(Facts, OnAProcessorLanesAreOfAnotherKind) {
  const Facts gpu{.lanes = Lanes::grid, .atomics = true};
  const Facts processor = gpu.on(/*is_processor=*/true, /*has_float64=*/true);
  EXPECT_EQ(class_of(gpu), DeviceClass::gpu);
  EXPECT_EQ(class_of(processor), DeviceClass::processor);
  EXPECT_TRUE(processor.vectors_in_lane && processor.runs_in_lane && processor.private_on_stack);
  EXPECT_FALSE(processor.fast_shared);
  EXPECT_EQ(processor.on(/*is_processor=*/false, /*has_float64=*/true), gpu);
}

}  // namespace
}  // namespace op2::lower
