// SPDX-License-Identifier: BSD-3-Clause
#include "lower/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/canonical.hpp"
#include "base/error.hpp"

namespace op2::lower {
namespace {

// Grows whenever the same inputs give different code: binaries of older versions must not match.
constexpr int generator_version = 8;

}  // namespace

Strategy strategy_from_name(std::string_view name) {
  const auto* found = std::find(std::begin(strategy_names), std::end(strategy_names), name);
  if (found == std::end(strategy_names)) {
    throw UsageError(fmt::format("strategy '{}' does not exist; choose one of {}", name,
                                 fmt::join(strategy_names, ", ")));
  }
  return static_cast<Strategy>(found - std::begin(strategy_names));
}

std::string key_of(Strategy strategy, const Facts& facts, const std::vector<MapFacts>& maps,
                   const Options& options) {
  Canonical out;
  out.open("lower").number(generator_version).text(name_of(strategy));
  out.text(lanes_names[static_cast<std::size_t>(facts.lanes)]);
  out.flag(facts.atomics).number(facts.warp);
  out.flag(facts.one_address_space).flag(facts.complex_arithmetic).flag(facts.float64);
  out.flag(facts.any_kernel).flag(facts.rows_in_place).flag(facts.const_optional);
  out.flag(facts.fetches).flag(facts.fences).flag(facts.vectors_in_lane).flag(facts.runs_in_lane);
  out.flag(facts.fast_shared).flag(facts.private_on_stack);
  for (const MapFacts& map : maps) {
    out.open("map").number(map.index_bytes).flag(map.injective).flag(map.has_negative).close();
  }
  out.flag(options.semantics.deterministic)
      .flag(options.semantics.debug)
      .number(options.widths.element_bytes)
      .number(options.widths.entry_bytes)
      .number(options.widths.target_bytes)
      .number(options.widths.position_bytes);
  out.number(options.semantics.convention)
      .number(static_cast<int>(options.semantics.elementary))
      .number(options.lanes)
      .flag(options.by_slot)
      .number(options.gather_bytes)
      .flag(options.widths.padded)
      .number(options.widths.columns)
      .flag(options.widths.summed)
      .flag(options.widths.scattered)
      .number(options.widths.index_bytes);
  if (options.semantics.by_element) out.text("by element");
  out.open("soa");
  for (const int arg : options.widths.soa) out.number(arg);
  out.close().open("corners");
  for (const abi::CornerMaps& maps : options.corners) {
    out.number(maps.of_elements).number(maps.of_targets);
  }
  out.close();
  if (options.by_pairs) out.open("pairs").close();
  out.text(text_that_steers_text(options.tuning));
  return out.close().str();
}

}  // namespace op2::lower
