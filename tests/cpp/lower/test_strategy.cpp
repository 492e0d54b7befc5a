// SPDX-License-Identifier: BSD-3-Clause
#include "lower/strategy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::edge_loop;
using testing::global_read;
using testing::global_reduce;
using testing::host;
using testing::indirect;
using testing::make_loop;
using testing::no_facts;
using testing::one_lane;
using testing::threads;
using testing::with_opaque_kernel;

using Args = std::vector<std::size_t>;
using Maps = std::vector<int>;

const std::vector<ir::MapRef> two_maps{{2, 0}, {2, 0}};
const std::vector<ir::MapRef> two_target_sets{{2, 0}, {2, 1}};
constexpr MapFacts injective{.injective = true};
constexpr MapFacts any;

constexpr Facts no_atomics = host(Lanes::threads, false);
constexpr Options deterministic{.semantics = {.deterministic = true}};
constexpr Options by_element{.semantics = {.deterministic = true, .by_element = true}};

Races races_of(const ir::Loop& loop) {
  return find_races(loop, no_facts(loop));
}

std::string why_not(Strategy strategy, const ir::Loop& loop, const Facts& facts = threads,
                    const Options& options = {}) {
  const Verdict verdict = applicable(strategy, loop, facts, no_facts(loop), options);
  EXPECT_EQ(verdict.ok, verdict.why.empty());
  return verdict.why;
}

Strategy chosen(const ir::Loop& loop, const Facts& facts, const Options& options = {}) {
  const Choice choice = choose(loop, facts, no_facts(loop), options);
  EXPECT_NE(choice.why, "");
  return choice.strategy;
}

// ---------------------------------------------------------------------------------------- loops

ir::Loop direct_loop() {
  return make_loop({direct("x", Access::read), direct("y", Access::write)});
}

ir::Loop read_and_incremented() {
  return make_loop(
      {indirect("x", Access::read, 0, 1, {0, 0}), indirect("y", Access::inc, 0, 1, {0, 0})},
      testing::edges_to_nodes());
}

ir::Loop overwriting() {
  return make_loop({indirect("y", Access::rw, 0)}, testing::edges_to_nodes());
}

/// Two Dats over one array, one of them incremented.
ir::Loop overlapping() {
  return make_loop(
      {indirect("x", Access::read, 0, 1, {0, 0}), indirect("y", Access::inc, 0, 1, {1, 0})},
      testing::edges_to_nodes());
}

ir::Loop on_two_sets() {
  return make_loop({indirect("x", Access::inc, 0), indirect("y", Access::inc, 1)}, two_target_sets);
}

// ---------------------------------------------------------------------------------------- races

TEST(FindRaces, NothingRacesWithoutIndirectWrites) {
  EXPECT_TRUE(races_of(direct_loop()).none());
  const ir::Loop gather = make_loop(
      {indirect("x", Access::read, 0), direct("y", Access::inc), global_reduce("g", Access::inc)},
      testing::edges_to_nodes());
  EXPECT_TRUE(races_of(gather).none());
}

TEST(FindRaces, SortsReductionsFromOverwrites) {
  const ir::Loop loop = make_loop({indirect("a", Access::inc, 0), indirect("b", Access::write, 0),
                                   indirect("c", Access::min, 0), indirect("d", Access::rw, 0),
                                   indirect("e", Access::max, 0), indirect("f", Access::read, 0)},
                                  testing::edges_to_nodes());
  const Races races = races_of(loop);
  EXPECT_EQ(races.reductions, (Args{0, 2, 4}));
  EXPECT_EQ(races.overwrites, (Args{1, 3}));
  EXPECT_EQ(races.conflicts, (Maps{0}));
  EXPECT_FALSE(races.overlaps);
  EXPECT_FALSE(races.reads_written);
}

TEST(FindRaces, AnInjectiveMapIsPrivate) {
  for (const Access access : {Access::inc, Access::rw, Access::write, Access::min}) {
    const ir::Loop loop = make_loop({indirect("y", access, 0)}, testing::edges_to_nodes());
    EXPECT_TRUE(find_races(loop, {injective}).none());
    EXPECT_FALSE(find_races(loop, {any}).none());
  }
}

TEST(FindRaces, TwoInjectiveMapsToOneDatAreNotPrivate) {
  const ir::Loop loop = make_loop(
      {indirect("x", Access::inc, 0, 1, {0, 0}), indirect("y", Access::inc, 1, 1, {0, 0})},
      two_maps);
  const Races races = find_races(loop, {injective, injective});
  EXPECT_EQ(races.conflicts, (Maps{0, 1}));
  EXPECT_EQ(races.reductions, (Args{0, 1}));
}

TEST(FindRaces, TwoInjectiveMapsToTwoDatsArePrivate) {
  const ir::Loop loop =
      make_loop({indirect("x", Access::inc, 0), indirect("y", Access::inc, 1)}, two_maps);
  EXPECT_TRUE(find_races(loop, {injective, injective}).none());
  EXPECT_EQ(find_races(loop, {injective, any}).conflicts, (Maps{1}));
}

TEST(FindRaces, ReadingThroughAnotherMapWhatOneWrites) {
  const ir::Loop loop = make_loop(
      {indirect("x", Access::read, 1, 1, {0, 0}), indirect("y", Access::inc, 0, 1, {0, 0})},
      two_maps);
  const Races races = find_races(loop, {injective, injective});
  EXPECT_TRUE(races.reads_written);
  EXPECT_EQ(races.conflicts, (Maps{0, 1}));
  EXPECT_FALSE(races.overlaps);
  // Read and written by one element only.
  EXPECT_TRUE(find_races(read_and_incremented(), {injective}).none());
  EXPECT_TRUE(find_races(read_and_incremented(), {any}).reads_written);
}

TEST(FindRaces, DifferentDatsOverOneMemoryOverlap) {
  const Races races = races_of(overlapping());
  EXPECT_TRUE(races.overlaps);
  // An injective map does not help: the two Dats may start at different addresses.
  EXPECT_TRUE(find_races(overlapping(), {injective}).overlaps);
  EXPECT_FALSE(find_races(overlapping(), {injective}).none());
}

TEST(FindRaces, OverlapsOfWhatIsOnlyReadDoNotMatter) {
  const ir::Loop loop =
      make_loop({indirect("x", Access::read, 0, 1, {0, 0}),
                 indirect("z", Access::read, 0, 1, {1, 0}), direct("y", Access::write)},
                testing::edges_to_nodes());
  EXPECT_TRUE(races_of(loop).none());
}

TEST(FindRaces, OneDatDirectlyAndThroughAMapOverlaps) {
  const auto mixed = [](Access direct_access, Access indirect_access) {
    return races_of(make_loop(
        {direct("x", direct_access, 1, {0, 0}), indirect("y", indirect_access, 0, 1, {0, 0})},
        testing::edges_to_nodes()));
  };
  EXPECT_TRUE(mixed(Access::read, Access::inc).overlaps);
  EXPECT_TRUE(mixed(Access::write, Access::read).overlaps);
  EXPECT_TRUE(mixed(Access::read, Access::read).none());
}

TEST(FindRaces, TwoDirectDatsOverOneMemoryOverlap) {
  EXPECT_TRUE(races_of(make_loop({direct("x", Access::read, 1, {0, 0}),
                                  direct("y", Access::write, 1, {1, 0})}))
                  .overlaps);
  EXPECT_TRUE(races_of(make_loop({direct("x", Access::read, 1, {0, 0}),
                                  direct("y", Access::write, 1, {0, 0})}))
                  .none());
}

// ----------------------------------------------------------------------------------- applicable

TEST(Direct, IsForOneLaneOrLoopsWithoutRaces) {
  EXPECT_EQ(why_not(Strategy::direct, edge_loop(), one_lane), "");
  EXPECT_EQ(why_not(Strategy::direct, overlapping(), one_lane), "");
  EXPECT_EQ(why_not(Strategy::direct, direct_loop()), "");
  EXPECT_EQ(why_not(Strategy::direct, edge_loop()),
            "elements that run at the same time may write the same target");
  EXPECT_EQ(why_not(Strategy::direct, overlapping()),
            "written memory overlaps other arguments; give each Dat an array of its own");
  EXPECT_TRUE(applicable(Strategy::direct, edge_loop(), threads, {injective}, {}).ok);
}

TEST(SumsByTarget, HaveOneSetToSumOn) {
  for (const Strategy strategy : {Strategy::owner, Strategy::scratch}) {
    EXPECT_EQ(why_not(strategy, edge_loop()), "");
    EXPECT_EQ(
        why_not(strategy, on_two_sets()),
        "arg 1 ('y') is on another Set than the other reduced Dats; make a loop for each Set");
    EXPECT_EQ(why_not(strategy, direct_loop()), "nothing is reduced through a Map");
    EXPECT_EQ(
        why_not(strategy, make_loop({indirect("x", Access::inc, 0), indirect("y", Access::inc, 1)},
                                    two_maps)),
        "");
  }
}

TEST(SumsByTarget, OnlySumWhatIsReducedAndNothingElseReads) {
  for (const Strategy strategy : {Strategy::owner, Strategy::scratch}) {
    EXPECT_EQ(why_not(strategy, overlapping()),
              "written memory overlaps other arguments; give each Dat an array of its own");
    EXPECT_EQ(why_not(strategy, read_and_incremented()),
              "memory that is incremented is also read through a Map; read a copy made before the "
              "loop, by Dat.copy");
    EXPECT_EQ(why_not(strategy, overwriting()),
              "arg 0 ('y') is written, not reduced, through a Map: only INC, MIN and MAX can be "
              "summed; pass INC if the kernel adds");
    // Also where the Map is injective, so that nothing would race.
    const ir::Loop loop =
        make_loop({indirect("x", Access::inc, 0), indirect("y", Access::rw, 1)}, two_maps);
    EXPECT_EQ(applicable(strategy, loop, threads, {any, injective}, {}).why,
              "arg 1 ('y') is written through a Map; pass INC if the kernel adds");
  }
}

TEST(SumsByTarget, AMatrixOfOneRowRacesInItsColumns) {
  ir::MatArg matrix{DType::float64, 1, 1, Access::inc, 0, 1, true, false, testing::own_data};
  matrix.by_columns = true;
  const ir::Loop loop = make_loop({{"A", matrix}}, two_target_sets);
  EXPECT_EQ(races_of(loop).conflicts, Maps{1});
  EXPECT_EQ(find_races(loop, {any, injective}).conflicts, Maps{});
  for (const Strategy strategy : {Strategy::owner, Strategy::scratch}) {
    EXPECT_EQ(
        why_not(strategy, loop),
        "arg 0 ('A') has one row, and its columns cannot be summed one by one; colour resolves it");
  }
  EXPECT_EQ(why_not(Strategy::colour, loop), "");
}

TEST(SumsByTarget, OneDatIsReducedInOneWay) {
  const auto twice = [](Access first, Access second) {
    return why_not(Strategy::scratch, make_loop({indirect("x", first, 0, 1, {0, 0}),
                                                 indirect("y", second, 0, 1, {0, 0})},
                                                testing::edges_to_nodes()));
  };
  EXPECT_EQ(twice(Access::inc, Access::max),
            "arg 1 ('y') is reduced in two ways, which do not commute; divide the loop");
  EXPECT_EQ(twice(Access::min, Access::max),
            "arg 1 ('y') is reduced in two ways, which do not commute; divide the loop");
  EXPECT_EQ(twice(Access::inc, Access::inc), "");
}

TEST(SumsByTarget, AnExtremumMustFlowIntoNothingElse) {
  const std::string why =
      "arg 0 ('y') is MIN/MAX, and the kernel is not known to use its value for that alone; "
      "compare it by fmin, fmax or 'if (x < y[0]) y[0] = x', once";
  ir::Loop loop = make_loop({indirect("y", Access::min, 0)}, testing::edges_to_nodes());
  EXPECT_EQ(why_not(Strategy::owner, loop), "");
  EXPECT_EQ(why_not(Strategy::scratch, loop), "");
  EXPECT_EQ(why_not(Strategy::scratch, with_opaque_kernel(loop)), why);
  // A kernel that adds to what it should only minimise.
  const ir::Loop adding = make_loop({indirect("y", Access::inc, 0)}, testing::edges_to_nodes());
  loop.members[0].kernel = adding.members[0].kernel;
  EXPECT_EQ(why_not(Strategy::owner, loop), why);
}

TEST(Owner, RunsTheKernelSeveralTimesAnElement) {
  const ir::Loop also_direct = make_loop(
      {indirect("y", Access::inc, 0), direct("z", Access::write)}, testing::edges_to_nodes());
  EXPECT_EQ(why_not(Strategy::owner, also_direct),
            "arg 1 ('z') is written directly, and the kernel runs several times an element; write "
            "it in a loop of its own");
  EXPECT_EQ(why_not(Strategy::scratch, also_direct), "");
}

/// A matrix by Map 0 and a Global that counts elements.
ir::Loop counted_rows(Access access, std::vector<testing::NamedArg> more = {}) {
  const ir::MatArg matrix{DType::float64, 1, 1, Access::inc, 0, 1, true, false, testing::own_data};
  std::vector<testing::NamedArg> args{{"A", matrix}, global_reduce("g", access)};
  args.insert(args.end(), more.begin(), more.end());
  return make_loop(args, {{2, 0}, {2, 1}, {1, 0}});
}

TEST(Owner, SeesNoElementWhoseRowsAllLeadNowhere) {
  const MapFacts whole{.has_negative = false};
  for (const Access access : {Access::inc, Access::min, Access::max}) {
    const ir::Loop loop = counted_rows(access);
    const auto why = [&loop](const std::vector<MapFacts>& maps) {
      return applicable(Strategy::owner, loop, testing::grid, maps, {}).why;
    };
    EXPECT_EQ(why({any, any, any}),
              "arg 1 ('g') counts every element, and the rows of some may all lead nowhere (-1): "
              "no target is found from which they would be visited; reduce into the Global in a "
              "loop of its own");
    EXPECT_EQ(why({whole, any, any}), "");
    const auto choice = [&loop](const std::vector<MapFacts>& maps) {
      return choose(loop, testing::grid, maps, {}).strategy;
    };
    EXPECT_EQ(choice({any, any, any}), Strategy::atomic);
    EXPECT_EQ(choice({whole, any, any}), Strategy::owner);
  }
  const ir::Loop with_dat = counted_rows(Access::inc, {indirect("b", Access::inc, 2)});
  EXPECT_EQ(why_not(Strategy::owner, with_dat), "");
}

TEST(Owner, NeedsAPureKernel) {
  EXPECT_EQ(
      why_not(Strategy::owner, with_opaque_kernel(edge_loop())),
      "the kernel is opaque (cpp=True), so it is not known to be pure; write it without that");
  EXPECT_EQ(why_not(Strategy::scratch, with_opaque_kernel(edge_loop())), "");
  ir::Loop printing = edge_loop();
  auto kernel = std::make_shared<kernel::Kernel>(*printing.members[0].kernel);
  const kernel::Expr call{kernel::Call{"puts"}, {}, {}, testing::some_line};
  kernel->body->functions.front().body.push_back({kernel::Evaluate{call}, testing::some_line});
  printing.members[0].kernel = kernel;
  EXPECT_EQ(
      why_not(Strategy::owner, printing),
      "the kernel calls 'puts', which may have effects of its own; define it in the kernel's text");
}

TEST(Atomic, ResolvesReductionsWhereThereAreAtomics) {
  EXPECT_EQ(why_not(Strategy::atomic, edge_loop()), "");
  EXPECT_EQ(why_not(Strategy::atomic, on_two_sets()), "");
  EXPECT_EQ(why_not(Strategy::atomic, edge_loop(), no_atomics), "the backend has no atomics");
  EXPECT_EQ(why_not(Strategy::atomic, overlapping()),
            "written memory overlaps other arguments; give each Dat an array of its own");
  EXPECT_EQ(why_not(Strategy::atomic, read_and_incremented()),
            "memory that is incremented is also read through a Map; read a copy made before the "
            "loop, by Dat.copy");
  EXPECT_EQ(why_not(Strategy::atomic, overwriting()),
            "arg 0 ('y') is written, not reduced, through a Map: atomics resolve INC, MIN and MAX; "
            "pass one of these if the kernel adds or compares");
}

TEST(Colouring, BlockIsForEveryLoopAndColourForAllThatMapsCanTellApart) {
  for (const ir::Loop& loop : {direct_loop(), edge_loop(), read_and_incremented(), overwriting(),
                               overlapping(), on_two_sets()}) {
    EXPECT_EQ(why_not(Strategy::block, loop), "");
    EXPECT_EQ(why_not(Strategy::block, with_opaque_kernel(loop)), "");
  }
  EXPECT_EQ(why_not(Strategy::colour, overwriting()), "");
  EXPECT_EQ(why_not(Strategy::colour, read_and_incremented()), "");
  EXPECT_EQ(why_not(Strategy::colour, overlapping()),
            "written memory overlaps other arguments; give each Dat an array of its own");
}

TEST(Deterministic, ExcludesWhatDependsOnTheRun) {
  const std::string why =
      "its order of additions depends on the run, and deterministic=True was asked for";
  EXPECT_EQ(why_not(Strategy::atomic, edge_loop(), threads, deterministic), why);
  EXPECT_EQ(why_not(Strategy::block, edge_loop(), threads, deterministic), why);
  for (const Strategy strategy : {Strategy::owner, Strategy::scratch, Strategy::colour}) {
    EXPECT_EQ(why_not(strategy, edge_loop(), threads, deterministic), "");
  }
}

TEST(Deterministic, AllowsWhatRunsInOrderAnyhow) {
  EXPECT_EQ(why_not(Strategy::block, edge_loop(), one_lane, deterministic), "");
  EXPECT_EQ(why_not(Strategy::block, direct_loop(), threads, deterministic), "");
  EXPECT_EQ(why_not(Strategy::block, overlapping(), threads, deterministic), "");  // one block
}

TEST(ByElement, SumsOfTargetsKeepTheOrderOfElements) {
  const Facts gpu{.lanes = Lanes::grid, .atomics = true};
  const std::string why =
      "its order of additions depends on the elements of a process, and deterministic='ranks' was "
      "asked for";
  for (const Strategy strategy : {Strategy::owner, Strategy::colour}) {
    EXPECT_EQ(why_not(strategy, edge_loop(), threads, by_element), why);
    EXPECT_EQ(why_not(strategy, edge_loop(), one_lane, by_element), why);
    EXPECT_EQ(why_not(strategy, edge_loop(), gpu, by_element), why);
  }
  EXPECT_EQ(why_not(Strategy::scratch, edge_loop(), threads, by_element), "");
  EXPECT_EQ(why_not(Strategy::direct, edge_loop(), threads, by_element), "");  // on one thread
  EXPECT_EQ(why_not(Strategy::direct, edge_loop(), gpu, by_element), why);
  EXPECT_EQ(why_not(Strategy::colour, direct_loop(), threads, by_element), "");
}

TEST(ByElement, ChoicesDoNotDependOnTheTargetsOfAProcess) {
  const Facts gpu{.lanes = Lanes::grid, .atomics = true};
  EXPECT_EQ(chosen(edge_loop(), one_lane, by_element), Strategy::direct);
  EXPECT_EQ(choose(edge_loop(), threads, {injective}, by_element).strategy, Strategy::scratch);
  EXPECT_EQ(chosen(edge_loop(), threads, by_element), Strategy::scratch);
  EXPECT_EQ(chosen(edge_loop(), gpu, by_element), Strategy::scratch);
  EXPECT_EQ(chosen(overwriting(), threads, by_element), Strategy::direct);
  EXPECT_EQ(chosen(direct_loop(), gpu, by_element), Strategy::direct);
  EXPECT_THROW(static_cast<void>(chosen(overwriting(), gpu, by_element)), UnsupportedError);
}

// --------------------------------------------------------------------------------- choose, force

TEST(Choose, DirectWhereNothingCanRace) {
  EXPECT_EQ(chosen(edge_loop(), one_lane), Strategy::direct);
  EXPECT_EQ(chosen(overlapping(), one_lane, deterministic), Strategy::direct);
  EXPECT_EQ(chosen(direct_loop(), threads), Strategy::direct);
  EXPECT_EQ(choose(edge_loop(), threads, {injective}, {}).strategy, Strategy::direct);
}

TEST(Choose, BlockForRaces) {
  EXPECT_EQ(chosen(edge_loop(), threads), Strategy::block);
  EXPECT_EQ(chosen(overwriting(), threads), Strategy::block);
  EXPECT_EQ(chosen(overlapping(), threads), Strategy::block);
}

TEST(Choose, DeterministicTakesColourAndOneBlockWhereMemoryOverlaps) {
  EXPECT_EQ(chosen(edge_loop(), threads, deterministic), Strategy::colour);
  EXPECT_EQ(chosen(overwriting(), threads, deterministic), Strategy::colour);
  EXPECT_EQ(chosen(overlapping(), threads, deterministic), Strategy::block);
}

TEST(Choose, OnAGridOwnersOfEdgesAndBlocksOrColoursWhereLanesTakeTurns) {
  const Facts gpu{.lanes = Lanes::grid, .atomics = true};
  const Facts processor =
      Facts{.lanes = Lanes::grid, .atomics = true}.on(/*is_processor=*/true, /*has_float64=*/true);
  const ir::Loop overwrites = overwriting();
  EXPECT_EQ(chosen(overwrites, gpu), Strategy::colour);
  for (const Options& options : {Options{}, deterministic}) {
    const Strategy raced = options.semantics.deterministic ? Strategy::colour : Strategy::block;
    EXPECT_EQ(chosen(edge_loop(), processor, options), raced);
    EXPECT_EQ(chosen(overwrites, processor, options), raced);
    EXPECT_EQ(chosen(direct_loop(), processor, options), Strategy::direct);
    EXPECT_EQ(chosen(overlapping(), processor, options), Strategy::block);
  }
}

TEST(Choose, OwnersOfWhatIsGathered) {
  const Facts gpu{.lanes = Lanes::grid, .atomics = true};
  Options options;
  options.tuning.owner_slots = 0;
  EXPECT_EQ(chosen(edge_loop(), gpu, options), Strategy::atomic);
  options.widths.gathered = true;
  EXPECT_EQ(chosen(edge_loop(), gpu, options), Strategy::owner);
  EXPECT_EQ(chosen(overwriting(), gpu, options), Strategy::colour) << "owners only sum";
}

TEST(Choose, OnlyWhatIsApplicable) {
  for (const ir::Loop& loop : {direct_loop(), edge_loop(), read_and_incremented(), overwriting(),
                               overlapping(), on_two_sets()}) {
    for (const Facts& facts : {one_lane, threads, no_atomics}) {
      for (const Options& options : {Options{}, deterministic}) {
        const Strategy strategy = chosen(loop, facts, options);
        EXPECT_EQ(why_not(strategy, loop, facts, options), "") << name_of(strategy);
      }
    }
  }
}

TEST(Force, TakesWhatIsPossible) {
  const ir::Loop loop = edge_loop();
  const Choice choice = force(Strategy::scratch, loop, threads, no_facts(loop), {});
  EXPECT_EQ(choice.strategy, Strategy::scratch);
  EXPECT_EQ(choice.why, "asked for");
}

TEST(Force, RefusesWithTheReasonAndWhatIsPossible) {
  const ir::Loop loop = overwriting();
  try {
    (void)force(Strategy::atomic, loop, threads, no_facts(loop), {});
    FAIL() << "no error";
  } catch (const UnsupportedError& error) {
    EXPECT_STREQ(error.what(),
                 "par_loop 'res': strategy 'atomic' cannot be used: arg 0 ('y') is written, not "
                 "reduced, through a Map: atomics resolve INC, MIN and MAX; pass one of these if "
                 "the kernel adds or compares; possible: block, colour");
  }
}

}  // namespace
}  // namespace op2::lower
