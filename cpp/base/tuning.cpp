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
  throw UsageError(fmt::format("tuning: '{}' must be {}, got {}", one.name, expected, words(got)));
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
    const TunedValue value = tuned(tuning, one.name);
    if (is_wanted(one) && value != tuned(usual, one.name)) {
      parts.push_back(fmt::format("{}={}", one.name, words(value)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace

Tuning Tuning::of(DeviceClass device) {
  Tuning tuning;
  if (device == DeviceClass::host) return tuning;
  // A device's compiler vectorises lighter loops by itself: lanes slow adt_calc down, which has 65.
  tuning.lane_operations = 75;
  tuning.operations_a_division = 1;
  tuning.least_part_in_rows = 2;  // never
  if (device == DeviceClass::gpu) return tuning;
  tuning.block_lanes = tuning.streaming_lanes = 64;
  tuning.lanes_factor = 8;
  tuning.blocks_a_unit = tuning.blocks_a_unit_light = tuning.blocks_a_unit_gathering = 16;
  return tuning;
}

const std::vector<Tunable>& tunables() {
  using T = Tuning;
  static const std::vector<Tunable> all{
      {"owner_slots", &T::owner_slots, Steers::choice, "targets",
       "On GPUs `owner` is chosen for loops whose elements add to so many; 0: for none", 0, 64},
      {"most_padding", &T::most_padding, Steers::choice, "entries",
       "On devices incidences are padded to columns that hold up to so many for each one; 0: never",
       0, 1000},
      {"lane_operations", &T::lane_operations, Steers::choice, "operations",
       "Kernels of fewer get no lanes", 0, many},
      {"lane_operations_a_scalar", &T::lane_operations_a_scalar, Steers::choice, "operations",
       "The same, for each scalar that a call moves", 0, many},
      {"column_operations_a_scalar", &T::column_operations_a_scalar, Steers::choice, "operations",
       "The same, where lanes go over columns of cells", 0, many},
      {"slot_operations", &T::slot_operations, Steers::choice, "operations",
       "As `lane_operations`, for owners that go by slot", 0, many},
      {"slot_operations_a_scalar", &T::slot_operations_a_scalar, Steers::choice, "operations",
       "The same, for each scalar that a call moves", 0, many},
      {"least_reduced_scalars", &T::least_reduced_scalars, Steers::choice, "scalars",
       "On processors as devices, loops that reduce a Global get lanes if a call moves so many", 0,
       many},
      {"wide_operations_a_scalar", &T::wide_operations_a_scalar, Steers::choice, "operations",
       "Kernels of so many for each scalar moved get the machine's widest vectors", 0, many},
      {"narrow_bytes", &T::narrow_bytes, Steers::choice, "bytes",
       "Width of the vectors of lighter kernels", 8, 128, true},
      {"operations_a_division", &T::operations_a_division, Steers::choice, "operations",
       "What a division or a root counts for", 1, 1000},
      {"row_length", &T::row_length, Steers::text, "steps",
       "Loops of a kernel that have so many count as made vectors of by the compiler, and stay "
       "loops",
       2, many},
      {"least_part_in_rows", &T::least_part_in_rows, Steers::choice, "part",
       "Kernels with so much of their operations in such loops get no lanes; above 1: they get "
       "some",
       0, 2},
      {"column_fill_light", &T::column_fill_light, Steers::choice, "part",
       "Slot columns are used if so much of them holds incidences", 0, 2},
      {"column_fill_heavy", &T::column_fill_heavy, Steers::choice, "part",
       "The same for kernels of `heavy_operations_a_scalar`", 0, 2},
      {"heavy_operations_a_scalar", &T::heavy_operations_a_scalar, Steers::choice, "operations",
       "Kernels of so many for each scalar moved are heavy: see `column_fill_heavy`", 0, many},
      {"unrolled_scalars", &T::unrolled_scalars, Steers::text, "scalars",
       "Rows of up to so many are moved by one statement each, more by loops", 0, 4096},
      {"selected_slots", &T::selected_slots, Steers::text, "targets",
       "Under `owner`, up to so many shares of an element are told apart by selects, more by an "
       "index",
       0, 64},
      {"partial_bytes", &T::partial_bytes, Steers::text, "bytes",
       "Distance between the partial results of two threads", 16, 4096, true},
      {"deterministic_chunk", &T::deterministic_chunk, Steers::text, "elements",
       "Length of a partial sum under `deterministic=True`; decides its bits", 256, 1 << 20, true},
      {"unrolled_pieces", &T::unrolled_pieces, Steers::text, "vectors",
       "Rows of up to so many are loaded into lanes by one statement each", 1, 64},
      {"unrolled_lane_scalars", &T::unrolled_lane_scalars, Steers::text, "scalars",
       "Up to so many of a lane are stored by one statement each", 1, 1024},
      {"unrolled_shares", &T::unrolled_shares, Steers::text, "scalars",
       "Up to so many of an owner's share are added by one statement each", 0, 1024},
      {"masked_expressions", &T::masked_expressions, Steers::text, "expressions",
       "From so many under a mask on, code asks first whether any lane wants them", 0, many},
      {"copied_statements", &T::copied_statements, Steers::text, "statements",
       "Up to so many behind an early return are written twice rather than masked", 0, 1024},
      {"transposed", &T::transposed, Steers::text, "",
       "On GPUs, lanes that exchange registers share the rows that they add to"},
      {"interleaved", &T::interleaved, Steers::text, "",
       "Otherwise neighbouring lanes add to neighbouring rows"},
      {"sharing_lanes", &T::sharing_lanes, Steers::text, "lanes", "At most so many share a row", 2,
       16, true},
      {"transposed_scalars", &T::transposed_scalars, Steers::text, "scalars",
       "Elements of up to so many share rows", 0, 1024},
      {"interleaved_targets", &T::interleaved_targets, Steers::text, "targets",
       "Elements of at least so many are interleaved", 1, 1024},
      {"interleaved_window", &T::interleaved_window, Steers::launch, "targets",
       "The elements of so many take turns in interleaved loops", 1, 1 << 20},
      {"staged_elements", &T::staged_elements, Steers::text, "elements",
       "Length of a block whose increments are summed in shared memory", 16, 1024, true},
      {"least_staged_elements", &T::least_staged_elements, Steers::text, "elements",
       "With less room than for so many, increments stay in global memory", 1, 1024, true},
      {"staged_bytes", &T::staged_bytes, Steers::text, "bytes",
       "Size of the shared memory for increments", 0, 32768},
      {"listed_elements", &T::listed_elements, Steers::text, "elements",
       "Length of a block whose element matrices are summed in shared memory", 16, 1024, true},
      {"least_listed_elements", &T::least_listed_elements, Steers::text, "elements",
       "With less room than for so many, each entry is added by an atomic instruction", 1, 1024,
       true},
      {"listed_bytes", &T::listed_bytes, Steers::text, "bytes",
       "Size of the shared memory for element matrices; 0: none is summed there", 0, 49152},
      {"owner_run", &T::owner_run, Steers::text, "targets",
       "Number that a lane of a device takes at a time under `owner`", 16, 1 << 16, true},
      {"composed_targets", &T::composed_targets, Steers::text, "targets",
       "On GPUs, where columns are padded and elements lead to two targets each, columns hold the "
       "other target, and up to so many that other Maps lead to; 0: never",
       0, 64},
      {"prefetched_indices", &T::prefetched_indices, Steers::text, "indices",
       "Such columns are read before any is computed, if all of a target's have so many at most", 0,
       256},
      {"resident_lanes", &T::resident_lanes, Steers::text, "lanes",
       "A GPU's multiprocessor shall hold so many that visit such columns, which bounds their "
       "registers; 0: any number",
       0, 2048},
      {"tree_lanes", &T::tree_lanes, Steers::text, "lanes",
       "Number whose values are combined in shared memory", 32, 256, true},
      {"tree_bytes", &T::tree_bytes, Steers::text, "bytes", "Size of the shared memory for that",
       256, 16384},
      {"exchanged_scalars", &T::exchanged_scalars, Steers::text, "scalars",
       "Globals of up to so many are combined through registers on GPUs, others through shared "
       "memory",
       0, 1024},
      {"thread_elements", &T::thread_elements, Steers::launch, "elements",
       "So many are worth waking a thread for", 1, many},
      {"short_microseconds", &T::short_microseconds, Steers::launch, "microseconds",
       "A loop that one thread carries out in less is left to it; 0: none is", 0, many},
      {"block_elements", &T::block_elements, Steers::launch, "elements",
       "Largest length of a block under `block`", 1, many},
      {"least_block_elements", &T::least_block_elements, Steers::launch, "elements",
       "Smallest length of a block under `block`", 1, many},
      {"blocks_a_thread", &T::blocks_a_thread, Steers::launch, "blocks",
       "Small loops are cut into so many for each thread", 1, 4096},
      {"block_lanes", &T::block_lanes, Steers::launch, "lanes", "Size of a device's block", 1, 1024,
       true},
      {"streaming_lanes", &T::streaming_lanes, Steers::launch, "lanes",
       "The same for loops without Maps that sum nothing, or that move little", 1, 1024, true},
      {"lanes_factor", &T::lanes_factor, Steers::launch, "",
       "A block's number of lanes is a power of it: a processor compiles kernels for each number",
       2, 64, true},
      {"blocks_a_unit", &T::blocks_a_unit, Steers::launch, "blocks",
       "Number on each multiprocessor or core, for loops that sum Globals", 1, 4096},
      {"blocks_a_unit_light", &T::blocks_a_unit_light, Steers::launch, "blocks",
       "The same for loops that move little", 1, 4096},
      {"blocks_a_unit_gathering", &T::blocks_a_unit_gathering, Steers::launch, "blocks",
       "The same for loops with Maps, which wait for memory; 0: as many as it holds at a time", 0,
       4096},
      {"light_bytes", &T::light_bytes, Steers::launch, "bytes",
       "Items of loops without Maps that move fewer move little", 0, many},
      {"slot_window", &T::slot_window, Steers::launch, "targets",
       "So many are sorted together to fill slot columns", 16, 1 << 20, true},
      {"kept_scratch_bytes", &T::kept_scratch_bytes, Steers::launch, "bytes",
       "Scratch memory of a device that a loop keeps between runs", 0, many},
  };
  return all;
}

TunedValue tuned(const Tuning& tuning, std::string_view name) {
  return std::visit(
      [&tuning](auto member) -> TunedValue {
        if constexpr (std::is_same_v<decltype(member), int Tuning::*>) {
          return std::int64_t{tuning.*member};
        } else {
          return tuning.*member;
        }
      },
      find(name).member);
}

void tune(Tuning& tuning, std::string_view name, const TunedValue& value) {
  const Tunable& one = find(name);
  if (const auto* flag = std::get_if<bool Tuning::*>(&one.member)) {
    if (!std::holds_alternative<bool>(value)) refuse(one, "True or False", value);
    tuning.** flag = std::get<bool>(value);
    return;
  }
  if (std::holds_alternative<bool>(value)) refuse(one, "a number", value);
  if (const auto* whole = std::get_if<int Tuning::*>(&one.member)) {
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
