// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/prepared_loop.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "runtime/host/threads.hpp"

namespace op2::runtime {
namespace {

using abi::Parameter;
using abi::PlanArray;
using abi::Role;
using exec::Executable;

/// What the hand-written launch functions saw; the ABI has no room for a pointer of a test's own.
struct Seen {
  int n_launches = 0;
  std::atomic<int> n_inside = 0;
  int n_inside_max = 0;
  long begin = -1;
  long end = -1;
  op2_context_v1 context{};
  std::vector<long> error;
  std::vector<void*> argv;
};

Seen& seen() {
  static Seen instance;
  return instance;
}

int note(const op2_context_v1* context, long begin, long end, void* const* argv,
         unsigned int argc) {
  Seen& now = seen();
  ++now.n_launches;
  now.begin = begin;
  now.end = end;
  now.context = *context;
  now.error.assign(context->error, context->error + 4);
  now.argv.assign(argv, argv + argc);
  return 0;
}

/// Fails its own way: as a check on element 7 of argument 1 would, if the first argument says so.
int fail_if_told(const op2_context_v1* context, long begin, long end, void* const* argv,
                 unsigned int argc) {
  (void)note(context, begin, end, argv, argc);
  if (*static_cast<double*>(argv[0]) < 0.0) {
    const long what[] = {3, 1, 7, -5};
    std::memcpy(context->error, what, sizeof what);
    return 3;
  }
  return 0;
}

/// Adds 1 to x, slowly, one at a time: two at once would lose some.
int add_slowly(const op2_context_v1*, long, long end, void* const* argv, unsigned int) {
  Seen& now = seen();
  now.n_inside_max = std::max(now.n_inside_max, ++now.n_inside);
  auto* x = static_cast<double*>(argv[0]);
  for (long n = 0; n < end; ++n) x[n] += 1.0;
  std::this_thread::yield();
  --now.n_inside;
  return 0;
}

Parameter data_argument(int index, bool is_const) {
  return {"x" + std::to_string(index), {DType::float64, is_const, true}, true, Role::data, index};
}

Parameter map_argument(int index) {
  return {"m" + std::to_string(index), {DType::int32, true, true}, true, Role::map, index};
}

Parameter plan_argument(PlanArray array, DType dtype = DType::int64, int number = 0) {
  return {"p", {dtype, true, true}, true, Role::plan, number, array};
}

Parameter constant_argument(int index) {
  return {"c", {DType::float64, true, true}, true, Role::constant, index};
}

template <class T>
std::vector<T> values_at(std::size_t argument, std::int64_t n) {
  const auto* data = static_cast<const T*>(seen().argv[argument]);
  return {data, data + n};
}

using Indices = std::vector<std::int64_t>;

/// One loop over the edges of a path of `n` edges and n + 1 nodes, with the data it needs.
class PreparedLoopTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t n = 6;

  PreparedLoopTest() {
    seen().n_launches = 0;
    seen().n_inside_max = 0;
    executable.launch = note;
    executable.name = "res";
    for (std::int32_t edge = 0; edge < n; ++edge) {
      entries.push_back(edge);
      entries.push_back(edge + 1);
    }
    binding.n_elements = n;
    binding.arguments = {std::make_shared<mesh::Buffer>(x.data(), 8 * n),
                         std::make_shared<mesh::Buffer>(y.data(), 8 * (n + 1))};
    binding.constants = {std::make_shared<mesh::Buffer>(gam.data(), 8)};
    map = std::make_shared<mesh::MapTable>(entries.data(), 4, n, 2, n + 1);
    binding.maps = {map};
    binding.spaces = {0};
  }

  std::unique_ptr<PreparedLoop> prepared() {
    return std::make_unique<PreparedLoop>(std::make_shared<Executable>(executable), binding,
                                          options, plans, timing);
  }

  Executable executable;
  Binding binding;
  LaunchOptions options;
  std::shared_ptr<plan::PlanCache> plans = std::make_shared<plan::PlanCache>();
  std::shared_ptr<Timing> timing = std::make_shared<Timing>();
  std::vector<double> x = std::vector<double>(n, 1.0);
  std::vector<double> y = std::vector<double>(n + 1, 2.0);
  std::vector<double> gam = {1.4};
  std::vector<std::int32_t> entries;
  std::shared_ptr<mesh::MapTable> map;
};

TEST_F(PreparedLoopTest, LaunchesOverAllElementsWithAddressesInTheirPlaces) {
  executable.arguments = {data_argument(1, true), constant_argument(0), map_argument(0),
                          data_argument(0, false)};
  prepared()->run();
  EXPECT_EQ(seen().n_launches, 1);
  EXPECT_EQ(seen().begin, 0);
  EXPECT_EQ(seen().end, n);
  EXPECT_EQ(seen().argv, (std::vector<void*>{y.data(), gam.data(), entries.data(), x.data()}));
  EXPECT_EQ(seen().context.queue, nullptr);
  EXPECT_EQ(seen().context.parameters, nullptr);
  EXPECT_EQ(seen().context.flags, OP2_ONE_THREAD);
  EXPECT_EQ(seen().error, (std::vector<long>{0, 0, 0, 0}));
}

/// A check that fails at element 3 of argument 1 and does not stop the launch.
int fails_quietly(const op2_context_v1* context, long, long, void* const*, unsigned int) {
  if (context->error[0] != 0) return 1;  // it is all zero on entry
  context->error[0] = 7;
  context->error[1] = 1;
  context->error[2] = 3;
  context->error[3] = -5;
  return 0;
}

TEST_F(PreparedLoopTest, ArgumentsThatAreNotThereAreAnError) {
  for (const abi::Role role : {abi::Role::data, abi::Role::constant, abi::Role::map,
                               abi::Role::matrix, abi::Role::items}) {
    for (const int index : {-1, 2, 1 << 30}) {
      executable.arguments = {{"x", {DType::float64, true, true}, true, role, index}};
      executable.data = {{Access::read, DType::float64, DType::float64, false}};
      try {
        prepared()->run();
        ADD_FAILURE() << "it ran";
      } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("its code's argument 'x'"), std::string::npos)
            << error.what();
      }
    }
  }
  EXPECT_EQ(seen().n_launches, 0);
}

TEST_F(PreparedLoopTest, WhatGeneratedCodeFindsWrongIsAnError) {
  executable.launch = fails_quietly;
  const auto loop = prepared();
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(op2::testing::message_of<ExecutionError>([&] { loop->run(); }),
              "par_loop 'res': check 7 failed: argument 1, element 3, value -5");
  }
  executable.launch = [](const op2_context_v1*, long, long, void* const*, unsigned int) {
    return 9;
  };
  EXPECT_EQ(op2::testing::message_of<ExecutionError>([&] { prepared()->run(); }),
            "par_loop 'res': check 9 failed: argument 0, element 0, value 0");
}

TEST_F(PreparedLoopTest, ReadsAddressesAtEachLaunch) {
  executable.arguments = {data_argument(0, false)};
  const auto loop = prepared();
  loop->run();
  EXPECT_EQ(seen().argv[0], x.data());
  std::vector<double> other(n);
  binding.arguments[0]->reset(other.data(), 8 * n);
  loop->run();
  EXPECT_EQ(seen().argv[0], other.data());
}

TEST_F(PreparedLoopTest, CountsWritesOfWrittenArgumentsOnly) {
  executable.arguments = {data_argument(0, false), data_argument(1, true), constant_argument(0)};
  const auto loop = prepared();
  loop->prepare();
  EXPECT_EQ(binding.arguments[0]->version(), 0);
  loop->run();
  loop->run();
  EXPECT_EQ(binding.arguments[0]->version(), 2);
  EXPECT_EQ(binding.arguments[1]->version(), 0);
  EXPECT_EQ(binding.constants[0]->version(), 0);
}

TEST_F(PreparedLoopTest, AnEmptySetNeverLaunches) {
  for (const abi::PlanSpec& plan : std::vector<abi::PlanSpec>{
           abi::NoPlan{}, abi::BlocksPlan{std::vector{0}}, abi::ColoursPlan{{0}}}) {
    executable.arguments = {data_argument(0, false)};
    executable.plan = plan;
    executable.scratch = {64, 16, 0};
    binding.n_elements = 0;
    prepared()->run();
    EXPECT_EQ(seen().n_launches, 0);
  }
  EXPECT_EQ(timing->n_calls, 3);
  EXPECT_EQ(binding.arguments[0]->version(), 3);  // PyOP2 counts the access, not the work
}

TEST_F(PreparedLoopTest, AnEmptySetOfAnInverseNeverLaunches) {
  executable.plan = abi::InversePlan{{{0}}};
  executable.items = abi::Items::targets;
  binding.n_elements = 0;
  prepared()->run();
  EXPECT_EQ(seen().n_launches, 0);
}

TEST_F(PreparedLoopTest, PhasesAreTheWorkItemsBeforeTheBoundaryAndTheRest) {
  executable.arguments = {data_argument(0, false)};
  binding.n_boundary = 2;
  options.useful_bytes = 60;
  const auto loop = prepared();
  loop->run(Phase::core);
  EXPECT_EQ(loop->n_core_items(), 4);
  EXPECT_EQ(std::pair(seen().begin, seen().end), std::pair(0L, 4L));
  EXPECT_EQ(binding.arguments[0]->version(), 0);
  EXPECT_EQ(timing->n_calls, 0);
  loop->run(Phase::boundary);
  EXPECT_EQ(std::pair(seen().begin, seen().end), std::pair(4L, 6L));
  EXPECT_EQ(binding.arguments[0]->version(), 1);
  EXPECT_EQ(timing->n_calls, 1);
  EXPECT_EQ(timing->useful_bytes, 60);
  loop->run();
  EXPECT_EQ(std::pair(seen().begin, seen().end), std::pair(0L, 6L));
  EXPECT_EQ(seen().n_launches, 3);
}

TEST_F(PreparedLoopTest, AnEmptyPhaseLaunchesNothing) {
  executable.arguments = {data_argument(0, false)};
  for (const std::int64_t n_boundary : {std::int64_t{0}, n}) {
    seen().n_launches = 0;
    binding.n_boundary = n_boundary;
    const auto loop = prepared();
    loop->run(n_boundary == 0 ? Phase::boundary : Phase::core);
    EXPECT_EQ(seen().n_launches, 0);
    loop->run(n_boundary == 0 ? Phase::core : Phase::boundary);
    EXPECT_EQ(seen().n_launches, 1);
    EXPECT_EQ(std::pair(seen().begin, seen().end), std::pair(0L, long{n}));
  }
}

TEST_F(PreparedLoopTest, IfDeterministicARunIsBothPhases) {
  executable.arguments = {data_argument(0, false)};
  binding.n_boundary = 2;
  options.is_deterministic = true;
  const auto loop = prepared();
  loop->run();
  EXPECT_EQ(seen().n_launches, 2);
  EXPECT_EQ(std::pair(seen().begin, seen().end), std::pair(4L, 6L));
  EXPECT_EQ(binding.arguments[0]->version(), 1);
  EXPECT_EQ(timing->n_calls, 1);
  binding.n_boundary = 0;
  prepared()->run();
  EXPECT_EQ(seen().n_launches, 3);
}

TEST_F(PreparedLoopTest, AfterAPhaseThatFailedRunsAreWholeAgain) {
  executable.arguments = {data_argument(0, false)};
  executable.launch = fail_if_told;
  binding.n_boundary = 2;
  const auto loop = prepared();
  x[0] = -1.0;
  EXPECT_THROW(loop->run(Phase::core), ExecutionError);
  x[0] = 1.0;
  loop->run();
  EXPECT_EQ(std::pair(seen().begin, seen().end), std::pair(0L, 6L));
}

TEST_F(PreparedLoopTest, RowsAreInPhasesUnlessTheySumWhatElementsHaveLeft) {
  binding.n_boundary = 2;
  const auto core_items = [this](abi::Items items, bool all_targets) {
    executable.items = items;
    executable.plan = abi::InversePlan{{{0}, all_targets}};
    const auto loop = prepared();
    loop->prepare();
    return std::pair(loop->n_core_items(), loop->n_items());
  };
  using Counts = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(core_items(abi::Items::targets, false), Counts(4, 7));
  EXPECT_EQ(core_items(abi::Items::targets, true), Counts(7, 7));  // rows in order: no boundary
  EXPECT_EQ(core_items(abi::Items::elements, false), Counts(0, 6));
}

TEST_F(PreparedLoopTest, KeepsTheBooks) {
  options.useful_bytes = 100;
  options.operations = 7;
  options.float_bytes = 8;
  executable.plan = abi::BlocksPlan{std::vector{0}};
  const auto loop = prepared();
  loop->run();
  const std::int64_t planning = timing->plan_nanoseconds;
  loop->run();
  EXPECT_EQ(timing->n_calls, 2);
  EXPECT_EQ(timing->useful_bytes, 200);
  EXPECT_EQ(timing->operations, 14);
  EXPECT_EQ(timing->n_double, 2);
  EXPECT_EQ(timing->n_unknown, 0);
  EXPECT_GT(timing->nanoseconds, 0);
  EXPECT_GT(planning, 0);
  EXPECT_EQ(timing->plan_nanoseconds, planning);  // planned once
}

TEST_F(PreparedLoopTest, CallsWithUnknownOperationsAreCounted) {
  prepared()->run();
  EXPECT_EQ(timing->n_unknown, 1);
  EXPECT_EQ(timing->operations, 0);
  EXPECT_EQ(timing->n_double, 0);
}

// -------------------------------------------------------------------------------------- scratch

class Scratch : public PreparedLoopTest {
 protected:
  std::int64_t bytes_with(const abi::ScratchSpec& spec) {
    executable.scratch = spec;
    prepared()->run();
    return seen().context.scratch_bytes;
  }
};

TEST_F(Scratch, IsNotThereIfNotNeeded) {
  EXPECT_EQ(bytes_with({}), 0);
  EXPECT_EQ(seen().context.scratch, nullptr);
}

TEST_F(Scratch, IsAlignedAndWritableToItsEnd) {
  EXPECT_EQ(bytes_with({0, 40, 0}), 40 * n);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(seen().context.scratch) % 64, 0U);
  executable.launch = [](const op2_context_v1* context, long, long, void* const*, unsigned int) {
    std::memset(context->scratch, 1, static_cast<std::size_t>(context->scratch_bytes));
    return 0;
  };
  prepared()->run();  // the sanitizer's to judge
}

TEST_F(Scratch, HasASlotForEachThreadChunkOrItem) {
  EXPECT_EQ(bytes_with({128, 16, 0}), 128 + 16 * n);  // six elements are one thread's work
  EXPECT_EQ(bytes_with({128, 0, 4}), 2 * 128);
  EXPECT_EQ(bytes_with({128, 0, 6}), 128);
  EXPECT_EQ(bytes_with({128, 0, -1}), n * 128);
}

TEST_F(Scratch, FollowsTheThreadsThatALoopIsWorth) {
  options.n_threads = 3;
  for (const auto& [n_elements, n_threads] :
       std::vector<std::pair<std::int64_t, int>>{{6, 1}, {1000, 1}, {1100, 3}, {1'000'000, 3}}) {
    binding.n_elements = n_elements;
    EXPECT_EQ(bytes_with({64, 0, 0}), 64 * n_threads);
    EXPECT_EQ(seen().context.n_threads, n_threads);
  }
}

TEST_F(Scratch, HeavyElementsAreWorthThreadsSooner) {
  options.n_threads = 3;
  const auto n_threads = [&](std::int64_t n_elements, std::int64_t bytes, std::int64_t operations) {
    binding.n_elements = n_elements;
    options.useful_bytes = bytes;
    options.operations = operations;
    (void)bytes_with({64, 0, 0});
    return seen().context.n_threads;
  };
  EXPECT_EQ(n_threads(100, 100 * 128, 100 * 64), 1);
  EXPECT_EQ(n_threads(100, 2'000'000, -1), 3);
  EXPECT_EQ(n_threads(100, 0, 1'000'000), 3);
  EXPECT_EQ(n_threads(1, 2'000'000, 1'000'000), 1);
}

TEST_F(Scratch, CountsBlocksWhereBlocksAreTheItems) {
  executable.plan = abi::BlocksPlan{std::vector{0}};
  executable.items = abi::Items::blocks;
  options.block_size = 2;
  EXPECT_EQ(bytes_with({64, 0, -1}), 3 * 64);
}

// ---------------------------------------------------------------------------------------- plans

TEST_F(PreparedLoopTest, BlocksComeAsSizesColoursBlocksAndOffsets) {
  executable.plan = abi::BlocksPlan{std::vector{0}};
  executable.items = abi::Items::blocks;
  executable.arguments = {plan_argument(PlanArray::sizes), plan_argument(PlanArray::colour_offset),
                          plan_argument(PlanArray::block_of),
                          plan_argument(PlanArray::block_offset)};
  options.block_size = 2;
  const auto loop = prepared();
  loop->run();
  EXPECT_EQ(seen().end, 3);
  EXPECT_EQ(loop->n_colours(), 2);  // neighbouring blocks share a node
  EXPECT_GT(loop->plan_bytes(), 0);
  EXPECT_EQ(values_at<std::int64_t>(0, 1), (Indices{2}));
  EXPECT_EQ(values_at<std::int64_t>(1, 3), (Indices{0, 2, 3}));
  EXPECT_EQ(values_at<std::int64_t>(2, 3), (Indices{0, 2, 1}));
  EXPECT_EQ(values_at<std::int64_t>(3, 4), (Indices{0, 2, 4, 6}));
}

TEST_F(PreparedLoopTest, WhereMapsCannotTellOneBlockHoldsAll) {
  executable.plan = abi::BlocksPlan{std::nullopt};
  executable.items = abi::Items::blocks;
  executable.arguments = {plan_argument(PlanArray::block_offset)};
  options.block_size = 2;  // asked for in vain
  const auto loop = prepared();
  loop->run();
  EXPECT_EQ(seen().end, 1);
  EXPECT_EQ(values_at<std::int64_t>(0, 2), (Indices{0, n}));
}

TEST_F(PreparedLoopTest, ColoursComeAsSizesColoursAndElements) {
  executable.plan = abi::ColoursPlan{{0}};
  executable.arguments = {plan_argument(PlanArray::sizes), plan_argument(PlanArray::colour_offset),
                          plan_argument(PlanArray::elements, DType::int32)};
  const auto loop = prepared();
  loop->run();
  EXPECT_EQ(seen().end, n);
  EXPECT_EQ(loop->n_colours(), 2);
  EXPECT_EQ(values_at<std::int64_t>(0, 1), (Indices{2}));
  EXPECT_EQ(values_at<std::int64_t>(1, 3), (Indices{0, 3, 6}));
  EXPECT_EQ(values_at<std::int32_t>(2, 6), (std::vector<std::int32_t>{0, 2, 4, 1, 3, 5}));
}

TEST_F(PreparedLoopTest, MapsOfTwoSpacesDoNotConflict) {
  // The same path again, shifted: in one space it would need more colours.
  std::vector<std::int32_t> shifted(entries.rbegin(), entries.rend());
  binding.maps.push_back(std::make_shared<mesh::MapTable>(shifted.data(), 4, n, 2, n + 1));
  executable.plan = abi::ColoursPlan{{0, 1}};
  binding.spaces = {0, 1};
  const auto apart = prepared();
  apart->run();
  binding.spaces = {0, 0};
  const auto together = prepared();
  together->run();
  EXPECT_EQ(apart->n_colours(), 2);
  EXPECT_GT(together->n_colours(), 2);
}

TEST_F(PreparedLoopTest, InverseOfTargetsComesAsOffsetsEntriesAndTouched) {
  executable.plan = abi::InversePlan{{{0}}};
  executable.items = abi::Items::targets;
  executable.arguments = {plan_argument(PlanArray::incidence_offset),
                          plan_argument(PlanArray::incidences, DType::int32),
                          plan_argument(PlanArray::touched, DType::int32)};
  const auto loop = prepared();
  loop->run();
  EXPECT_EQ(seen().end, n + 1);
  EXPECT_EQ(values_at<std::int64_t>(0, n + 2), (Indices{0, 1, 3, 5, 7, 9, 11, 12}));
  EXPECT_EQ(values_at<std::int32_t>(1, 5), (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(seen().argv[2], nullptr);  // all targets
}

TEST_F(PreparedLoopTest, InverseOfFewTargetsListsThem) {
  map = std::make_shared<mesh::MapTable>(entries.data(), 4, n, 2, 1000);
  binding.maps = {map};
  executable.plan = abi::InversePlan{{{0}}};
  executable.items = abi::Items::targets;
  executable.arguments = {plan_argument(PlanArray::touched, DType::int32)};
  binding.n_elements = 2;
  const auto loop = prepared();
  loop->run();
  EXPECT_EQ(seen().end, 3);
  EXPECT_EQ(values_at<std::int32_t>(0, 3), (std::vector<std::int32_t>{0, 1, 2}));
}

TEST_F(PreparedLoopTest, ColumnsComeWithTheMapsBehindThem) {
  executable.plan = abi::ColumnsPlan{{{0}}, 4, {{0}}};
  executable.items = abi::Items::groups;
  executable.arguments = {plan_argument(PlanArray::sizes),
                          plan_argument(PlanArray::column_offset),
                          plan_argument(PlanArray::column_slot, DType::int32),
                          plan_argument(PlanArray::column_elements, DType::int32),
                          plan_argument(PlanArray::column_targets, DType::int32),
                          plan_argument(PlanArray::composed_rows, DType::int32)};
  const auto loop = prepared();
  loop->run();
  EXPECT_EQ(seen().end, 2);  // groups of n + 1 = 7 targets
  EXPECT_EQ(values_at<std::int64_t>(0, 1), (Indices{n + 1}));
  // sorted: the last target has the second slot alone, the first one the first slot alone
  EXPECT_EQ(values_at<std::int32_t>(4, 7), (std::vector<std::int32_t>{6, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_at<std::int64_t>(1, 3), (Indices{0, 2, 4}));
  EXPECT_EQ(values_at<std::int32_t>(2, 4), (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(values_at<std::int32_t>(3, 8), (std::vector<std::int32_t>{-1, 0, 1, 2, 5, -6, 0, 1}));
  EXPECT_EQ(values_at<std::int32_t>(5, 4), (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(loop->plan_bytes(), 3 * 8 + 4 * 4 + 16 * 4 + 7 * 4 + 16 * 2 * 4);
}

TEST_F(PreparedLoopTest, ColumnsOfAnotherWidthAreRefused) {
  executable.plan = abi::ColumnsPlan{{{0}}, 4};
  executable.arguments = {plan_argument(PlanArray::column_elements, DType::int64)};
  EXPECT_THROW(prepared()->run(), InternalError);
}

TEST_F(PreparedLoopTest, InverseForElementsSaysHowManyTargetsToo) {
  executable.plan = abi::InversePlan{{{0}}};
  executable.items = abi::Items::elements;
  executable.arguments = {plan_argument(PlanArray::sizes),
                          plan_argument(PlanArray::incidence_offset),
                          plan_argument(PlanArray::incidences, DType::int32),
                          plan_argument(PlanArray::touched, DType::int32)};
  const auto loop = prepared();
  loop->run();
  EXPECT_EQ(seen().end, n);
  EXPECT_EQ(values_at<std::int64_t>(0, 1), (Indices{n + 1}));
  EXPECT_EQ(values_at<std::int64_t>(1, 2), (Indices{0, 1}));
  EXPECT_EQ(seen().argv[3], nullptr);
}

TEST_F(PreparedLoopTest, CodeForAnotherWidthOfEntriesIsRefused) {
  executable.plan = abi::InversePlan{{{0}}};
  executable.items = abi::Items::targets;
  executable.arguments = {plan_argument(PlanArray::incidence_offset),
                          plan_argument(PlanArray::incidences, DType::int64)};
  EXPECT_THROW(prepared()->run(), InternalError);
  EXPECT_EQ(seen().n_launches, 0);
}

TEST_F(PreparedLoopTest, RebuildsThePlanWhenAMapHasChanged) {
  executable.plan = abi::ColoursPlan{{0}};
  const auto loop = prepared();
  loop->run();
  loop->run();
  EXPECT_EQ(plans->statistics().misses, 1);
  EXPECT_EQ(loop->n_colours(), 2);
  std::fill(entries.begin(), entries.end(), 3);  // all edges meet in one node
  loop->run();
  EXPECT_EQ(loop->n_colours(), 2);  // nobody said so
  map->increment_version();
  loop->run();
  EXPECT_EQ(loop->n_colours(), n);
}

TEST_F(PreparedLoopTest, AMapThatNoPlanFitsFailsEachTimeUntilItIsMended) {
  executable.plan = abi::ColoursPlan{{0}};
  const auto loop = prepared();
  loop->run();
  *map = mesh::MapTable(entries.data(), 4, 2, 2, n + 1);  // too few rows
  map->increment_version();
  EXPECT_THROW(loop->run(), UsageError);
  EXPECT_THROW(loop->run(), UsageError);
  EXPECT_EQ(seen().n_launches, 1);
  *map = mesh::MapTable(entries.data(), 4, n, 2, n + 1);
  map->increment_version();
  map->increment_version();
  loop->run();
  EXPECT_EQ(seen().n_launches, 2);
}

TEST_F(PreparedLoopTest, PlansOfEqualLoopsAreShared) {
  executable.plan = abi::BlocksPlan{std::vector{0}};
  executable.arguments = {plan_argument(PlanArray::block_of)};
  const auto first = prepared();
  first->run();
  void* const blocks = seen().argv[0];
  const auto second = prepared();
  second->run();
  EXPECT_EQ(seen().argv[0], blocks);
  EXPECT_EQ(plans->statistics().misses, 1);
}

// --------------------------------------------------------------------------------------- errors

TEST_F(PreparedLoopTest, AFailedCheckIsAnExecutionErrorThatTellsWhere) {
  executable.launch = fail_if_told;
  executable.arguments = {data_argument(0, false)};
  const auto loop = prepared();
  loop->run();
  x[0] = -1.0;
  try {
    loop->run();
    FAIL() << "no error";
  } catch (const ExecutionError& error) {
    EXPECT_STREQ(error.what(), "par_loop 'res': check 3 failed: argument 1, element 7, value -5");
  }
}

TEST_F(PreparedLoopTest, AfterAFailureTheNextLaunchStartsClean) {
  executable.launch = fail_if_told;
  executable.arguments = {data_argument(0, false)};
  const auto loop = prepared();
  x[0] = -1.0;
  EXPECT_THROW(loop->run(), ExecutionError);
  x[0] = 1.0;
  loop->run();
  EXPECT_EQ(seen().n_launches, 2);
  EXPECT_EQ(seen().error, (std::vector<long>{0, 0, 0, 0}));  // "all zero on entry", says abi.h
}

TEST_F(PreparedLoopTest, InAForkedChildOneThreadRunsAParallelLoop) {
  executable.is_parallel = true;
  options.n_threads = 2;
  options.tuning.short_microseconds = 0;
  binding.n_elements = 2048;
  const auto flags = [this] {
    const auto loop = prepared();
    loop->run();
    return static_cast<int>(seen().context.flags);
  };
  // In a program started anew: the record of parallel regions is the process's.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        if (flags() != 0) ::_exit(10);
        const pid_t child = ::fork();
        if (child == 0) ::_exit(flags());
        int status = 0;
        ::waitpid(child, &status, 0);
        ::_exit(WEXITSTATUS(status));
      },
      ::testing::ExitedWithCode(OP2_ONE_THREAD), "");
}

TEST_F(PreparedLoopTest, RunsOfOneLoopFromTwoThreadsExcludeEachOther) {
  executable.launch = add_slowly;
  executable.arguments = {data_argument(0, false)};
  const auto loop = prepared();
  const auto work = [&loop] {
    for (int run = 0; run < 500; ++run) loop->run();
  };
  std::thread one(work);
  std::thread two(work);
  one.join();
  two.join();
  EXPECT_EQ(x, std::vector<double>(n, 1001.0));
  EXPECT_EQ(seen().n_inside_max, 1);
  EXPECT_EQ(binding.arguments[0]->version(), 1000);
  EXPECT_EQ(timing->n_calls, 1000);
}

TEST_F(PreparedLoopTest, TwoLoopsShareAPlanCacheFromTwoThreads) {
  executable.launch = [](const op2_context_v1*, long, long, void* const*, unsigned int) {
    return 0;
  };
  executable.plan = abi::BlocksPlan{std::vector{0}};
  const auto one = prepared();
  const auto two = prepared();
  const auto work = [](PreparedLoop& loop) {
    for (int run = 0; run < 100; ++run) loop.run();
  };
  std::thread first(work, std::ref(*one));
  std::thread second(work, std::ref(*two));
  first.join();
  second.join();
  EXPECT_EQ(plans->statistics().misses, 1);
  EXPECT_EQ(timing->n_calls, 200);
}

}  // namespace
}  // namespace op2::runtime
