// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/device_mirror.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/recording_device.hpp"

namespace op2::runtime {
namespace {

class DeviceMirrorTest : public ::testing::Test {
 protected:
  std::shared_ptr<testing::RecordingDevice> device = std::make_shared<testing::RecordingDevice>();
  std::shared_ptr<mesh::Coherence> coherence = std::make_shared<mesh::Coherence>();
  DeviceMirror mirror{device, coherence};
  std::vector<std::int32_t> values = {0, 1, 1, 2};
  std::shared_ptr<mesh::MapTable> map = std::make_shared<mesh::MapTable>(values.data(), 4, 2, 2, 3);
};

TEST_F(DeviceMirrorTest, UploadsAMapOnce) {
  const auto first = mirror.map(map, {"par_loop 'res'"});
  EXPECT_EQ(mirror.map(map, {"par_loop 'res'"}), first);
  EXPECT_EQ(device->n_uploads, 1);
  const auto* there = static_cast<const std::int32_t*>(first.get());
  EXPECT_EQ(std::vector<std::int32_t>(there, there + 4), values);
  const std::vector<mesh::Transfer> rows = coherence->transfers().rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].n_bytes, 16);
  EXPECT_EQ(rows[0].cause, "par_loop 'res'");
}

TEST_F(DeviceMirrorTest, ChangedMapsAreUploadedAgain) {
  const auto first = mirror.map(map, {});
  values[0] = 2;
  map->increment_version();
  const auto second = mirror.map(map, {});
  EXPECT_NE(second, first);
  EXPECT_EQ(*static_cast<const std::int32_t*>(second.get()), 2);
  EXPECT_EQ(*static_cast<const std::int32_t*>(first.get()), 0);  // for loops not run since
}

TEST_F(DeviceMirrorTest, ArraysGoWithTheirLastUser) {
  const auto plan = std::make_shared<int>(1);
  auto held = mirror.array(plan, values.data(), 16, {});
  EXPECT_EQ(mirror.array(plan, values.data(), 16, {}), held);
  EXPECT_EQ(mirror.n_arrays(), 1U);
  held.reset();
  EXPECT_EQ(mirror.n_arrays(), 0U);
}

TEST_F(DeviceMirrorTest, AnAddressThatBelongsToAnotherIsAnotherArray) {
  auto plan = std::make_shared<int>(1);
  const auto first = mirror.array(plan, values.data(), 16, {});
  plan = std::make_shared<int>(2);
  EXPECT_NE(mirror.array(plan, values.data(), 16, {}), first);
  EXPECT_NE(mirror.array(plan, values.data(), 8, {}), first);
}

TEST_F(DeviceMirrorTest, NothingIsNull) {
  EXPECT_EQ(mirror.array(map, nullptr, 0, {}), nullptr);
  EXPECT_EQ(mirror.array(map, values.data(), 0, {}), nullptr);
  EXPECT_EQ(device->n_uploads, 0);
}

TEST_F(DeviceMirrorTest, TheDeadAreForgotten) {
  std::vector<std::int64_t> many(1000);
  for (std::int64_t& value : many) (void)mirror.array(map, &value, 8, {});
  EXPECT_EQ(mirror.n_arrays(), 0U);
}

}  // namespace
}  // namespace op2::runtime
