// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch/ahead_table.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace op2::dispatch {
namespace {

Query asked(const std::string& loop, const std::string& signature, const std::string& text) {
  return {loop, signature, "how it is compiled", "owner", text};
}

TEST(AheadTable, FindsALoopByItsTextWhoeverCompilesIt) {
  AheadTable table;
  const auto executable = std::make_shared<exec::Executable>();
  table.add(asked("res", "s", "t"), executable);
  Query query = asked("res", "s", "t");
  query.source = "by another compiler";
  EXPECT_EQ(table.find(query).executable, executable);
}

TEST(AheadTable, KnowsALoopWhateverItsTextIs) {
  AheadTable table;
  EXPECT_FALSE(table.knows(asked("res", "s", "t")));
  table.add(asked("res", "s", "t"), std::make_shared<exec::Executable>());
  EXPECT_TRUE(table.knows(asked("res", "s", "other")));
  EXPECT_FALSE(table.knows(asked("res", "other", "t")));
  table.clear();
  EXPECT_FALSE(table.knows(asked("res", "s", "t")));
}

TEST(AheadTable, SaysWhatIsNearest) {
  AheadTable table;
  EXPECT_EQ(table.find(asked("res", "s", "t")).why, "no table is loaded");
  table.add(asked("res", "s", "t"), std::make_shared<exec::Executable>());
  EXPECT_EQ(table.find(asked("res", "s", "other")).why,
            "it has this loop for another backend, strategy or other options");
  EXPECT_EQ(table.find(asked("res", "other", "other")).why,
            "it has a loop of this kernel, with other arguments or another text");
  EXPECT_EQ(table.find(asked("adt", "other", "other")).why, "it has no loop of this kernel");
}

TEST(AheadTable, LoopsMayComeLater) {
  AheadTable table;
  table.note(asked("res", "s", "t"));
  EXPECT_TRUE(table.knows(asked("res", "s", "other")));
  EXPECT_EQ(table.find(asked("res", "s", "t")).executable, nullptr);
  table.refuse(asked("res", "s", "t"), "it is for another GPU");
  EXPECT_EQ(table.find(asked("res", "s", "t")).why, "it is for another GPU");
  table.add(asked("res", "s", "t"), std::make_shared<exec::Executable>());
  EXPECT_NE(table.find(asked("res", "s", "t")).executable, nullptr);
  table.clear();
  EXPECT_EQ(table.find(asked("res", "s", "t")).why, "no table is loaded");
}

TEST(AheadTable, TheFirstOfTwoStays) {
  AheadTable table;
  const auto first = std::make_shared<exec::Executable>();
  table.add(asked("res", "s", "t"), first);
  table.add(asked("res", "s", "t"), std::make_shared<exec::Executable>());
  EXPECT_EQ(table.find(asked("res", "s", "t")).executable, first);
  table.clear();
  EXPECT_EQ(table.find(asked("res", "s", "t")).executable, nullptr);
}

}  // namespace
}  // namespace op2::dispatch
