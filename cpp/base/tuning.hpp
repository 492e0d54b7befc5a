// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace op2 {

/// @brief The class of a device, as far as numbers differ: the host, a processor that takes loops
/// as a device does, or a GPU.
enum class DeviceClass : std::uint8_t { host, processor, gpu };

inline constexpr std::string_view device_class_names[] = {"host", "processor", "gpu"};

/// @brief Every number of a machine that steers choices, texts or launches, but for facts of data.
///
/// Meaning, unit and range of each: tunables(). Any values in their ranges give right results. The
/// bits of sums depend on `deterministic_chunk`, and on numbers for lanes and order. The defaults
/// were measured: docs/notebook.
struct Tuning {
  // ---------------------------------------------------------------- numbers for strategies
  int owner_slots = 2;
  int gathered_scalars = 2;
  double most_gathered = 8.0;
  int least_gathered_targets = 32'768;
  double most_padding = 1.5;
  double most_elsewhere = 0.01;
  double most_mixed = 0.5;
  int least_summed_scalars = 200'000;
  double most_distinct = 0.5;
  double most_scatter = 1.5;
  int element_stack_bytes = 7 << 20;
  // --------------------------------------------------------------------- numbers for lanes
  int lane_operations = 40;
  int lane_operations_a_scalar = 2;
  int column_operations_a_scalar = 1;
  int slot_operations = 25;
  int slot_operations_a_scalar = 1;
  int least_reduced_scalars = 4;
  int most_summed_scalars = 3;
  int wide_operations_a_scalar = 8;
  int narrow_bytes = 32;
  int operations_a_division = 4;
  int row_length = 6;
  int row_scalars = 64;
  double least_part_in_rows = 0.75;
  double column_fill_light = 0.75;
  double column_fill_heavy = 0.95;
  int heavy_operations_a_scalar = 8;
  int operations_a_function = 40;
  // ----------------------------------------------------------------------- text of all loops
  int unrolled_scalars = 64;
  int selected_slots = 4;
  int partial_bytes = 64;
  int deterministic_chunk = 2048;
  // ---------------------------------------------------------------------------- text of lanes
  int unrolled_pieces = 4;
  int unrolled_lane_scalars = 16;
  int unrolled_shares = 16;
  int masked_expressions = 24;
  int copied_statements = 8;
  // -------------------------------------------------------------------------- text of devices
  bool transposed = true;
  bool interleaved = true;
  bool sums_added_last = false;
  int sharing_lanes = 8;
  int transposed_scalars = 64;
  int exchanged_bytes = 64;
  int interleaved_targets = 3;
  int interleaved_window = 32;
  int sector_bytes = 32;
  int interleaved_gathers = 2;
  int staged_elements = 256;
  int least_staged_elements = 16;
  int staged_bytes = 24 * 1024;
  int team_bytes = 4096;
  int team_product_bytes = 1536;
  int listed_elements = 128;
  int summed_elements = 256;
  int summed_entries = 1280;
  int least_listed_elements = 16;
  int listed_bytes = 34 * 1024;
  int listed_loads = 32;
  int listed_lanes = 128;
  int listed_steps = 128;
  int owner_run = 64;
  int composed_targets = 4;
  int prefetched_indices = 16;
  int resident_lanes = 896;
  int bounded_lanes = 128;
  int stack_bytes = 1 << 20;
  int tree_lanes = 256;
  int tree_bytes = 16 * 1024;
  int exchanged_scalars = 16;
  // -------------------------------------------------------------------------------- launches
  int thread_elements = 512;
  int short_microseconds = 10;
  int block_elements = 4096;
  int least_block_elements = 256;
  int blocks_a_thread = 4;
  int block_lanes = 128;
  int streaming_lanes = 256;
  int lanes_factor = 2;
  int blocks_a_unit = 6;
  int blocks_a_unit_light = 8;
  int blocks_a_unit_gathering = 0;
  int resident_blocks = 8;
  int most_blocks = 1 << 20;
  int light_bytes = 48;
  int slot_window = 256;
  int kept_scratch_bytes = 65536;
  int team_trial_microseconds = 20'000;
  double team_part = 0.8;
  // ------------------------------------------ costs of a machine, for the model of chains
  int call_nanoseconds = 1000;
  int cached_bytes = 8 << 20;
  double cache_rate = 100;
  double memory_rate = 25;
  double gather_rate = 25;
  double operation_rate = 3;
  int recorded_block_nanoseconds = 1500;
  int recorded_loop_nanoseconds = 100;
  int counted_loop_nanoseconds = 600;

  bool operator==(const Tuning&) const = default;

  /// @brief The defaults.
  [[nodiscard]] static Tuning of(DeviceClass device);
};

/// @brief The effect of a number: the choice of strategy or lanes, the text of the chosen loop, or
/// only the launch of the text and the form of its plans.
enum class Steers : std::uint8_t { choice, text, launch };

inline constexpr std::string_view steers_names[] = {"choice", "text", "launch"};

/// @brief A number of Tuning, for reading and setting by name.
struct Tunable {
  using Member = std::variant<int Tuning::*, double Tuning::*, bool Tuning::*>;
  std::string_view name;
  Member member;
  Steers steers = Steers::text;
  std::string_view unit;
  std::string_view meaning;
  double least = 0;
  double most = 1;
  bool is_power = false;  ///< of two
};

/// @brief All of them, in the order of the struct.
[[nodiscard]] const std::vector<Tunable>& tunables();

using TunedValue = std::variant<bool, std::int64_t, double>;

/// @brief The value of @p one in @p tuning.
[[nodiscard]] TunedValue value_of(const Tuning& tuning, const Tunable& one);

/// @brief The value called @p name. @throws UsageError listing all names.
[[nodiscard]] TunedValue tuned(const Tuning& tuning, std::string_view name);

/// @brief Set the value called @p name.
/// @throws UsageError if the name is unknown, or @p value is of another kind or out of range.
void tune(Tuning& tuning, std::string_view name, const TunedValue& value);

/// @brief Canonical text: "name=value" of all numbers other than in Tuning(), in order,
/// comma-separated.
[[nodiscard]] std::string text_of(const Tuning& tuning);

/// @brief The same for numbers that steer text: other differences do not change a loop's code.
[[nodiscard]] std::string text_that_steers_text(const Tuning& tuning);

}  // namespace op2
