// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/in_flight.hpp"

#include <gtest/gtest.h>

namespace op2::runtime {
namespace {

TEST(InFlight, OneLoopIsToBlameHoweverOftenItWasLaunched) {
  InFlight loops;
  EXPECT_TRUE(loops.is_empty());
  loops.add("res");
  loops.add("res");
  EXPECT_FALSE(loops.is_empty());
  EXPECT_TRUE(loops.is_certain());
  EXPECT_EQ(loops.blame(), "par_loop 'res'");
}

TEST(InFlight, SeveralLoopsAreNamedOnceInOrder) {
  InFlight loops;
  for (const char* name : {"adt", "res", "adt", "update"}) loops.add(name);
  EXPECT_FALSE(loops.is_certain());
  EXPECT_EQ(loops.blame(), "one of the par_loops 'adt', 'res', 'update'");
  loops.clear();
  loops.add("update");
  EXPECT_EQ(loops.blame(), "par_loop 'update'");
}

TEST(InFlight, AnEndlessQueueIsForgottenFromItsBeginning) {
  InFlight loops;
  loops.add("first");
  for (int i = 0; i < 200; ++i) loops.add(i % 2 == 0 ? "even" : "odd");
  EXPECT_FALSE(loops.is_certain());
  EXPECT_EQ(loops.blame(), "one of the par_loops 'even', 'odd' or one before them");
}

}  // namespace
}  // namespace op2::runtime
