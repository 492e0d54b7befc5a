// SPDX-License-Identifier: BSD-3-Clause
#include "api/op2.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "api/object_states.hpp"
#include "base/error.hpp"

namespace op2 {
namespace {

using testing::message_of;

TEST(Objects, ValuesStayWhereTheyAre) {
  const Set cells(3, "cells");
  const Set edges(2, "edges");
  std::vector<double> values(6, 1.0);
  std::vector<std::int32_t> ends{0, 1, 1, 2};
  const Dat<double, 2> q(cells, std::span<double>(values), "q");
  const Map<2> map(edges, cells, std::span<const std::int32_t>(ends), "ends");
  EXPECT_EQ(q.values().data(), values.data());
  EXPECT_EQ(q.state()->buffer->data(), values.data());
  EXPECT_EQ(q.state()->buffer->n_bytes(), 48);
  EXPECT_EQ(map.state()->table->values(), ends.data());
  EXPECT_EQ(cells.size(), 3);
  EXPECT_EQ(cells.name(), "cells");
}

TEST(Objects, WhatIsWrongIsSaidAsInPython) {
  EXPECT_EQ(message_of<UsageError>([] { (void)Set(-1, "cells"); }),
            "Set 'cells': the size must be an integer, not negative, got -1");
  const Set cells(3, "cells");
  const Set edges(2, "edges");
  std::vector<double> values(5);
  EXPECT_EQ(
      message_of<UsageError>([&] { (void)Dat<double, 2>(cells, std::span<double>(values), "q"); }),
      "Dat 'q' on Set 'cells': expected 6 values (shape (3, 2)), got 5");
  EXPECT_EQ(
      message_of<UsageError>([&] { (void)Global<double, 4>(std::span<double>(values), "far"); }),
      "Global 'far': expected 4 values, got 5");
  const std::vector<std::int32_t> ends{0, 1, 1, 3};
  const auto map = [&](std::size_t n) {
    return message_of<UsageError>(
        [&] { (void)Map<2>(edges, cells, std::span<const std::int32_t>(ends.data(), n), "ends"); });
  };
  EXPECT_EQ(map(3), "Map 'ends' from Set 'edges': expected values of shape (2, 2), got 3 values");
  EXPECT_EQ(map(4),
            "Map 'ends': row 1, slot 1 is 3, but Set 'cells' has entities 0 to 2; is the numbering "
            "from 1, or the Map's target another Set?");
}

TEST(Objects, ChangedMapsAreCheckedAgain) {
  const Set cells(3, "cells");
  std::vector<std::int64_t> next{1, 2, 0};
  Map<1, std::int64_t> map(cells, cells, std::span<const std::int64_t>(next), "next");
  EXPECT_EQ(map.state()->table->index_bytes(), 8);
  const std::int64_t before = map.state()->table->version();
  next[0] = 2;
  map.changed();
  EXPECT_GT(map.state()->table->version(), before);
  next[0] = -1;
  EXPECT_THROW(map.changed(), UsageError);
}

TEST(Options, ThreadsAreNotNegative) {
  EXPECT_EQ(message_of<UsageError>([] {
              init({Backend::sequential, -1});
            }),
            "init: threads must be 0 or more, got -1");
}

}  // namespace
}  // namespace op2
