// SPDX-License-Identifier: BSD-3-Clause
#include "ir/loop.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"

namespace op2::ir {
namespace {

Loop airfoil_like() {
  auto kernel = std::make_shared<kernel::Kernel>();
  kernel->name = "res_calc";
  return loop_of(
      kernel,
      {IndirectDat{DType::float64, 2, Access::read, 0, {0, 0}},
       IndirectDat{DType::float64, 4, Access::inc, 1, {1, 1}},
       DirectDat{DType::int32, 1, Access::rw, {2, 2}},
       DirectDat{DType::float32, 3, Access::read, {3, 3}},
       DirectDat{DType::float64, 2, Access::write, {4, 4}}, GlobalRead{DType::float64, 1, {5, 5}},
       GlobalReduce{DType::int64, 2, Access::max, {6, 6}}},
      {{2, 0}, {3, 1}}, {{"gam", DType::float64, 1}, {"qinf", DType::float64, 4}});
}

std::string failure_of_loop(const std::function<void(Loop&)>& damage) {
  Loop loop = airfoil_like();
  damage(loop);
  try {
    verify(loop);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(Loop, AnswersForEveryKindOfArgument) {
  const Loop loop = airfoil_like();
  EXPECT_EQ(dtype_of(loop.args[2]), DType::int32);
  EXPECT_EQ(dim_of(loop.args[1]), 4);
  EXPECT_EQ(alias_of(loop.args[6]), (Alias{6, 6}));
  EXPECT_EQ(access_of(loop.args[0]), Access::read);
  EXPECT_EQ(access_of(loop.args[2]), Access::rw);
  EXPECT_EQ(access_of(loop.args[5]), Access::read);
  EXPECT_EQ(access_of(loop.args[6]), Access::max);
}

TEST(Loop, TheKernelSeesDimTimesArity) {
  const Loop loop = airfoil_like();
  EXPECT_EQ(extent_of(loop, loop.args[0]), 4);   // 2 x 2
  EXPECT_EQ(extent_of(loop, loop.args[1]), 12);  // 4 x 3
  EXPECT_EQ(extent_of(loop, loop.args[2]), 1);
  EXPECT_EQ(extent_of(loop, loop.args[6]), 2);
}

TEST(Loop, ElementsMeetInRowsOfAMatrixUnlessThereIsOne) {
  MatArg matrix{DType::float64, 1, 1, Access::inc, 0, 1, false, false, {0, 0}};
  EXPECT_EQ(target_map_of(matrix), 0);
  matrix.by_columns = true;
  EXPECT_EQ(target_map_of(matrix), 1);
}

TEST(Loop, MemoryMayBeNarrowerThanWhatTheKernelSees) {
  Loop loop = airfoil_like();
  EXPECT_FALSE(converts(loop));
  EXPECT_EQ(stored_of(loop.args[3]), DType::float32);
  auto& dat = std::get<IndirectDat>(static_cast<Arg&>(loop.args[0]));
  dat.stored = DType::float32;
  verify(loop);
  EXPECT_TRUE(converts(loop));
  EXPECT_EQ(stored_of(loop.args[0]), DType::float32);
  EXPECT_EQ(dtype_of(loop.args[0]), DType::float64);
  EXPECT_NE(dump(loop).find("float32 as float64 x2"), std::string::npos);
}

TEST(LoopVerify, MemoryIsOfTheKindOfItsValuesAndNoWider) {
  const auto with = [](DType dtype, DType stored) {
    return failure_of_loop([=](Loop& loop) {
      auto& dat = std::get<IndirectDat>(static_cast<Arg&>(loop.args[0]));
      dat.dtype = dtype;
      dat.stored = stored;
    });
  };
  EXPECT_EQ(with(DType::complex128, DType::complex64), "");
  for (const auto& [dtype, stored] :
       {std::pair(DType::float32, DType::float64), std::pair(DType::float64, DType::int32),
        std::pair(DType::complex128, DType::float32), std::pair(DType::int64, DType::int32)}) {
    EXPECT_NE(with(dtype, stored).find("memory of another kind"), std::string::npos);
  }
  const std::string failure = failure_of_loop([](Loop& loop) {
    std::get<DirectDat>(static_cast<Arg&>(loop.args[4])).alias = {3, 3};
  });
  EXPECT_NE(failure.find("one Dat seen as two types"), std::string::npos);
}

TEST(LoopVerify, AcceptsASoundLoop) {
  EXPECT_EQ(failure_of_loop([](Loop&) {}), "");
}

TEST(LoopVerify, NamesWhatIsBroken) {
  EXPECT_EQ(failure_of_loop([](Loop& loop) { loop.members[0].kernel = nullptr; }),
            "loop without a kernel");
  EXPECT_EQ(failure_of_loop([](Loop& loop) { std::get<DirectDat>(loop.args[2]).dim = -1; }),
            "loop 'res_calc': arg 2: negative dim");
  EXPECT_EQ(failure_of_loop([](Loop& loop) { std::get<IndirectDat>(loop.args[1]).map = 2; }),
            "loop 'res_calc': arg 1: map out of range");
  EXPECT_EQ(failure_of_loop([](Loop& loop) { std::get<IndirectDat>(loop.args[0]).map = -1; }),
            "loop 'res_calc': arg 0: map out of range");
  EXPECT_EQ(failure_of_loop([](Loop& loop) { std::swap(loop.constants[0], loop.constants[1]); }),
            "constants are not sorted by name");
}

TEST(LoopVerify, ArgumentsAreInOrder) {
  const std::string parameters = "arguments are not in the order of their parameters";
  EXPECT_EQ(failure_of_loop([](Loop& loop) { loop.args[1].parameter = 0; }), "");
  EXPECT_EQ(failure_of_loop([](Loop& loop) { loop.args[1].parameter = 3; }), parameters);
  const std::string members = "arguments are not in the order of the members";
  for (const int member : {-1, 1}) {
    EXPECT_EQ(failure_of_loop([member](Loop& loop) { loop.args[6].member = member; }), members);
  }
}

TEST(LoopVerify, AGlobalIsOnlyReduced) {
  for (const Access access : {Access::read, Access::write, Access::rw}) {
    EXPECT_EQ(failure_of_loop(
                  [access](Loop& loop) { std::get<GlobalReduce>(loop.args[6]).access = access; }),
              "loop 'res_calc': arg 6: a Global is reduced by INC, MIN or MAX only");
  }
  for (const Access access : {Access::inc, Access::min, Access::max}) {
    EXPECT_EQ(failure_of_loop(
                  [access](Loop& loop) { std::get<GlobalReduce>(loop.args[6]).access = access; }),
              "");
  }
}

TEST(LoopVerify, BlocksLieInTheirTensors) {
  const auto placed = [](const Place& place) {
    return failure_of_loop([&place](Loop& loop) {
      loop.args[0].place = place;  // of an argument of 4 scalars
    });
  };
  EXPECT_EQ(placed({1, 2, 2, 4}), "");
  for (const Place& place :
       {Place{0, 3, 2, 4}, Place{0, 0, 3, 4}, Place{-1, 0, 2, 4}, Place{0, 0, 0, 4}, Place{}}) {
    EXPECT_EQ(placed(place), "loop 'res_calc': a block is not in its tensor");
  }
}

TEST(LoopVerify, AllowsDimZero) {
  EXPECT_EQ(failure_of_loop([](Loop& loop) { std::get<DirectDat>(loop.args[2]).dim = 0; }), "");
}

TEST(LoopDump, HasALineForEveryArgumentAndConst) {
  EXPECT_EQ(dump(airfoil_like()),
            "loop res_calc\n"
            "  indirect READ float64 x2 data 0 memory 0 via map 0 arity 2\n"
            "  indirect INC float64 x4 data 1 memory 1 via map 1 arity 3\n"
            "  direct RW int32 x1 data 2 memory 2\n"
            "  direct READ float32 x3 data 3 memory 3\n"
            "  direct WRITE float64 x2 data 4 memory 4\n"
            "  global READ float64 x1 data 5 memory 5\n"
            "  global MAX int64 x2 data 6 memory 6\n"
            "  const gam float64 x1\n"
            "  const qinf float64 x4\n");
}

}  // namespace
}  // namespace op2::ir
