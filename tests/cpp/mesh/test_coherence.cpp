// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/coherence.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "mesh/buffer.hpp"
#include "mesh/host_device.hpp"

namespace op2::mesh {
namespace {

const TransferCause in_loop{"par_loop 'res'"};
const TransferCause by_user{"to_device", -1, true};

std::shared_ptr<Buffer> over(const std::shared_ptr<Coherence>& coherence, void* data,
                             std::int64_t n_bytes, const std::string& what, Layout layout = {}) {
  auto buffer = std::make_shared<Buffer>(coherence, what, layout);
  buffer->reset(data, n_bytes);
  return buffer;
}

class CoherenceTest : public ::testing::Test {
 protected:
  std::shared_ptr<Coherence> coherence = std::make_shared<Coherence>();
  std::shared_ptr<HostDevice> device = std::make_shared<HostDevice>("gpu 0");
  std::array<std::int32_t, 6> a{1, 2, 3, 4, 5, 6};
  std::array<std::int32_t, 6> b{10, 20, 30, 40, 50, 60};
  std::shared_ptr<Buffer> qa = over(coherence, a.data(), sizeof a, "Dat 'a'");
  std::shared_ptr<Buffer> qb = over(coherence, b.data(), sizeof b, "Dat 'b'");

  bool loop(std::vector<BufferUse> uses, std::vector<void*>* handles = nullptr) {
    std::vector<void*> found(uses.size());
    for (int i = 0; i < static_cast<int>(uses.size()); ++i) uses[i].argument = i;
    const bool copied = coherence->to_device(device, uses, found, in_loop);
    if (handles != nullptr) *handles = found;
    return copied;
  }
};

TEST_F(CoherenceTest, IsInactiveUntilADeviceIsUsed) {
  EXPECT_FALSE(coherence->is_active());
  EXPECT_FALSE(qa->on_host(Use::read_write, in_loop));
  EXPECT_FALSE(coherence->is_active());
  loop({{qa.get(), Use::read}});
  EXPECT_TRUE(coherence->is_active());
}

TEST_F(CoherenceTest, WritesThatADeviceNeverSawAreToldAndUndone) {
  loop({{qa.get(), Use::read}});
  for (const Use use : {Use::read, Use::read_write}) {
    qa->watch(true);
    a[2] = 77;
    EXPECT_THROW(qa->on_host(use, in_loop), UsageError);
    EXPECT_EQ(a[2], 3);
    EXPECT_FALSE(qa->on_host(Use::read, in_loop));  // said once
  }
  loop({{qa.get(), Use::read_write}});
  qa->watch(true);
  a[2] = 77;
  EXPECT_THROW(qa->on_host(Use::read, in_loop), UsageError);
  EXPECT_TRUE(qa->on_host(Use::read, in_loop));
  EXPECT_EQ(a[2], 3);
}

TEST_F(CoherenceTest, WatchedValuesThatStayAreNoFault) {
  qa->watch(true);  // on the host alone they may be written
  a[2] = 7;
  EXPECT_FALSE(qa->on_host(Use::read, in_loop));
  loop({{qa.get(), Use::read_write}});
  qa->watch(true);
  EXPECT_TRUE(qa->on_host(Use::read_write, in_loop));
  a[2] = 8;
  EXPECT_FALSE(qa->on_host(Use::read, in_loop));
}

TEST_F(CoherenceTest, ALoopThatChangesWatchedValuesSaysWhatWasWrittenInVain) {
  loop({{qa.get(), Use::read}});
  qa->watch(true);
  a[2] = 77;
  EXPECT_THROW(loop({{qa.get(), Use::read_write}}), UsageError);
  EXPECT_EQ(a[2], 3);
  EXPECT_EQ(qa->where(), Where::both);  // the loop did not run
  a[2] = 77;
  EXPECT_EQ(coherence->written_in_vain().size(), 1U);
  EXPECT_TRUE(coherence->written_in_vain().empty());  // said once
  qa->watch(false);
  a[2] = 77;
  EXPECT_TRUE(coherence->written_in_vain().empty());
  EXPECT_FALSE(qa->on_host(Use::read, in_loop));
}

TEST_F(CoherenceTest, ReadingAgainAndAgainSeldomLooks) {
  loop({{qa.get(), Use::read_write}});
  qa->watch(true);
  for (int i = 0; i < 100; ++i) qa->on_host(Use::read, in_loop);
  EXPECT_EQ(coherence->n_looks(), 7);                                   // 1, 2, 4, 8, 16, 32, 64
  EXPECT_FALSE(loop({{qa.get(), Use::read}, {qb.get(), Use::write}}));  // 36 were not looked at
  EXPECT_EQ(coherence->n_looks(), 8);
  for (int i = 0; i < 100; ++i) loop({{qa.get(), Use::read}});
  qb->on_host(Use::read_write, in_loop);
  EXPECT_TRUE(loop({{qa.get(), Use::read}, {qb.get(), Use::read}}));  // only the other is copied
  EXPECT_EQ(coherence->n_looks(), 8);
  EXPECT_FALSE(qa->on_host(Use::read, in_loop));
  EXPECT_EQ(coherence->n_looks(), 9);
  loop({{qa.get(), Use::read}});  // the last reading was a look
  EXPECT_EQ(coherence->n_looks(), 9);
}

TEST_F(CoherenceTest, WhatIsWrittenBetweenTwoReadingsIsToldByTheNextLoop) {
  loop({{qa.get(), Use::read}});
  qa->watch(true);
  for (int i = 0; i < 4; ++i) qa->on_host(Use::read, in_loop);
  a[2] = 77;
  qa->on_host(Use::read, in_loop);  // the fifth: looks at nothing
  EXPECT_THROW(loop({{qb.get(), Use::read}, {qa.get(), Use::read}}), UsageError);
  EXPECT_EQ(a[2], 3);
  loop({{qa.get(), Use::read}});
  a[2] = 77;  // while a loop runs
  loop({{qa.get(), Use::read}});
  EXPECT_THROW(qa->on_host(Use::read, in_loop), UsageError);
  EXPECT_EQ(a[2], 3);
}

TEST_F(CoherenceTest, ReadingAPartCountsForWhatOverlaps) {
  const auto part = over(coherence, &a[1], 3 * sizeof a[0], "Dat 'part'");
  loop({{qa.get(), Use::read}});
  loop({{part.get(), Use::read}});
  qa->watch(true);
  for (int i = 0; i < 3; ++i) part->on_host(Use::read, in_loop);
  a[5] = 77;  // beyond the part that was read
  EXPECT_THROW(loop({{qa.get(), Use::read}}), UsageError);
  EXPECT_EQ(a[5], 6);
}

TEST_F(CoherenceTest, AllValuesCanBeWatched) {
  coherence->watch_all(true);
  loop({{qa.get(), Use::read}});
  a[2] = 77;
  EXPECT_THROW(loop({{qa.get(), Use::read}}), UsageError);
  EXPECT_EQ(a[2], 3);
}

TEST_F(CoherenceTest, ALoopMovesWhatIsStaleAndMarksWhatItWrites) {
  std::vector<void*> handles;
  EXPECT_TRUE(loop({{qa.get(), Use::read}, {qb.get(), Use::read_write}}, &handles));
  EXPECT_EQ(device->n_uploads, 2);
  EXPECT_EQ(handles[0], qa->memory_on(*device).get());
  EXPECT_EQ(qa->where(), Where::both);
  EXPECT_EQ(qb->where(), Where::device);
  EXPECT_FALSE(loop({{qa.get(), Use::read}, {qb.get(), Use::read_write}}, &handles));
  EXPECT_EQ(handles[1], qb->memory_on(*device).get());
  EXPECT_EQ(device->n_uploads, 2);
}

TEST_F(CoherenceTest, OneBufferMayBeUsedTwiceByALoop) {
  EXPECT_TRUE(loop({{qa.get(), Use::write}, {qa.get(), Use::read}}));
  EXPECT_EQ(device->n_uploads, 1);
  EXPECT_EQ(qa->where(), Where::device);
}

TEST_F(CoherenceTest, TheLedgerSaysWhoWantedWhat) {
  loop({{qa.get(), Use::write}, {qb.get(), Use::read}});
  const std::array<BufferUse, 1> uses{{{qa.get(), Use::read}}};
  coherence->to_host(uses, {"Dat.data_ro"});
  coherence->transfers().attribute("flow.py:3");
  const auto rows = coherence->transfers().rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].direction, Direction::to_device);
  EXPECT_EQ(rows[0].what, "Dat 'b'");
  EXPECT_EQ(rows[0].cause, "par_loop 'res'");
  EXPECT_EQ(rows[0].argument, 1);
  EXPECT_EQ(rows[0].n_bytes, 24);
  EXPECT_EQ(rows[0].device, "gpu 0");
  EXPECT_EQ(rows[0].line, "flow.py:3");
  EXPECT_EQ(rows[1].direction, Direction::to_host);
  EXPECT_EQ(rows[1].what, "Dat 'a'");
  EXPECT_EQ(rows[1].cause, "Dat.data_ro");
}

TEST_F(CoherenceTest, StrictnessRefusesBeforeAnythingChanges) {
  coherence->is_strict = true;
  try {
    loop({{qa.get(), Use::write}, {qb.get(), Use::read}});
    FAIL() << "the copy was not refused";
  } catch (const TransferError& error) {
    EXPECT_STREQ(error.what(),
                 "par_loop 'res': arg 1: Dat 'b' is valid on the host only and is wanted on gpu 0, "
                 "but init(strict_residency=True) allows no implicit copy (of 24 bytes); move it "
                 "before, by its to_device()");
  }
  EXPECT_EQ(qa->where(), Where::host);
  EXPECT_TRUE(coherence->transfers().rows().empty());
  qb->on_device(device, Use::read, by_user);
  EXPECT_FALSE(loop({{qa.get(), Use::write}, {qb.get(), Use::read}}));
  EXPECT_THROW(qa->on_host(Use::read, {"Dat.data_ro"}), TransferError);
  EXPECT_FALSE(qa->on_host(Use::write, {"Dat.data_wo"}));
  EXPECT_TRUE(coherence->transfers().rows()[0].is_explicit);
}

TEST_F(CoherenceTest, AFullDeviceLosesNothing) {
  device->free_bytes = 0;
  EXPECT_THROW(loop({{qa.get(), Use::read_write}}), ExecutionError);
  EXPECT_EQ(qa->where(), Where::host);
  device->free_bytes = 1000;
  loop({{qa.get(), Use::read_write}});
  EXPECT_EQ(qa->where(), Where::device);
}

TEST_F(CoherenceTest, AFullDeviceNamesAllThatIsMissingAndKeepsNoneOfIt) {
  std::array<std::int32_t, 600> c{};
  const auto qc = over(coherence, c.data(), sizeof c, "Dat 'c'");
  loop({{qa.get(), Use::read}});
  device->free_bytes = 1000;
  const auto too_much = [&] {
    loop({{qa.get(), Use::read}, {qb.get(), Use::write}, {qc.get(), Use::read}});
  };
  EXPECT_TRUE(op2::testing::contains(
      op2::testing::message_of<OutOfMemoryError>(too_much), "par_loop 'res': Dat 'c': no room.",
      "It needs 2424 more bytes there: Dat 'b' 24 bytes, Dat 'c' 2400 bytes. Nothing was changed.",
      "compute='float64' take half", "a host backend"));
  EXPECT_EQ(device->n_uploads, 1);
  EXPECT_EQ(qa->where(), Where::both);
  EXPECT_EQ(qb->where(), Where::host);
}

TEST_F(CoherenceTest, AFaultLeavesTheValuesOnTheDevice) {
  loop({{qa.get(), Use::read_write}});
  device->fault = "par_loop 'res' failed";
  EXPECT_THROW(qa->on_host(Use::read, in_loop), ExecutionError);
  EXPECT_EQ(qa->where(), Where::device);
  qa->on_host(Use::read, in_loop);
  EXPECT_EQ(qa->where(), Where::both);
}

TEST_F(CoherenceTest, EqualRangesShareOneCopy) {
  const auto twin = over(coherence, a.data(), sizeof a, "Dat 'twin'");
  std::vector<void*> handles;
  loop({{qa.get(), Use::read_write}, {twin.get(), Use::read_write}}, &handles);
  EXPECT_EQ(handles[0], handles[1]);
  EXPECT_EQ(device->n_uploads, 1);
  EXPECT_EQ(twin->where(), Where::device);
}

TEST_F(CoherenceTest, OverlappingRangesSeeEachOthersWrites) {
  const auto tail = over(coherence, &a[3], 3 * sizeof a[0], "Dat 'tail'");
  auto* first = static_cast<std::int32_t*>(qa->on_device(device, Use::read_write, in_loop));
  first[4] = 55;
  auto* second = static_cast<std::int32_t*>(tail->on_device(device, Use::read_write, in_loop));
  EXPECT_EQ(second[1], 55);
  second[2] = 66;
  EXPECT_EQ(qa->where(), Where::device);  // its last values are newer there
  qa->on_host(Use::read, in_loop);
  EXPECT_EQ(a[4], 55);
  EXPECT_EQ(a[5], 66);
}

TEST_F(CoherenceTest, OverwritingAllOfARangeCopiesNoPartOfIt) {
  const auto tail = over(coherence, &a[3], 3 * sizeof a[0], "Dat 'tail'");
  tail->on_device(device, Use::write, in_loop);
  qa->on_device(device, Use::write, in_loop);
  EXPECT_EQ(device->n_downloads, 0);
  EXPECT_TRUE(tail->would_move_to_host(Use::read));
  qa->on_host(Use::write, in_loop);
  EXPECT_EQ(device->n_downloads, 0);
  EXPECT_EQ(tail->where(), Where::host);
}

TEST_F(CoherenceTest, ALoopMayNotWriteWhatOverlapsInPart) {
  const auto tail = over(coherence, &a[3], 3 * sizeof a[0], "Dat 'tail'");
  EXPECT_FALSE(loop({{qb.get(), Use::write}, {tail.get(), Use::write}}));
  EXPECT_TRUE(loop({{qa.get(), Use::read}, {tail.get(), Use::read}}));
  EXPECT_THROW(loop({{qa.get(), Use::read}, {tail.get(), Use::read_write}}), UnsupportedError);
  EXPECT_EQ(qa->where(), Where::both);
}

TEST_F(CoherenceTest, ColumnsAreTransposedOnTheWay) {
  const auto columns = over(coherence, b.data(), sizeof b, "Dat 'soa'", {true, 2, 4});
  EXPECT_EQ(columns->n_rows(), 3);
  auto* found = static_cast<std::int32_t*>(columns->on_device(device, Use::read_write, in_loop));
  EXPECT_EQ(std::vector<std::int32_t>(found, found + 6),
            (std::vector<std::int32_t>{10, 30, 50, 20, 40, 60}));
  found[3] = 21;
  qb->on_device(device, Use::read, in_loop);  // the same values in rows: a copy of its own
  EXPECT_EQ(b[1], 21);
}

TEST_F(CoherenceTest, EachDeviceHasItsCopy) {
  const auto other = std::make_shared<HostDevice>("gpu 1");
  static_cast<std::int32_t*>(qa->on_device(device, Use::read_write, in_loop))[0] = 7;
  EXPECT_TRUE(qa->would_move_to(*other, Use::read));
  EXPECT_EQ(static_cast<std::int32_t*>(qa->on_device(other, Use::read_write, in_loop))[0], 7);
  EXPECT_FALSE(qa->is_valid_on(*device));
  EXPECT_TRUE(qa->is_valid_on(*other));
  EXPECT_TRUE(qa->would_move_to(*device, Use::read));
  EXPECT_FALSE(qa->would_move_to(*device, Use::write));
}

TEST_F(CoherenceTest, RecordsWhatIsNoBuffer) {
  coherence->record(*device, Direction::to_device, "Map 'e2n'", 80, 5, in_loop);
  EXPECT_EQ(coherence->transfers().rows()[0].what, "Map 'e2n'");
  coherence->is_strict = true;
  EXPECT_THROW(coherence->check_allowed(*device, Direction::to_device, "Map 'e2n'", 80, in_loop),
               TransferError);
  EXPECT_NO_THROW(
      coherence->check_allowed(*device, Direction::to_device, "Map 'e2n'", 80, by_user));
}

TEST_F(CoherenceTest, ThreadsMayMoveDifferentBuffers) {
  std::vector<std::thread> threads;
  std::vector<std::vector<std::int32_t>> values(4, std::vector<std::int32_t>(100, 0));
  for (auto& mine : values) {
    threads.emplace_back([this, &mine] {
      const auto buffer = over(coherence, mine.data(), 400, "Dat");
      for (int step = 0; step < 200; ++step) {
        ++static_cast<std::int32_t*>(
            buffer->on_device(device, Use::read_write, in_loop))[step % 100];
        buffer->on_host(Use::read, in_loop);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : values) EXPECT_EQ(mine, std::vector<std::int32_t>(100, 2));
}

/// Random uses of overlapping Buffers on the host and two devices, against one plain array.
class Walk {
 public:
  explicit Walk(unsigned seed) : random_(seed) {
    for (std::size_t i = 0; i < n; ++i) host_[i] = model_[i] = static_cast<std::byte>(i);
    for (auto& buffer : buffers_) make(buffer);
  }

  void step() {
    auto& buffer = buffers_[below(buffers_.size())];
    const std::size_t action = below(12);
    if (action < 2) {
      read(*buffer);
    } else if (action < 4) {
      write(*buffer, action == 2 ? Use::write : Use::read_write);
    } else if (action < 6) {
      read_on_device(*buffer);
    } else if (action < 9) {
      write_on_device(*buffer, action == 6 ? Use::write : Use::read_write);
    } else if (action == 9) {
      zero(*buffer);
    } else if (action == 10) {
      copy(*buffer, *buffers_[below(buffers_.size())]);
    } else {
      buffer->release(/*is_kept=*/true);
      make(buffer);
    }
  }

  void check_all() {
    for (auto& buffer : buffers_) read(*buffer);
  }

 private:
  static constexpr std::size_t n = 48;

  std::size_t below(std::size_t end) { return random_() % end; }

  void make(std::shared_ptr<Buffer>& buffer) {
    constexpr std::array<Layout, 4> layouts{{{}, {true, 2, 2}, {true, 3, 1}, {true, 3, 4}}};
    const Layout layout = layouts[below(layouts.size())];
    const std::size_t row = layout.is_soa ? layout.dim * layout.item_bytes : 4;
    const std::size_t n_rows = 1 + below(n / row);
    const std::size_t begin = below(n - n_rows * row + 1) / 4 * 4;
    buffer = over(coherence_, host_.data() + begin, static_cast<std::int64_t>(n_rows * row), "Dat",
                  layout);
  }

  std::byte* modelled(const Buffer& buffer) {
    return model_.data() + (static_cast<std::byte*>(buffer.data()) - host_.data());
  }

  void read(Buffer& buffer) {
    const bool moves = buffer.would_move_to_host(Use::read);
    EXPECT_EQ(buffer.on_host(Use::read, in_loop), moves);
    EXPECT_EQ(std::memcmp(buffer.data(), modelled(buffer), buffer.n_bytes()), 0);
  }

  void write(Buffer& buffer, Use use) {
    const bool moves = buffer.would_move_to_host(use);
    EXPECT_EQ(buffer.on_host(use, in_loop), moves);
    change(static_cast<std::byte*>(buffer.data()), modelled(buffer), buffer.n_bytes(), use);
  }

  void change(std::byte* values, std::byte* model, std::int64_t n_bytes, Use use) {
    for (std::int64_t i = 0; i < n_bytes; ++i) {
      if (use == Use::read_write && below(3) != 0) continue;
      values[i] = model[i] = static_cast<std::byte>(below(256));
    }
  }

  void read_on_device(Buffer& buffer) {
    const auto& device = devices_[below(2)];
    const int before = device->n_uploads;
    const bool moves = buffer.would_move_to(*device, Use::read);
    const auto found = rows(buffer, buffer.on_device(device, Use::read, in_loop));
    EXPECT_EQ(device->n_uploads > before, moves);
    EXPECT_EQ(std::memcmp(found.data(), modelled(buffer), buffer.n_bytes()), 0);
  }

  void write_on_device(Buffer& buffer, Use use) {
    void* handle = buffer.on_device(devices_[below(2)], use, in_loop);
    auto changed = rows(buffer, handle);
    change(changed.data(), modelled(buffer), buffer.n_bytes(), use);
    if (buffer.layout().is_soa) {
      rows_to_columns(handle, changed.data(), buffer.n_rows(), buffer.layout(), 1);
    } else {
      std::memcpy(handle, changed.data(), changed.size());
    }
  }

  static std::vector<std::byte> rows(const Buffer& buffer, const void* handle) {
    std::vector<std::byte> found(buffer.n_bytes());
    if (buffer.layout().is_soa) {
      columns_to_rows(found.data(), handle, buffer.n_rows(), buffer.layout(), 1);
    } else {
      std::memcpy(found.data(), handle, found.size());
    }
    return found;
  }

  void zero(Buffer& buffer) {
    if (!buffer.zero_on_device()) {
      buffer.on_host(Use::write, in_loop);
      std::memset(buffer.data(), 0, buffer.n_bytes());
    }
    std::memset(modelled(buffer), 0, buffer.n_bytes());
  }

  void copy(Buffer& target, Buffer& source) {
    if (!target.copy_on_device(source)) return;
    std::memmove(modelled(target), modelled(source), target.n_bytes());
  }

  std::mt19937 random_;
  std::array<std::byte, n> host_{};
  std::array<std::byte, n> model_{};
  std::shared_ptr<Coherence> coherence_ = std::make_shared<Coherence>();
  std::array<std::shared_ptr<HostDevice>, 2> devices_{std::make_shared<HostDevice>("gpu 0"),
                                                      std::make_shared<HostDevice>("gpu 1")};
  std::array<std::shared_ptr<Buffer>, 5> buffers_;
};

TEST(CoherenceProperty, EveryReadSeesTheLastWriteWhereverItWas) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Walk walk(seed);
    for (int step = 0; step < 200; ++step) {
      walk.step();
      if (::testing::Test::HasFailure()) FAIL() << "at step " << step;
    }
    walk.check_all();
  }
}

}  // namespace
}  // namespace op2::mesh
