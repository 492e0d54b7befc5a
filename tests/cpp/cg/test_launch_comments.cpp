// SPDX-License-Identifier: BSD-3-Clause
#include "cg/launch_comments.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace op2::cg {
namespace {

using Lines = std::vector<std::string>;

kir::Parameter number(const std::string& name) {
  return {name, {DType::int64, false, false}, false, kir::Role::local, 0};
}
kir::Parameter array(const std::string& name, kir::PlanArray of = kir::PlanArray::none) {
  const bool is_plan = of != kir::PlanArray::none;
  return {name, {DType::int64, is_plan, true},
          true, is_plan ? kir::Role::plan : kir::Role::local,
          0,    of};
}
kir::Function launched_kernel(const std::string& name, std::vector<kir::Parameter> parameters) {
  return {.name = name, .parameters = std::move(parameters), .body = {}, .is_kernel = true};
}
kir::Expr index(const std::string& name) {
  return kir::name(name);
}

TEST(LaunchComments, NameWhatIsComputedForALaunch) {
  kir::Module module;
  module.functions = {launched_kernel("wrap", {array("r"), number("begin"), number("end")})};
  module.argv = {array("sizes", kir::PlanArray::sizes),
                 array("colour_offset", kir::PlanArray::colour_offset)};
  const kir::Expr first = kir::element("colour_offset", index("colour"));
  kir::Block body{
      {kir::Decl{{DType::int64},
                 "first",
                 0,
                 {kir::select(kir::less(first, index("begin")), index("begin"), first)}}},
      {kir::Decl{{DType::int64},
                 "last",
                 0,
                 {kir::minimum(kir::element("colour_offset", index("colour") + kir::integer(1)),
                               index("end"))}}},
      {kir::Launch{"wrap",
                   kir::Grid::blocks,
                   index("last") - index("first"),
                   {index("r"), index("first"), index("last")}}}};
  module.launch = {{kir::For{kir::Axis::serial, "colour", kir::integer(0),
                             kir::element("sizes", kir::integer(0)), std::move(body)},
                    "One colour after the other."}};
  EXPECT_EQ(
      launch_comment(module, module.functions[0]),
      (Lines{"One colour after the other.",
             "Launched for each colour in [0, sizes[0]) in (last - first) blocks,",
             "with begin = first, end = last.",
             "sizes [1 or 2]: colours; or rows, and padded columns of a row",
             "last = min(colour_offset[colour + 1], end)",
             "first = (colour_offset[colour] < begin ? begin : colour_offset[colour])",
             "colour_offset [n_colours + 1]: where the blocks or elements of each colour begin"}));
}

TEST(LaunchComments, CountPhasesAndNameWhatIsKeptBetweenThem) {
  kir::Module module;
  module.functions = {launched_kernel("wrap", {array("kept"), number("n_slots")}),
                      launched_kernel("finish", {array("kept"), array("count"), number("n_slots")}),
                      launched_kernel("unused", {})};
  const kir::Expr items = index("end") - index("begin");
  const auto launch = [&](const std::string& name, kir::Grid grid, const kir::Expr& over,
                          std::vector<kir::Expr> arguments) {
    return kir::Launch{name, grid, over, std::move(arguments)};
  };
  module.launch = {
      {kir::Scratch{DType::float64, "kept", items * kir::integer(4)}},
      {kir::Scratch{DType::uint32, "count", kir::integer(1), true}},
      {kir::Decl{{DType::int64}, "n_slots", 0, {kir::integer(0)}}},
      {launch("wrap", kir::Grid::items, items, {index("kept"), index("n_slots")}), "All is kept,"},
      {kir::Assign{index("n_slots"), kir::Update::set, index("n_slots") + kir::blocks_for(items)}},
      {kir::If{kir::less(kir::integer(0), items),
               {{launch("wrap", kir::Grid::items, items, {index("kept"), kir::integer(3)})}}}},
      {launch("finish", kir::Grid::single, kir::integer(1),
              {index("kept"), index("count"), index("n_slots")}),
       "then added up."}};
  const std::string slots = "n_slots = 0, then n_slots + (blocks for end - begin)";
  const std::string kept = "kept [(end - begin) * 4]: kept until the last launch";
  EXPECT_EQ(launch_comment(module, module.functions[0]),
            (Lines{"Phase 1 of 3: All is kept.",
                   "Launched on lanes for (end - begin) items, or on fewer, which stride.", slots,
                   kept, "Phase 2 of 3: All is kept.",
                   "Launched if 0 < (end - begin) on lanes for (end - begin) items, or on fewer, "
                   "which stride,",
                   "with n_slots = 3.", kept}));
  EXPECT_EQ(launch_comment(module, module.functions[1]),
            (Lines{"Phase 3 of 3: then added up.", "Launched in one block.", slots, kept,
                   "count [1]: 0 before the first launch; each finds what the last one left"}));
  EXPECT_EQ(launch_comment(module, module.functions[2]), Lines{});
}

}  // namespace
}  // namespace op2::cg
