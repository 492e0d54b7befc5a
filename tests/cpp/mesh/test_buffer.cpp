// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/buffer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "base/error.hpp"
#include "mesh/host_device.hpp"

namespace op2::mesh {
namespace {

TEST(Buffer, CountsItsWrites) {
  std::array<double, 3> values{};
  Buffer buffer(values.data(), sizeof values);
  EXPECT_EQ(buffer.data(), values.data());
  EXPECT_EQ(buffer.n_bytes(), 24);
  EXPECT_EQ(buffer.version(), 0);
  buffer.increment_version();
  buffer.increment_version();
  EXPECT_EQ(buffer.version(), 2);
}

TEST(Buffer, PointingElsewhereIsNoWrite) {
  std::array<double, 3> first{};
  std::array<float, 2> second{};
  Buffer buffer(first.data(), sizeof first);
  buffer.increment_version();
  buffer.reset(second.data(), sizeof second);
  EXPECT_EQ(buffer.data(), second.data());
  EXPECT_EQ(buffer.n_bytes(), 8);
  EXPECT_EQ(buffer.version(), 1);
}

std::shared_ptr<Buffer> tracked(const std::shared_ptr<Coherence>& coherence, void* data,
                                std::int64_t n_bytes, bool is_zero = false) {
  auto buffer = std::make_shared<Buffer>(coherence, "Dat 'q'", Layout{});
  buffer->reset(data, n_bytes, is_zero);
  return buffer;
}

class BufferOnDevice : public ::testing::Test {
 protected:
  std::shared_ptr<Coherence> coherence = std::make_shared<Coherence>();
  std::shared_ptr<HostDevice> device = std::make_shared<HostDevice>();
  std::array<double, 3> values{1, 2, 3};
  std::shared_ptr<Buffer> buffer = tracked(coherence, values.data(), sizeof values);

  double* write_on_device() {
    return static_cast<double*>(buffer->on_device(device, Use::read_write, {"loop"}));
  }
};

TEST(Buffer, WithoutACoherenceStaysOnTheHost) {
  std::array<double, 3> values{};
  Buffer buffer(values.data(), sizeof values);
  EXPECT_FALSE(buffer.is_tracked());
  EXPECT_FALSE(buffer.on_host(Use::read, {"test"}));
  EXPECT_EQ(buffer.where(), Where::host);
  EXPECT_THROW(buffer.on_device(std::make_shared<HostDevice>(), Use::read, {"test"}),
               InternalError);
}

TEST_F(BufferOnDevice, KnowsWhereItsValuesAreValid) {
  EXPECT_EQ(Buffer(coherence, "Dat 'q'", {}).where(), Where::neither);
  EXPECT_EQ(buffer->where(), Where::host);
  buffer->on_device(device, Use::read, {"loop"});
  EXPECT_EQ(buffer->where(), Where::both);
  write_on_device();
  EXPECT_EQ(buffer->where(), Where::device);
  buffer->on_host(Use::read, {"data_ro"});
  EXPECT_EQ(buffer->where(), Where::both);
  buffer->on_host(Use::read_write, {"data"});
  EXPECT_EQ(buffer->where(), Where::host);
  write_on_device();
  buffer->on_host(Use::write, {"data_wo"});
  EXPECT_EQ(buffer->where(), Where::host);
  EXPECT_EQ(device->n_uploads, 2);
  EXPECT_EQ(device->n_downloads, 1);
}

TEST_F(BufferOnDevice, MovingIsNoWrite) {
  write_on_device();
  buffer->on_host(Use::read, {"data_ro"});
  EXPECT_EQ(buffer->version(), 0);
}

TEST_F(BufferOnDevice, ZerosThatNobodyWroteAreMadeOnTheDevice) {
  std::array<double, 3> zeros{};
  const auto fresh = tracked(coherence, zeros.data(), sizeof zeros, /*is_zero=*/true);
  EXPECT_FALSE(fresh->would_move_to(*device, Use::read));
  const auto* found = static_cast<double*>(fresh->on_device(device, Use::read, {"loop"}));
  EXPECT_EQ(found[2], 0.0);
  EXPECT_EQ(device->n_uploads, 0);
  fresh->on_host(Use::read_write, {"data"});
  zeros[2] = 4;
  EXPECT_EQ(static_cast<double*>(fresh->on_device(device, Use::read, {"loop"}))[2], 4.0);
}

TEST_F(BufferOnDevice, ZerosWrittenBeforeTheFirstLoopAreSent) {
  std::array<double, 3> zeros{};
  const auto fresh = tracked(coherence, zeros.data(), sizeof zeros, /*is_zero=*/true);
  fresh->increment_version();  // all that the host says as long as there is no device
  zeros[1] = 5;
  EXPECT_EQ(static_cast<double*>(fresh->on_device(device, Use::read, {"loop"}))[1], 5.0);
}

TEST_F(BufferOnDevice, WithNoValuesHasNoMemoryThere) {
  const auto empty = tracked(coherence, nullptr, 0);
  EXPECT_EQ(empty->on_device(device, Use::read_write, {"loop"}), nullptr);
  EXPECT_FALSE(empty->on_host(Use::read, {"data"}));
}

TEST_F(BufferOnDevice, IsZeroedWhereItsValuesAre) {
  EXPECT_FALSE(buffer->zero_on_device());
  write_on_device()[0] = 7;
  EXPECT_TRUE(buffer->zero_on_device());
  EXPECT_EQ(device->n_downloads, 0);
  buffer->on_host(Use::read, {"data_ro"});
  EXPECT_EQ(values[0], 0.0);
}

TEST_F(BufferOnDevice, ANumberIsWrittenOnBothSides) {
  double number = 0.0;
  const auto one = tracked(coherence, &number, sizeof number);
  for (const double value : {2.5, -1.0}) {
    one->set_on_device(device, std::as_bytes(std::span(&value, 1)));
    EXPECT_EQ(number, value);
    EXPECT_EQ(one->where(), Where::both);
    EXPECT_FALSE(one->would_move_to(*device, Use::read));
    EXPECT_EQ(*static_cast<double*>(one->on_device(device, Use::read, {"loop"})), value);
  }
  EXPECT_TRUE(coherence->transfers().rows().empty());
  const float narrow = 1.0F;
  EXPECT_THROW(one->set_on_device(device, std::as_bytes(std::span(&narrow, 1))), UsageError);
  std::array<double, 33> many{};  // 8 bytes too many
  const auto all = tracked(coherence, many.data(), sizeof many);
  EXPECT_THROW(all->set_on_device(device, std::as_bytes(std::span(many))), UsageError);
  std::array<char, 6> odd{};
  const auto text = tracked(coherence, odd.data(), sizeof odd);
  EXPECT_THROW(text->set_on_device(device, std::as_bytes(std::span(odd))), UsageError);
}

TEST_F(BufferOnDevice, AFewNumbersAreWrittenOnBothSides) {
  std::array<double, 5> numbers{};
  const auto few = tracked(coherence, numbers.data(), sizeof numbers);
  const std::array<double, 5> wanted = {1, 2, 3, 4, 5};
  few->set_on_device(device, std::as_bytes(std::span(wanted)));
  EXPECT_EQ(numbers, wanted);
  EXPECT_EQ(static_cast<double*>(few->on_device(device, Use::read, {"loop"}))[4], 5.0);
  EXPECT_TRUE(coherence->transfers().rows().empty());
}

TEST_F(BufferOnDevice, IsCopiedWhereItsValuesAre) {
  std::array<double, 3> others{};
  const auto other = tracked(coherence, others.data(), sizeof others);
  EXPECT_FALSE(other->copy_on_device(*buffer));
  write_on_device()[0] = 7;
  EXPECT_TRUE(other->copy_on_device(*buffer));
  EXPECT_EQ(device->n_copies, 1);
  EXPECT_EQ(other->where(), Where::device);
  other->on_host(Use::read, {"data_ro"});
  EXPECT_EQ(others[0], 7.0);
  EXPECT_FALSE(other->copy_on_device(*other));
}

TEST_F(BufferOnDevice, ChangesPlacesWithAnotherOnTheDevice) {
  std::vector<double> others(values.size(), 1.0);
  const auto other = tracked(coherence, others.data(), sizeof values);
  const auto write = [&](mesh::Buffer& of, double value) {
    static_cast<double*>(of.on_device(device, Use::write, {"loop"}))[0] = value;
  };
  write(*buffer, 7);
  write(*other, 8);
  EXPECT_TRUE(buffer->exchange_on_device(*other));
  EXPECT_EQ(device->n_copies, 0);  // they have changed memory
  other->on_host(Use::read, {"data"});
  EXPECT_EQ(others[0], 7.0);
  buffer->on_host(Use::read, {"data"});
  EXPECT_EQ(values[0], 8.0);
}

TEST_F(BufferOnDevice, IsNotExchangedWhereSomebodyHoldsItsMemory) {
  std::vector<double> others(values.size(), 1.0);
  const auto other = tracked(coherence, others.data(), sizeof values);
  EXPECT_FALSE(buffer->exchange_on_device(*other));  // nothing is there yet
  (void)buffer->on_device(device, Use::write, {"loop"});
  void* const theirs = other->on_device(device, Use::write, {"loop"});
  EXPECT_TRUE(buffer->exchange_on_device(*other));
  const auto held = buffer->memory_on(*device);
  EXPECT_EQ(held.get(), theirs);
  EXPECT_FALSE(buffer->exchange_on_device(*other));
  EXPECT_EQ(buffer->memory_on(*device).get(), theirs);
  EXPECT_EQ(device->n_copies, 0);
}

TEST_F(BufferOnDevice, TakesMemoryOfTheDevice) {
  const auto memory = device->allocate(sizeof values, "theirs");
  static_cast<double*>(memory.get())[1] = 8;
  buffer->adopt(device, memory);
  EXPECT_EQ(buffer->where(), Where::device);
  EXPECT_EQ(buffer->memory_on(*device), memory);
  buffer->on_host(Use::read, {"data_ro"});
  EXPECT_EQ(values[1], 8.0);
  buffer->on_host(Use::write, {"data"});
  EXPECT_TRUE(buffer->has_copies());  // which is theirs, valid or not
  buffer->reset(values.data(), sizeof values);
  EXPECT_FALSE(buffer->has_copies());
}

TEST_F(BufferOnDevice, ReleasedBringsHomeWhatOthersWillRead) {
  write_on_device()[0] = 7;
  buffer->release(/*is_kept=*/true);
  EXPECT_EQ(values[0], 7.0);
  EXPECT_EQ(buffer->data(), nullptr);
  buffer->reset(values.data(), sizeof values);
  write_on_device()[0] = 8;
  buffer->release(/*is_kept=*/false);
  EXPECT_EQ(values[0], 7.0);
}

TEST_F(BufferOnDevice, LeavesItsCopyToItsTwin) {
  const auto twin = tracked(coherence, values.data(), sizeof values);
  write_on_device()[0] = 7;
  twin->on_host(Use::read, {"data"});
  write_on_device()[0] = 9;
  buffer->release(/*is_kept=*/false);
  EXPECT_EQ(device->n_downloads, 1);
  twin->on_host(Use::read, {"data"});
  EXPECT_EQ(values[0], 9.0);
}

TEST_F(BufferOnDevice, FreesTheMemoryWithItself) {
  write_on_device();
  const std::weak_ptr<void> memory = buffer->memory_on(*device);
  EXPECT_FALSE(memory.expired());
  buffer.reset();
  EXPECT_TRUE(memory.expired());
}

TEST_F(BufferOnDevice, ALoopOnTheHostBringsItsArgumentsHome) {
  std::array<double, 2> plain{};
  Buffer untracked(plain.data(), sizeof plain);
  const std::array<BufferUse, 2> uses{
      {{&untracked, Use::read, 0}, {buffer.get(), Use::read_write, 1}}};
  EXPECT_FALSE(bring_to_host(uses, {"loop"}));
  write_on_device()[0] = 7;
  EXPECT_TRUE(bring_to_host(uses, {"loop"}));
  EXPECT_EQ(values[0], 7.0);
  EXPECT_EQ(buffer->where(), Where::host);
}

}  // namespace
}  // namespace op2::mesh
