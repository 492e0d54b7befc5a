// SPDX-License-Identifier: BSD-3-Clause
#include "base/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace op2 {
namespace {

constexpr double many = 1 << 30;

const Tunable& find(std::string_view name) {
  const std::vector<Tunable>& all = tunables();
  const auto found = std::ranges::find(all, name, &Tunable::name);
  if (found != all.end()) return *found;
  std::vector<std::string_view> names;
  for (const Tunable& one : all) names.push_back(one.name);
  std::ranges::sort(names);
  throw UsageError(
      fmt::format("tuning: there is no '{}'; there are: {}", name, fmt::join(names, ", ")));
}

std::string words(const TunedValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  return fmt::format("{}", std::get<double>(value));
}

[[noreturn]] void refuse(const Tunable& one, std::string_view expected, const TunedValue& got) {
  std::string text = words(got);
  // 3.0 is printed as 3, which would look like the int that is wanted.
  if (std::holds_alternative<double>(got) && text.find_first_not_of("-0123456789") == text.npos) {
    text += ".0";
  }
  throw UsageError(fmt::format("tuning: '{}' must be {}, got {}", one.name, expected, text));
}

void check_range(const Tunable& one, double value, const TunedValue& got) {
  const bool is_power = std::exp2(std::floor(std::log2(std::max(value, 1.0)))) == value;
  if (value >= one.least && value <= one.most && (is_power || !one.is_power)) return;
  const bool is_whole = std::holds_alternative<int Tuning::*>(one.member);
  refuse(one,
         fmt::format("{} from {} to {}",
                     one.is_power ? "a power of two"
                     : is_whole   ? "an int"
                                  : "a number",
                     one.least, one.most),
         got);
}

template <class Wanted>
std::string text_of_those(const Tuning& tuning, const Wanted& is_wanted) {
  const Tuning usual;
  std::vector<std::string> parts;
  for (const Tunable& one : tunables()) {
    if (!is_wanted(one)) continue;
    const TunedValue value = value_of(tuning, one);
    if (value != value_of(usual, one)) {
      parts.push_back(fmt::format("{}={}", one.name, words(value)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace

Tuning Tuning::of(DeviceClass device) {
  Tuning tuning;
  if (device == DeviceClass::host) return tuning;
  tuning.sums_added_last = true;
  // A device's compiler vectorises lighter loops by itself: lanes slow adt_calc down, which has 65.
  tuning.lane_operations = 75;
  tuning.operations_a_division = tuning.operations_a_function = 1;
  tuning.least_part_in_rows = 2;  // never
  if (device == DeviceClass::gpu) {
    tuning.call_nanoseconds = 3500;
    tuning.cached_bytes = 0;
    tuning.cache_rate = tuning.gather_rate = 14'000;
    tuning.memory_rate = 3000;
    tuning.operation_rate = 10'000;
    return tuning;
  }
  tuning.block_lanes = tuning.streaming_lanes = 64;
  tuning.lanes_factor = 8;
  tuning.blocks_a_unit = tuning.blocks_a_unit_light = tuning.blocks_a_unit_gathering = 16;
  return tuning;
}

const std::vector<Tunable>& tunables() {
  using T = Tuning;
  static const std::vector<Tunable> all{
      {"owner_slots", &T::owner_slots, Steers::choice, "targets",
       "On a GPU, strategy `owner` is chosen if each element adds to exactly this many targets; "
       "0: never",
       0, 64},
      {"gathered_scalars", &T::gathered_scalars, Steers::choice, "scalars",
       "On a GPU, strategy `owner` is also chosen if each element adds to a single target, from so "
       "many values on if the element has values of its own; 0: never",
       0, many},
      {"most_gathered", &T::most_gathered, Steers::choice, "times the mean",
       "Targets with more elements than this many times the mean rule that choice out", 0, 1000},
      {"least_gathered_targets", &T::least_gathered_targets, Steers::choice, "targets",
       "Fewer targets than this rule that choice out: lanes would be idle", 0, many},
      {"most_padding", &T::most_padding, Steers::choice, "entries",
       "On a device, the targets' lists of elements are padded to equal length if that stores "
       "at most this many entries for each real one; 0: never",
       0, 1000},
      {"most_elsewhere", &T::most_elsewhere, Steers::choice, "part",
       "On a GPU, a chain takes what elements lead to, such as nodes of edges, from what their "
       "targets lead to, such as nodes of cells, if at most this part of the elements seen from "
       "targets has others, which are looked up",
       0, 1},
      {"most_mixed", &T::most_mixed, Steers::choice, "part",
       "On a processor, targets side by side take rows of their elements, such as coordinates of "
       "nodes, from their own rows if the lanes of at most this part of the columns differ in the "
       "places; with few threads elements are computed for both targets if at most this part of "
       "the columns has both slots of the Map",
       0, 1},
      {"least_summed_scalars", &T::least_summed_scalars, Steers::choice, "scalars",
       "On a GPU, a loop that adds at least this many values to Dats by `atomic` sums those of a "
       "block of elements in shared memory first",
       0, many},
      {"most_distinct", &T::most_distinct, Steers::choice, "part",
       "It does so only if at most this part of what a block adds goes to different targets", 0, 1},
      {"most_scatter", &T::most_scatter, Steers::choice, "times the fewest",
       "On a GPU, `interleaved` is for Maps by which lanes side by side then add to at most so "
       "many "
       "times the fewest pieces of memory possible; 0: none",
       0, 1000},
      {"element_stack_bytes", &T::element_stack_bytes, Steers::text, "bytes",
       "On the host, a loop whose arrays take more than this for one element is refused: threads "
       "have stacks of 8 MiB as a rule (`ulimit -s`, `OMP_STACKSIZE`)",
       65536, many},
      {"lane_operations", &T::lane_operations, Steers::choice, "operations",
       "A kernel with fewer operations per element uses no lanes", 0, many},
      {"lane_operations_a_scalar", &T::lane_operations_a_scalar, Steers::choice, "operations",
       "A kernel with fewer operations per value moved uses no lanes", 0, many},
      {"column_operations_a_scalar", &T::column_operations_a_scalar, Steers::choice, "operations",
       "The same limit where lanes are neighbouring columns of an extruded Set", 0, many},
      {"slot_operations", &T::slot_operations, Steers::choice, "operations",
       "The limit `lane_operations` where `owner` gives each lane one target (sliced ELLPACK)", 0,
       many},
      {"slot_operations_a_scalar", &T::slot_operations_a_scalar, Steers::choice, "operations",
       "The limit `lane_operations_a_scalar` there", 0, many},
      {"least_reduced_scalars", &T::least_reduced_scalars, Steers::choice, "scalars",
       "On a CPU through OpenCL, a loop that reduces a Global uses lanes if it moves at least "
       "this many values per element, however light it is",
       0, many},
      {"most_summed_scalars", &T::most_summed_scalars, Steers::choice, "scalars",
       "On the host, a loop that only adds to Globals uses lanes if it reads at most this many "
       "values per element, however light it is; a value behind a Map counts twice. Not under "
       "`deterministic`",
       0, many},
      {"wide_operations_a_scalar", &T::wide_operations_a_scalar, Steers::choice, "operations",
       "From this many operations per value moved on, lanes use the machine's widest vectors", 0,
       many},
      {"narrow_bytes", &T::narrow_bytes, Steers::choice, "bytes",
       "Size of the vectors for kernels below `wide_operations_a_scalar`", 8, 128, true},
      {"operations_a_division", &T::operations_a_division, Steers::choice, "operations",
       "Number of operations that a division or a root counts as", 1, 1000},
      {"operations_a_function", &T::operations_a_function, Steers::choice, "operations",
       "Number of operations that a call of exp, tanh and the like counts as, if the C library has "
       "the function for vectors",
       1, 1000},
      {"row_length", &T::row_length, Steers::text, "steps",
       "An inner loop of a kernel with at least this many steps counts as vectorised by the C "
       "compiler, and is not unrolled",
       2, many},
      {"row_scalars", &T::row_scalars, Steers::text, "scalars",
       "Scalars of an array of the kernel's own, at most, that such a loop may sum in, as they "
       "stay in vector registers",
       0, 4096},
      {"least_part_in_rows", &T::least_part_in_rows, Steers::choice, "part",
       "A kernel with at least this part of its operations in such inner loops uses no lanes; "
       "above 1: it may use them",
       0, 2},
      {"column_fill_light", &T::column_fill_light, Steers::choice, "part",
       "`owner` uses sliced ELLPACK lists if at least this part of their entries is filled", 0, 2},
      {"column_fill_heavy", &T::column_fill_heavy, Steers::choice, "part",
       "The same for kernels from `heavy_operations_a_scalar` on", 0, 2},
      {"heavy_operations_a_scalar", &T::heavy_operations_a_scalar, Steers::choice, "operations",
       "From this many operations per value moved on, `column_fill_heavy` applies instead of "
       "`column_fill_light`",
       0, many},
      {"unrolled_scalars", &T::unrolled_scalars, Steers::text, "scalars",
       "An element's values behind one map entry are copied by one statement each up to this "
       "number, above it by a loop",
       0, 4096},
      {"selected_slots", &T::selected_slots, Steers::text, "targets",
       "Under `owner`, a target's part of an element's result is picked by conditional "
       "expressions if the element has at most this many targets, above it by an index",
       0, 64},
      {"partial_bytes", &T::partial_bytes, Steers::text, "bytes",
       "Distance in memory between the partial sums of two threads", 16, 4096, true},
      {"deterministic_chunk", &T::deterministic_chunk, Steers::text, "elements",
       "With `deterministic=True`, and in sums of 32 bits on hosts, number of elements in one "
       "partial sum; changes the last bits of the sum",
       256, 1 << 20, true},
      {"unrolled_pieces", &T::unrolled_pieces, Steers::text, "vectors",
       "With lanes, values behind one map entry are loaded by one statement per vector up to "
       "this number of vectors, above it by a loop; a row of more than four times as many by a "
       "loop of its own",
       1, 64},
      {"unrolled_lane_scalars", &T::unrolled_lane_scalars, Steers::text, "scalars",
       "With lanes, the values of one lane are stored by one statement each up to this number, "
       "above it by a loop",
       1, 1024},
      {"unrolled_shares", &T::unrolled_shares, Steers::text, "scalars",
       "Under `owner`, the values that a target gets are added by one statement each up to this "
       "number, above it by a loop",
       0, 1024},
      {"masked_expressions", &T::masked_expressions, Steers::text, "expressions",
       "With lanes, a branch of at least this many expressions is skipped if no lane takes it", 0,
       many},
      {"copied_statements", &T::copied_statements, Steers::text, "statements",
       "With lanes, up to this many statements after an early `return` are written once for "
       "each branch instead of being masked",
       0, 1024},
      {"transposed", &T::transposed, Steers::text, "",
       "On a GPU, neighbouring lanes exchange registers so that they add to consecutive values "
       "of one target at a time"},
      {"interleaved", &T::interleaved, Steers::text, "",
       "On a GPU, elements are reordered so that neighbouring lanes add to neighbouring targets "
       "where `transposed` does not apply"},
      {"sharing_lanes", &T::sharing_lanes, Steers::text, "lanes",
       "With `transposed`, largest number of lanes that add to one target together", 2, 16, true},
      {"transposed_scalars", &T::transposed_scalars, Steers::text, "scalars",
       "`transposed` applies to elements that add at most this many values", 0, 1024},
      {"exchanged_bytes", &T::exchanged_bytes, Steers::text, "bytes",
       "On a GPU, neighbouring lanes read and write the rows of Dats without a Map together if a "
       "row has at least this many bytes, and exchange registers; 0: never",
       0, 65536},
      {"interleaved_targets", &T::interleaved_targets, Steers::text, "targets",
       "`interleaved` applies to elements with at least this many targets", 1, 1024},
      {"interleaved_window", &T::interleaved_window, Steers::launch, "targets",
       "With `interleaved`, elements are reordered among those of this many targets", 1, 1 << 20},
      {"sector_bytes", &T::sector_bytes, Steers::choice, "bytes",
       "Memory of a GPU is moved in pieces of this size, by which `most_scatter` counts", 8, 4096,
       true},
      {"interleaved_gathers", &T::interleaved_gathers, Steers::text, "scalars",
       "`interleaved` is preferred to sums in shared memory, if elements gather at least this many "
       "values for each that they add",
       0, 1024},
      {"staged_elements", &T::staged_elements, Steers::text, "elements",
       "Elements in a block whose increments of Dats are summed in shared memory", 16, 1024, true},
      {"least_staged_elements", &T::least_staged_elements, Steers::text, "elements",
       "If shared memory holds the increments of fewer elements, they are added in global "
       "memory instead",
       1, 1024, true},
      {"staged_bytes", &T::staged_bytes, Steers::text, "bytes",
       "Shared memory for increments of Dats, per block", 0, 32768},
      {"team_bytes", &T::team_bytes, Steers::choice, "bytes",
       "On a GPU, strategy `team` is for elements whose arrays take more than this many bytes", 0,
       1 << 30},
      {"team_product_bytes", &T::team_product_bytes, Steers::choice, "bytes",
       "The same for kernels that call functions for products of matrices, and for no systems", 0,
       1 << 30},
      {"listed_elements", &T::listed_elements, Steers::text, "elements",
       "Elements in a block whose element matrices are summed in shared memory", 16, 1024, true},
      {"summed_elements", &T::summed_elements, Steers::text, "elements",
       "Elements in a block whose increments of Dats are summed in shared memory under `atomic`",
       16, 1024, true},
      {"summed_entries", &T::summed_entries, Steers::text, "entries",
       "Entries of a Map that such a block has at most", 0, 65535},
      {"least_listed_elements", &T::least_listed_elements, Steers::text, "elements",
       "If shared memory holds the matrices or increments of fewer elements, each is added by an "
       "atomic instruction instead",
       1, 1024, true},
      {"listed_bytes", &T::listed_bytes, Steers::text, "bytes",
       "Shared memory for element matrices or such increments, per block; 0: none are summed there",
       0, 49152},
      {"listed_loads", &T::listed_loads, Steers::text, "loads",
       "Loads of the lists of such a block that a lane has under way together, at most", 1, 256},
      {"listed_lanes", &T::listed_lanes, Steers::text, "lanes",
       "Lanes that share these loads, when their number is told in the text", 1, 1024, true},
      {"listed_steps", &T::listed_steps, Steers::text, "steps",
       "Where kernels add to their element's part of such a block, loops around it are unrolled up "
       "to this number of steps",
       0, 4096},
      {"owner_run", &T::owner_run, Steers::text, "targets",
       "Under `owner` on a device, number of consecutive targets that a group of lanes goes "
       "through together",
       16, 1 << 16, true},
      {"sums_added_last", &T::sums_added_last, Steers::text, "",
       "Under `owner`, a target's old value is added after the sum of its elements, so that "
       "nothing waits for it; else the sum starts with it"},
      {"composed_targets", &T::composed_targets, Steers::text, "targets",
       "On a GPU, where each element adds to one target, or to two and lists are padded, the lists "
       "hold up to this many targets of other Maps instead of the element's number; 0: never",
       0, 64},
      {"prefetched_indices", &T::prefetched_indices, Steers::text, "indices",
       "All entries of such a list are read before the first is used, if they are at most this "
       "many per target",
       0, 256},
      {"resident_lanes", &T::resident_lanes, Steers::text, "lanes",
       "Lanes that a multiprocessor of a GPU should hold at a time in loops over such lists, "
       "which limits the registers of each; 0: no limit",
       0, 2048},
      {"bounded_lanes", &T::bounded_lanes, Steers::text, "lanes",
       "Largest number of lanes in a block where `resident_lanes` limits their registers", 32, 1024,
       true},
      {"stack_bytes", &T::stack_bytes, Steers::text, "bytes",
       "On a CPU through OpenCL, a block gets at most as many lanes as have private arrays of this "
       "size together",
       65536, 1 << 20},
      {"tree_lanes", &T::tree_lanes, Steers::text, "lanes",
       "Lanes whose partial sums are combined in shared memory", 32, 256, true},
      {"tree_bytes", &T::tree_bytes, Steers::text, "bytes",
       "Shared memory for combining partial sums, per block", 256, 16384},
      {"exchanged_scalars", &T::exchanged_scalars, Steers::text, "scalars",
       "On a GPU, Globals of up to this many values are combined through registers, larger ones "
       "through shared memory",
       0, 1024},
      {"thread_elements", &T::thread_elements, Steers::launch, "elements",
       "Elements per thread: a loop over fewer than twice as many runs on one thread, others run "
       "on all; 128 bytes or 64 operations count as an element",
       1, many},
      {"short_microseconds", &T::short_microseconds, Steers::launch, "microseconds",
       "A loop that takes one thread less than this runs on one thread; 0: all threads always "
       "take part",
       0, many},
      {"block_elements", &T::block_elements, Steers::launch, "elements",
       "Most elements in a block under `block`, divided by half the targets of an element", 1,
       many},
      {"least_block_elements", &T::least_block_elements, Steers::launch, "elements",
       "Fewest elements in a block under `block`, divided by half the targets of an element", 1,
       many},
      {"blocks_a_thread", &T::blocks_a_thread, Steers::launch, "blocks",
       "Short loops are divided into at least this many blocks per thread, if blocks do not "
       "become too small; up to eight times as many if elements have many targets",
       1, 4096},
      {"block_lanes", &T::block_lanes, Steers::launch, "lanes", "Lanes in a block of a device", 1,
       1024, true},
      {"streaming_lanes", &T::streaming_lanes, Steers::launch, "lanes",
       "The same for loops without Maps that reduce no Global, or that move fewer bytes than "
       "`light_bytes`",
       1, 1024, true},
      {"lanes_factor", &T::lanes_factor, Steers::launch, "",
       "On a device, the number of lanes in a block is a power of this number; a CPU compiles a "
       "kernel again for each number",
       2, 64, true},
      {"blocks_a_unit", &T::blocks_a_unit, Steers::launch, "blocks",
       "Blocks per multiprocessor or core for loops that reduce Globals", 1, 4096},
      {"blocks_a_unit_light", &T::blocks_a_unit_light, Steers::launch, "blocks",
       "The same for loops that move fewer bytes than `light_bytes`", 1, 4096},
      {"blocks_a_unit_gathering", &T::blocks_a_unit_gathering, Steers::launch, "blocks",
       "The same for loops with Maps; 0: as many as a multiprocessor holds at a time", 0, 4096},
      {"resident_blocks", &T::resident_blocks, Steers::launch, "blocks",
       "Blocks that a multiprocessor is assumed to hold at a time if its driver does not say", 1,
       64},
      {"most_blocks", &T::most_blocks, Steers::launch, "blocks",
       "Largest number of blocks in a launch; lanes then take several elements each", 1, 1 << 20},
      {"light_bytes", &T::light_bytes, Steers::launch, "bytes",
       "A loop without Maps that moves fewer bytes per element uses `streaming_lanes` and "
       "`blocks_a_unit_light`",
       0, many},
      {"slot_window", &T::slot_window, Steers::launch, "targets",
       "With sliced ELLPACK lists, number of targets that are sorted by the lengths of their "
       "lists",
       16, 1 << 20, true},
      {"kept_scratch_bytes", &T::kept_scratch_bytes, Steers::launch, "bytes",
       "Scratch memory on a device up to this size is kept by a loop between its runs", 0, many},
      {"team_trial_microseconds", &T::team_trial_microseconds, Steers::launch, "microseconds",
       "While other programs stop its threads, a loop is measured this long on one thread and on "
       "all of them",
       1, many},
      {"team_part", &T::team_part, Steers::launch, "part",
       "All threads take part then if that takes less than this part of one thread's time", 0, 1},
      {"call_nanoseconds", &T::call_nanoseconds, Steers::choice, "nanoseconds",
       "In the model of [chains](chains.md), time of a loop that does nothing: a call, or a launch",
       0, many},
      {"cached_bytes", &T::cached_bytes, Steers::choice, "bytes",
       "Chains of loops that move at most this much are taken to find it in caches", 0, many},
      {"cache_rate", &T::cache_rate, Steers::choice, "GB/s", "Rate of what caches hold", 1, many},
      {"memory_rate", &T::memory_rate, Steers::choice, "GB/s", "Rate of what lies in memory", 1,
       many},
      {"gather_rate", &T::gather_rate, Steers::choice, "GB/s",
       "Rate of what is gathered through Maps, which caches hold in part", 1, many},
      {"operation_rate", &T::operation_rate, Steers::choice, "GFLOP/s",
       "Operations of all threads, in double precision", 1, many},
      {"recorded_block_nanoseconds", &T::recorded_block_nanoseconds, Steers::choice, "nanoseconds",
       "What recording a block of loops costs", 0, many},
      {"recorded_loop_nanoseconds", &T::recorded_loop_nanoseconds, Steers::choice, "nanoseconds",
       "What each loop of it adds to that", 0, many},
      {"counted_loop_nanoseconds", &T::counted_loop_nanoseconds, Steers::choice, "nanoseconds",
       "What counting a loop costs that runs at once while `init(lazy=True)` is measured", 0, many},
  };
  return all;
}

TunedValue value_of(const Tuning& tuning, const Tunable& one) {
  return std::visit(
      [&tuning](auto member) -> TunedValue {
        if constexpr (std::is_same_v<decltype(member), int Tuning::*>) {
          return std::int64_t{tuning.*member};
        } else {
          return tuning.*member;
        }
      },
      one.member);
}

TunedValue tuned(const Tuning& tuning, std::string_view name) {
  return value_of(tuning, find(name));
}

void tune(Tuning& tuning, std::string_view name, const TunedValue& value) {
  const Tunable& one = find(name);
  if (const auto* flag = std::get_if<bool Tuning::*>(&one.member)) {
    if (!std::holds_alternative<bool>(value)) refuse(one, "True or False", value);
    tuning.** flag = std::get<bool>(value);
    return;
  }
  const auto* whole = std::get_if<int Tuning::*>(&one.member);
  if (std::holds_alternative<bool>(value)) refuse(one, whole ? "an int" : "a number", value);
  if (whole) {
    if (!std::holds_alternative<std::int64_t>(value)) refuse(one, "an int", value);
    const std::int64_t number = std::get<std::int64_t>(value);
    check_range(one, static_cast<double>(number), value);
    tuning.** whole = static_cast<int>(number);
    return;
  }
  const double number = std::holds_alternative<double>(value)
                            ? std::get<double>(value)
                            : static_cast<double>(std::get<std::int64_t>(value));
  check_range(one, number, value);
  tuning.*std::get<double Tuning::*>(one.member) = number;
}

std::string text_of(const Tuning& tuning) {
  return text_of_those(tuning, [](const Tunable&) { return true; });
}

std::string text_that_steers_text(const Tuning& tuning) {
  return text_of_those(tuning, [](const Tunable& one) { return one.steers == Steers::text; });
}

}  // namespace op2
