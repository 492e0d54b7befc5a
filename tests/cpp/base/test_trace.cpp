// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace.hpp"

#include <gtest/gtest.h>

namespace op2 {
namespace {

TEST(Trace, NotesSpansOnlyWhileItIsOn) {
  Trace trace;
  trace.add({"res", "loop", "host", 1, 2});
  EXPECT_TRUE(trace.spans().empty());
  trace.start(3);
  EXPECT_EQ(trace.every(), 3);
  trace.add({"res", "loop", "host", 5, 7, 8});
  trace.stop();
  trace.add({"late", "loop", "host", 9, 1});
  ASSERT_EQ(trace.spans().size(), 1U);  // what was noted stays
  EXPECT_EQ(trace.spans()[0].what, "res");
  EXPECT_EQ(trace.spans()[0].nanoseconds, 7);
}

TEST(Trace, StartsAnew) {
  Trace trace;
  trace.start(0);
  EXPECT_EQ(trace.every(), 1);
  trace.add({"res", "loop", "host", 5, 7});
  const std::int64_t number = trace.number();
  trace.start(1);
  EXPECT_TRUE(trace.spans().empty());
  EXPECT_GT(trace.number(), number);
}

TEST(Trace, KeepsNoMoreThanItMay) {
  Trace trace;
  trace.start(1);
  for (std::size_t i = 0; i < Trace::most_spans + 3; ++i) trace.add({});
  EXPECT_EQ(trace.spans().size(), Trace::most_spans);
  EXPECT_EQ(trace.n_dropped(), 3);
}

}  // namespace
}  // namespace op2
