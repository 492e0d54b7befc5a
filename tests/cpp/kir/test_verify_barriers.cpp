// SPDX-License-Identifier: BSD-3-Clause
#include "kir/verify_barriers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "modules.hpp"

namespace op2::kir {
namespace {

const Expr lane = builtin(Builtin::lane_id);

/// What is said of a kernel whose block has arrays `s`, of 256 numbers, and `t`.
std::string said_of_kernel(Block body) {
  Function function{"f",
                    {testing::pointer("x"), testing::pointer("m", DType::int32)},
                    {{Decl{{DType::float64}, "s", 256, {}, Storage::block}},
                     {Decl{{DType::float64}, "t", 256, {}, Storage::block}}},
                    true,
                    128};
  for (Stmt& stmt : body) function.body.push_back(std::move(stmt));
  try {
    verify_barriers(function);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

Stmt put(const Expr& at, const Expr& value = integer(0)) {
  return {Assign{element("s", at), Update::set, value}};
}

Stmt take(const Expr& at) {
  return {Assign{element("t", lane), Update::set, element("s", at)}};
}

Stmt over(Axis axis, int begin, int end, Block body, const char* index = "i") {
  return {For{axis, index, integer(begin), integer(end), std::move(body)}};
}

const Stmt barrier{Barrier{}};
const Expr i = name("i");

TEST(VerifyBarriers, NamesTheArrayAndBothStatements) {
  EXPECT_EQ(said_of_kernel({put(lane), take(lane + integer(1))}),
            "f: lanes touch 's' without a barrier between 's[@lane] = 0' and "
            "'t[@lane] = s[(@lane + 1)]'");
}

TEST(VerifyBarriers, ABarrierBetweenIsEnough) {
  EXPECT_EQ(said_of_kernel({put(lane), barrier, take(lane + integer(1))}), "");
}

TEST(VerifyBarriers, OneLaneNeedNotWaitForItself) {
  EXPECT_EQ(said_of_kernel({put(lane), take(lane)}), "");
  EXPECT_EQ(said_of_kernel({put(lane), take(lane), put(lane)}), "");
  EXPECT_NE(said_of_kernel({put(lane), take(integer(0))}), "");
  const Stmt first{If{equal(lane, integer(0)), {take(integer(0))}}};
  EXPECT_EQ(said_of_kernel({put(lane), first}), "");
  const Stmt of_first{If{equal(lane, integer(0)), {take(integer(1))}}};
  EXPECT_NE(said_of_kernel({put(lane), of_first}), "");
}

TEST(VerifyBarriers, ReadersDoNotWaitForReaders) {
  EXPECT_EQ(said_of_kernel({{Decl{{DType::float64}, "a", 0, {element("s", lane)}}},
                            {Decl{{DType::float64}, "b", 0, {element("s", integer(7))}}}}),
            "");
}

TEST(VerifyBarriers, LoopsOverLanesGiveEachStepToOne) {
  const Stmt store = over(Axis::lane, 0, 256, {put(i)});
  EXPECT_EQ(said_of_kernel({store, over(Axis::lane, 0, 256, {put(i, integer(1))})}), "");
  // the loops deal out their steps from different ones on
  EXPECT_NE(said_of_kernel({store, over(Axis::lane, 1, 256, {put(i, integer(1))})}), "");
  EXPECT_EQ(said_of_kernel({store, put(lane)}), "");
}

TEST(VerifyBarriers, RangesThatDoNotMeet) {
  const Stmt fold = over(Axis::lane, 0, 64, {put(i, element("s", i + integer(64)))});
  EXPECT_EQ(said_of_kernel({fold}), "");
  EXPECT_NE(said_of_kernel({over(Axis::lane, 0, 65, {put(i, element("s", i + integer(64)))})}), "");
  EXPECT_EQ(said_of_kernel({over(Axis::lane, 0, 64, {put(i)}),
                            over(Axis::lane, 64, 128, {put(i, integer(1))})}),
            "");
  const Stmt past{For{Axis::lane, "i", builtin(Builtin::n_lanes), integer(256), {put(i)}}};
  EXPECT_EQ(said_of_kernel({past, put(lane)}), "");
}

TEST(VerifyBarriers, ComponentsApart) {
  const Expr at = name("c") * integer(128) + i;
  const auto fold = [&at](int half, int n) {
    return over(Axis::lane, 0, n,
                {over(Axis::serial, 0, 2, {put(at, element("s", at + integer(half)))}, "c")});
  };
  EXPECT_EQ(said_of_kernel({fold(64, 64)}), "");
  EXPECT_NE(said_of_kernel({fold(64, 65)}), "");
  EXPECT_EQ(said_of_kernel({fold(128, 64)}), "");  // the next component's, by the same lane
  EXPECT_NE(said_of_kernel({fold(129, 64)}), "");
}

TEST(VerifyBarriers, AnIterationWaitsForTheOneBefore) {
  const Stmt step = put(lane + name("k"));
  const auto loop = [&step](Block more) {
    Block body{step};
    for (Stmt& stmt : more) body.push_back(std::move(stmt));
    return over(Axis::serial, 0, 2, std::move(body), "k");
  };
  EXPECT_NE(said_of_kernel({loop({})}), "");
  EXPECT_EQ(said_of_kernel({loop({barrier})}), "");
  EXPECT_NE(said_of_kernel({loop({barrier, take(lane)})}), "");
  EXPECT_EQ(said_of_kernel({over(Axis::serial, 0, 1, {step}, "k")}), "");
}

TEST(VerifyBarriers, ABranchMayNotBeTaken) {
  const Stmt perhaps{If{less(builtin(Builtin::block_id), integer(1)), {barrier}}};
  EXPECT_NE(said_of_kernel({put(lane), perhaps, take(integer(3))}), "");
}

TEST(VerifyBarriers, AllLanesGetToEach) {
  const std::string all = "f: a barrier that not all lanes of a block get to";
  EXPECT_EQ(said_of_kernel({{If{less(lane, integer(4)), {barrier}}}}), all);
  EXPECT_EQ(said_of_kernel({over(Axis::lane, 0, 4, {barrier})}), all);
  EXPECT_EQ(said_of_kernel({{If{less(builtin(Builtin::block_id), integer(4)), {barrier}}}}), "");
}

TEST(VerifyBarriers, TablesLeadApartWithinATurnOnly) {
  const Stmt by_table = put(element("m", lane));
  const Stmt own{If{less(lane, integer(4)), {by_table, by_table}}};
  EXPECT_EQ(said_of_kernel({own}), "");
  EXPECT_NE(said_of_kernel({own, own}), "");
  EXPECT_EQ(said_of_kernel({own, barrier, own}), "");
  EXPECT_NE(said_of_kernel({own, take(lane)}), "");
}

/// `x[m[at]] += 1`, spread over lanes.
Stmt add(const Expr& at) {
  return over(Axis::lane, 0, 9,
              {{Assign{element("x", element("m", at)), Update::add, integer(1)}}});
}

TEST(VerifyBarriers, MemoryOfAllBlocksWaitsForItself) {
  const Stmt global{Barrier{true}};
  EXPECT_NE(said_of_kernel({add(i), add(i + integer(9))}), "");
  EXPECT_NE(said_of_kernel({add(i), barrier, add(i + integer(9))}), "");
  EXPECT_EQ(said_of_kernel({add(i), global, add(i + integer(9))}), "");
  const Stmt atomic =
      over(Axis::lane, 0, 9,
           {{Atomic{DType::float64, element("x", element("m", i)), Update::add, integer(1)}}});
  EXPECT_EQ(said_of_kernel({atomic, atomic}), "");
  const Stmt of_grid{For{Axis::grid, "i", integer(0), integer(9), {add(i)}}};
  EXPECT_EQ(said_of_kernel({of_grid, of_grid}), "");
  const auto repeated = [](Axis axis, const Expr& at) {
    return said_of_kernel({over(axis, 0, 2, {add(at)}, "k")});
  };
  EXPECT_NE(repeated(Axis::serial, i), "");
  EXPECT_EQ(repeated(Axis::serial, i + name("k")), "");  // entries of other elements
  EXPECT_EQ(repeated(Axis::block, i), "");
}

TEST(VerifyBarriers, PointersLeadToTheirArrays) {
  const Stmt behind =
      over(Axis::lane, 0, 9,
           {{Decl{{DType::float64, false, true}, "row", 0, {offset("x", element("m", i))}}},
            {Assign{element("row", integer(0)), Update::set, integer(1)}}});
  EXPECT_NE(said_of_kernel({behind, add(i)}), "");
  EXPECT_EQ(said_of_kernel({behind, {Barrier{true}}, add(i)}), "");
}

/// A call with `s` in two places, of which the kernel only reads these.
Stmt call_with_s_twice(std::vector<int> read) {
  return {CallUser{{name("s"), name("s"), lane}, 0, std::move(read)}};
}

TEST(VerifyBarriers, AKernelMayReadAnArrayInTwoPlaces) {
  EXPECT_EQ(said_of_kernel({put(lane), barrier, call_with_s_twice({0, 1})}), "");
  for (const std::vector<int>& read : {std::vector<int>{}, {0}, {1}}) {
    EXPECT_NE(said_of_kernel({put(lane), barrier, call_with_s_twice(read)}), "");
  }
  EXPECT_NE(said_of_kernel({put(lane), call_with_s_twice({0, 1})}), "");
  EXPECT_NE(said_of_kernel({call_with_s_twice({0, 1}), put(lane)}), "");
  EXPECT_EQ(said_of_kernel({call_with_s_twice({0, 1}), take(integer(3))}), "");
}

TEST(VerifyBarriers, AFlagIsReadBehindABarrier) {
  const Stmt flag{Decl{{DType::int32}, "last", 0, {}, Storage::block}};
  const Stmt arrive{If{equal(lane, integer(0)),
                       {{Intrinsic{Instruction::arrive, {name("last"), name("m"), integer(4)}}}}}};
  const Stmt read{If{name("last"), {put(lane)}}};
  EXPECT_EQ(said_of_kernel({flag, arrive, barrier, read}), "");
  EXPECT_NE(said_of_kernel({flag, arrive, read}), "");
}

}  // namespace
}  // namespace op2::kir
