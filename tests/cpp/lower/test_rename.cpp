// SPDX-License-Identifier: BSD-3-Clause
#include "lower/rename.hpp"

#include <gtest/gtest.h>

#include <string>

#include "lower/names_used.hpp"

namespace op2::lower {
namespace {

using kir::name;

/// Mentions `x` once in every kind of place.
kir::Block everywhere() {
  const kir::Rows rows{DType::float64, 1, 1, "x", "x", name("x")};
  kir::Block inner{{kir::Gather{"x", rows}},
                   {kir::Scatter{"x", rows, kir::Update::add, kir::Sync::none}},
                   {kir::Barrier{}},
                   {kir::Arrive{"x", "x", name("x")}},
                   {kir::LaneTurn{"x", "x", name("x"), {DType::float64, false, false, 4}, 2}},
                   {kir::LaneStore{"x", name("x"), kir::Update::set, "x",
                                   kir::lane_of("x", name("x"), name("x")), DType::float64, 2}},
                   {kir::Atomic{DType::int32, kir::element("x", name("x")), kir::Update::add,
                                kir::shuffle(name("x"), name("x"), 4)}}};
  return {{kir::Decl{{DType::int64}, "x", 0, {kir::minimum(name("x"), kir::widen(name("x")))}}},
          {kir::Assign{kir::element("x", kir::integer(0)), kir::Update::set,
                       kir::select(kir::less(name("x"), kir::integer(1)), name("x"), name("x"))}},
          {kir::CallUser{{kir::offset("x", name("x"))}}},
          {kir::Call{"f", {kir::scratch_at(name("x"))}}},
          {kir::For{kir::Axis::serial,
                    "x",
                    name("x"),
                    name("x"),
                    {{kir::If{kir::equal(name("x"), kir::integer(0)), {{kir::Region{inner}}}}}},
                    DType::int64,
                    1,
                    "x"}},
          {kir::Scratch{DType::float64, "x", kir::blocks_for(name("x"))}},
          {kir::Launch{"f", kir::Grid::items, name("x"), {name("x")}}}};
}

TEST(Rename, ReachesEveryMention) {
  kir::Block block = everywhere();
  kir::Module before;
  before.launch = block;
  rename(block, "x", "y");
  EXPECT_EQ(names_used(block), (std::set<std::string>{"y"}));
  kir::Module after;
  after.launch = block;
  // the text differs by the name alone
  std::string expected = kir::dump(before);
  for (char& letter : expected) letter = letter == 'x' ? 'y' : letter;
  std::string found = kir::dump(after);
  for (char& letter : found) letter = letter == 'x' ? 'y' : letter;  // "x1", the rows' dim
  EXPECT_EQ(found, expected);
}

TEST(Rename, LeavesOthersAlone) {
  kir::Block block = everywhere();
  const kir::Block before = block;
  rename(block, "z", "y");
  EXPECT_EQ(block, before);
}

}  // namespace
}  // namespace op2::lower
