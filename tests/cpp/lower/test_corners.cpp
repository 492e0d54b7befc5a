// SPDX-License-Identifier: BSD-3-Clause
#include "lower/corners.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ir/group.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::contains;
using testing::direct;
using testing::indirect;
using testing::NamedArg;

constexpr ir::Alias of_nodes{0, 0};
constexpr ir::Alias of_cells{1, 1};
constexpr ir::Alias gains{2, 2};
constexpr ir::Alias others{3, 3};

/// From edges to cells and to nodes, and from cells to nodes.
std::vector<ir::MapRef> mesh_maps(int n_corners = 4) {
  std::vector<ir::MapRef> maps{{2, 0}, {2, 1}, {n_corners, 1}};
  return maps;
}

ir::Loop mesh_loop(const std::string& name, const std::vector<NamedArg>& args,
                   const std::vector<ir::MapRef>& maps) {
  ir::Loop made =
      testing::make_loop_of(name, args, maps, [](int) { return testing::literal("1.0"); });
  made.set = 0;
  return made;
}

const std::vector<NamedArg> flux_args{indirect("x", Access::read, 1, 2, of_nodes),
                                      indirect("q", Access::read, 0, 2, of_cells),
                                      indirect("r", Access::inc, 0, 2, gains)};
const std::vector<NamedArg> step_args{indirect("x", Access::read, 2, 2, of_nodes),
                                      direct("r", Access::rw, 2, gains)};

/// What edges give their cells, and then each cell for itself.
ir::Group flux_and_step(const std::vector<NamedArg>& flux = flux_args,
                        const std::vector<NamedArg>& step = step_args, int n_corners = 4) {
  const auto maps = mesh_maps(n_corners);
  ir::Group group = ir::fused({mesh_loop("flux", flux, maps), mesh_loop("step", step, maps)});
  group.members.front().visit = ir::Visit::incidences;
  return group;
}

/// A member before the elements.
ir::Group step_and_flux() {
  const auto maps = mesh_maps();
  ir::Group group = ir::fused({mesh_loop("step",
                                         {indirect("x", Access::read, 2, 2, of_nodes),
                                          direct("s", Access::write, 1, others)},
                                         maps),
                               mesh_loop("flux", flux_args, maps)});
  group.members.back().visit = ir::Visit::incidences;
  return group;
}

std::vector<MapFacts> facts_of(const ir::Group& group) {
  std::vector<MapFacts> maps = testing::no_facts(group);
  for (MapFacts& map : maps) map.has_negative = false;
  return maps;
}

const Options padded{.widths = {.padded = true, .columns = 4}};

std::vector<CornerCandidate> candidates(const ir::Group& group, const Options& options = padded,
                                        const Facts& facts = testing::grid) {
  const std::vector<MapFacts> maps = facts_of(group);
  return corner_candidates({group, Strategy::owner, facts, maps, options});
}

std::string why_no_corners(const ir::Group& group, const Options& options = padded,
                           const Facts& facts = testing::grid) {
  const std::vector<CornerCandidate> found = candidates(group, options, facts);
  return found.size() == 1 ? found.front().why_not : "no candidate, or several";
}

kir::Module lowered(const ir::Group& group, Options options = padded) {
  options.corners = {{1, 2}};
  const std::vector<MapFacts> maps = facts_of(group);
  kir::Module wanted;
  (void)lower({group, Strategy::owner, testing::grid, maps, options},
              [&wanted](Stage stage, const kir::Module& module) {
                if (stage <= Stage::layout) wanted = module;
              });
  return wanted;
}

TEST(Corners, AreFoundWhereTheTargetLeadsToTheSameSet) {
  const std::vector<CornerCandidate> found = candidates(flux_and_step());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().why_not, "");
  EXPECT_EQ(found.front().maps, (abi::CornerMaps{1, 2}));
  EXPECT_EQ(why_no_corners(step_and_flux()), "");
}

TEST(Corners, MayBeOfOtherDats) {
  std::vector<NamedArg> step = step_args;
  step.front() = indirect("y", Access::read, 2, 3, others);
  EXPECT_EQ(why_no_corners(flux_and_step(flux_args, step)), "");
}

TEST(Corners, OfLanesAreOfTheSameDat) {
  Options pairs = padded;
  pairs.by_pairs = true;
  pairs.lanes = 4;
  EXPECT_EQ(why_no_corners(flux_and_step(), pairs, testing::threads), "");
  std::vector<NamedArg> step = step_args;
  step.front() = indirect("y", Access::read, 2, 3, others);
  EXPECT_EQ(why_no_corners(flux_and_step(flux_args, step), pairs, testing::threads),
            "the targets read other Dats by it");
  const ir::Group group = flux_and_step();
  EXPECT_EQ(same_rows(group, 0, {1, 2}), 3U);
  EXPECT_EQ(same_rows(group, 2, {1, 2}), std::nullopt);
  EXPECT_EQ(same_rows(flux_and_step(flux_args, step), 0, {1, 2}), std::nullopt);
}

TEST(Corners, AreNotLookedForInOtherSets) {
  auto maps = mesh_maps();
  maps[2].toset = 2;
  ir::Group group =
      ir::fused({mesh_loop("flux", flux_args, maps), mesh_loop("step", step_args, maps)});
  group.members.front().visit = ir::Visit::incidences;
  EXPECT_TRUE(candidates(group).empty());
  EXPECT_TRUE(candidates(flux_and_step(flux_args, {direct("r", Access::rw, 2, gains)})).empty());
  ir::Group items_alone = flux_and_step();
  items_alone.members.front().visit = ir::Visit::items;
  EXPECT_TRUE(candidates(items_alone).empty());
}

TEST(Corners, AreRefusedWithAReason) {
  const std::string not_here = "elements are not in columns of neighbours";
  EXPECT_EQ(why_no_corners(flux_and_step(), padded, testing::threads), not_here);
  Facts processor = testing::grid;
  processor = processor.on(/*is_processor=*/true, /*has_float64=*/true);
  EXPECT_EQ(why_no_corners(flux_and_step(), padded, processor), not_here);
  EXPECT_TRUE(contains(why_no_corners(flux_and_step(), {}), "too different numbers of elements"));
  Options none = padded;
  none.tuning.composed_targets = 0;
  EXPECT_EQ(why_no_corners(flux_and_step(), none),
            "'flux' does more than what columns of neighbours are for");
  EXPECT_EQ(why_no_corners(flux_and_step(flux_args, step_args, 8)), "");
  EXPECT_EQ(why_no_corners(flux_and_step(flux_args, step_args, 9)),
            "a byte does not tell which 2 of 9 entries it is");
  auto maps = mesh_maps();
  maps[2].width = 2;
  ir::Group part =
      ir::fused({mesh_loop("flux", flux_args, maps), mesh_loop("step", step_args, maps)});
  part.members.front().visit = ir::Visit::incidences;
  EXPECT_EQ(why_no_corners(part), "the targets have a part of the Map");
}

TEST(Corners, OfFurtherMembersAreRefused) {
  const auto maps = mesh_maps();
  ir::Group group =
      ir::fused({mesh_loop("flux", flux_args, maps), mesh_loop("walls", flux_args, maps),
                 mesh_loop("step", step_args, maps)});
  group.members[0].visit = group.members[1].visit = ir::Visit::incidences;
  const std::vector<CornerCandidate> found = candidates(group);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].why_not, "");
  EXPECT_EQ(found[1].why_not, "only the elements of 'flux' are in columns of neighbours");
}

abi::PairsPlan pairs_plan_of(const kir::Module& module) {
  return std::get<abi::PairsPlan>(module.plan);
}

TEST(Corners, ArePickedOrLookedUp) {
  const kir::Module module = lowered(flux_and_step());
  const abi::PairsPlan plan = pairs_plan_of(module);
  EXPECT_EQ(plan.corners, (std::vector<abi::CornerMaps>{{1, 2}}));
  EXPECT_EQ(plan.composed.maps, (std::vector<int>{1}));
  EXPECT_EQ(plan.columns, 4);
  const std::string text = kir::dump(module);
  EXPECT_TRUE(contains(text,
                       "    decl int32 x_map_own[4]\n"
                       "    x_map_own[0] = x_map_1[(target * 4)]\n"
                       "    x_map_own[1] = x_map_1[((target * 4) + 1)]\n"))
      << text;
  EXPECT_TRUE(contains(text,
                       "    decl uint32 neighbour_fetched[4]\n"
                       "    decl uint32 x_map_corner_fetched[4]\n"
                       "    for serial k in [0, 4)\n"
                       "      decl const int64 at = ((t * 4) + k)\n"
                       "      neighbour_fetched[k] = neighbour[at]\n"
                       "      x_map_corner_fetched[k] = x_map_corner[at]\n"))
      << text;
  EXPECT_TRUE(contains(text,
                       "      decl const uint32 x_map_code = x_map_corner_fetched[k]\n"
                       "      decl int32 x_map_entry[2]\n"))
      << text;
  EXPECT_TRUE(contains(text,
                       "x_map_entry[1] = select((((x_map_code / 16) % 2) == 0), "
                       "select((((x_map_code / 8) % 2) == 0), x_map_own[0], x_map_own[1]), "
                       "select((((x_map_code / 8) % 2) == 0), x_map_own[2], x_map_own[3]))\n"))
      << text;
  EXPECT_TRUE(contains(text,
                       "      if ((x_map_code % 2) == 1)\n"
                       "        x_map_entry[0] = x_map_rows[(((t * 4) + k) * 2)]\n"
                       "        x_map_entry[1] = x_map_rows[((((t * 4) + k) * 2) + 1)]\n"))
      << text;
  EXPECT_TRUE(
      contains(text, "gather x_pack = float64 x[long(x_map_entry[0]), long(x_map_entry[1])] x2"))
      << text;
}

TEST(Corners, OfTrianglesAreThree) {
  const std::string text = kir::dump(lowered(flux_and_step(flux_args, step_args, 3)));
  EXPECT_TRUE(contains(text,
                       "x_map_entry[0] = select((((x_map_code / 4) % 2) == 0), "
                       "select((((x_map_code / 2) % 2) == 0), x_map_own[0], x_map_own[1]), "
                       "x_map_own[2])\n"))
      << text;
}

TEST(Corners, AreReadOneColumnAfterTheOtherWhereTheyAreMany) {
  Options options = padded;
  options.widths.columns = 9;  // two numbers each, and 16 are read ahead
  const kir::Module module = lowered(flux_and_step(), options);
  EXPECT_EQ(pairs_plan_of(module).columns, 0);
  const std::string text = kir::dump(module);
  EXPECT_TRUE(contains(text, "decl const uint32 x_map_code = x_map_corner[at]\n")) << text;
  EXPECT_TRUE(contains(text, "x_map_entry[0] = x_map_rows[(at * 2)]\n")) << text;
}

TEST(Corners, TakeTheirPlaceAmongWhatIsReadAhead) {
  Options options = padded;
  options.widths.columns = 8;  // of three numbers each 24 would be too many
  EXPECT_EQ(pairs_plan_of(lowered(flux_and_step(), options)).columns, 8);
}

}  // namespace
}  // namespace op2::lower
