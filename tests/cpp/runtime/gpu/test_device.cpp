// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/device.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <vector>

#include "../../base/message_of.hpp"
#include "base/error.hpp"
#include "fake_driver.hpp"

namespace op2::runtime::gpu {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

class GpuDevice : public ::testing::Test {
 protected:
  testing::FakeGpu fake_;
  Gpu gpu_{fake_.driver(), 0};
  std::shared_ptr<Program> program_ = gpu_.load("adt res combine");

  void launch(const std::string& kernel, const std::string& loop) {
    gpu_.launch(program_->kernel(kernel), Grid{2, 128}, {}, loop);
  }
};

TEST_F(GpuDevice, DataGoThereWithinAndBack) {
  const std::array<int, 4> values = {1, 2, 3, 4};
  const std::shared_ptr<void> a = gpu_.allocate(16, "Dat 'a'");
  const std::shared_ptr<void> b = gpu_.allocate(16, "Dat 'b'");
  gpu_.upload(a.get(), 0, values.data(), 16);
  gpu_.zero(b.get(), 0, 16);
  gpu_.copy(b.get(), 4, a.get(), 8, 8);
  std::array<int, 4> found = {};
  gpu_.download(found.data(), b.get(), 0, 16);
  EXPECT_EQ(found, (std::array<int, 4>{0, 3, 4, 0}));
  int last = 0;
  gpu_.download(&last, a.get(), 12, 4);
  EXPECT_EQ(last, 4);
}

TEST_F(GpuDevice, NumbersTravelWithCommands) {
  const std::array<double, 2> number = {1.5, -2.25};
  const std::shared_ptr<void> a = gpu_.allocate(16, "number");
  gpu_.set(a.get(), std::as_bytes(std::span(number)));
  std::array<double, 2> found = {};
  gpu_.download(found.data(), a.get(), 0, 16);
  EXPECT_EQ(found, number);
}

TEST_F(GpuDevice, AnUploadOnlyWaitsForMemoryThatTheDriverReadsLater) {
  const std::shared_ptr<void> a = gpu_.allocate(8, "Dat 'a'");
  const double value = 1.0;
  gpu_.upload(a.get(), 0, &value, 8);
  EXPECT_EQ(fake_.n_waits, 0);
  fake_.is_page_locked = true;
  gpu_.upload(a.get(), 0, &value, 8);
  EXPECT_EQ(fake_.n_waits, 1);
}

TEST_F(GpuDevice, ALaunchPassesArgumentsInOrderAndWaitsForNothing) {
  const std::shared_ptr<void> a = gpu_.allocate(8, "Dat 'a'");
  fake_.n_values = 3;
  const std::vector<LaunchArgument> arguments = {a.get(), nullptr, std::int64_t{-7}};
  gpu_.launch(program_->kernel("res"), Grid{3, 64}, arguments, "res");
  gpu_.launch(program_->kernel("res"), Grid{0, 64}, arguments, "res");  // nothing to do
  ASSERT_EQ(fake_.launches.size(), 1U);
  const testing::FakeGpu::Launch& launched = fake_.launches.front();
  EXPECT_EQ(launched.kernel, "res");
  EXPECT_EQ(launched.n_blocks, 3U);
  EXPECT_EQ(launched.n_lanes, 64U);
  EXPECT_EQ(launched.values, (std::vector<long long>{reinterpret_cast<long long>(a.get()), 0, -7}));
  EXPECT_EQ(fake_.n_waits, 0);
  EXPECT_TRUE(fake_.current.empty());
}

TEST_F(GpuDevice, KernelsThatWaitByThemselvesStartEarly) {
  const std::shared_ptr<Program> waiting = gpu_.load("res op2_waits");
  gpu_.launch(waiting->kernel("res"), Grid{1, 32}, {}, "res_calc");
  EXPECT_EQ(fake_.n_early, 1);
  launch("res", "res_calc");  // compiled for an older target than this very GPU
  EXPECT_EQ(fake_.n_early, 1);
  EXPECT_EQ(fake_.launches.size(), 2U);
}

TEST_F(GpuDevice, KernelsGetTheMemoryOfABlockThatTheirCodeAsksFor) {
  const std::shared_ptr<Program> large = gpu_.load("res op2_waits op2_shared_res adt");
  gpu_.launch(large->kernel("res"), Grid{1, 32}, {}, "res_calc");
  gpu_.launch(large->kernel("adt"), Grid{1, 32}, {}, "adt_calc");
  ASSERT_EQ(fake_.launches.size(), 2U);
  EXPECT_EQ(fake_.launches[0].shared_bytes, 100000U);
  EXPECT_EQ(fake_.launches[1].shared_bytes, 0U);
  EXPECT_EQ(fake_.granted, (std::vector<int>{100000}));
  const std::shared_ptr<Program> late = gpu_.load("res op2_shared_res");  // launched not early
  gpu_.launch(late->kernel("res"), Grid{1, 32}, {}, "res_calc");
  EXPECT_EQ(fake_.launches[2].shared_bytes, 100000U);
}

TEST_F(GpuDevice, ABlockWithTooLittleMemoryIsNamed) {
  fake_.requested_bytes = 300000;
  const std::shared_ptr<Program> large = gpu_.load("res op2_shared_res");
  EXPECT_TRUE(op2::testing::contains(
      op2::testing::message_of<ExecutionError>([&] { static_cast<void>(large->kernel("res")); }),
      "give 300000 bytes of memory to each block of kernel 'res'"));
}

TEST_F(GpuDevice, AnOldDriverStartsNothingEarly) {
  auto driver = *fake_.driver();
  driver.launch_kernel_ex = nullptr;
  Gpu old(std::make_shared<Driver>(driver), 0);
  const std::shared_ptr<Program> waiting = old.load("res op2_waits");
  old.launch(waiting->kernel("res"), Grid{1, 32}, {}, "res_calc");
  EXPECT_EQ(fake_.n_early, 0);
  EXPECT_EQ(fake_.launches.size(), 1U);
}

TEST_F(GpuDevice, ALibraryGetsTheStreamAndTheContextForAWhile) {
  const std::string what = "dot of a library";
  std::uintptr_t lent = 0;
  EXPECT_TRUE(gpu_.lend_queue(what, [&](std::uintptr_t queue) {
    lent = queue;
    EXPECT_EQ(fake_.current.size(), 1U);
  }));
  EXPECT_EQ(lent, reinterpret_cast<std::uintptr_t>(gpu_.stream()));
  EXPECT_TRUE(fake_.current.empty());
  EXPECT_EQ(fake_.n_waits, 0);
  const auto fail = [](std::uintptr_t /*queue*/) { throw ExecutionError("it failed"); };
  EXPECT_THROW(gpu_.lend_queue(what, fail), ExecutionError);
  EXPECT_TRUE(fake_.current.empty());
}

TEST_F(GpuDevice, AFaultNamesTheLoopAtTheNextWaitAndForEver) {
  fake_.broken_kernel = "res";
  launch("res", "res_calc");
  const std::string first = message_of<ExecutionError>([&] { gpu_.finish(); });
  EXPECT_TRUE(contains(first, "par_loop 'res_calc' failed on cuda device 0 (NVIDIA Imagination)",
                       "CUDA_ERROR_ILLEGAL_ADDRESS", "restart it", "debug=True"));
  const std::string later =
      message_of<ExecutionError>([&] { static_cast<void>(gpu_.allocate(8, "Dat 'a'")); });
  EXPECT_TRUE(contains(later, "is lost to this process since: par_loop 'res_calc' failed"));
}

TEST_F(GpuDevice, SeveralLoopsInFlightAreAllNamed) {
  launch("adt", "save_soln");
  gpu_.finish();  // not to blame any more
  fake_.broken_kernel = "res";
  launch("adt", "adt_calc");
  launch("res", "res_calc");
  double value = 0.0;
  const std::shared_ptr<void> none;
  const std::string message =
      message_of<ExecutionError>([&] { gpu_.download(&value, none.get(), 0, 8); });
  EXPECT_TRUE(contains(message, "one of the par_loops 'adt_calc', 'res_calc' failed",
                       "CUDA_LAUNCH_BLOCKING=1"));
  EXPECT_EQ(message.find("save_soln"), std::string::npos);
}

TEST_F(GpuDevice, ALaunchThatDoesNotFitIsNoFault) {
  fake_.oversized_kernel = "res";
  const std::string message = message_of<ExecutionError>([&] { launch("res", "res_calc"); });
  EXPECT_TRUE(contains(message, "cannot launch par_loop 'res_calc' as 2 blocks of 128 lanes"));
  EXPECT_NO_THROW(gpu_.finish());
  EXPECT_THROW(gpu_.launch(program_->kernel("adt"),
                           Grid{std::int64_t{1} + std::numeric_limits<std::int32_t>::max(), 32}, {},
                           "adt_calc"),
               UnsupportedError);
}

TEST_F(GpuDevice, AForkedChildIsToldAndFreesNothing) {
  std::shared_ptr<void> a = gpu_.allocate(8, "Dat 'a'");
  const pid_t child = ::fork();
  if (child == 0) {
    a.reset();
    program_.reset();
    if (fake_.n_used != 8 || fake_.n_modules != 1) ::_exit(2);
    try {
      gpu_.finish();
    } catch (const ExecutionError&) {
      ::_exit(0);
    }
    ::_exit(1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace op2::runtime::gpu
