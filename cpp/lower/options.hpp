// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/abi_types.hpp"
#include "base/backend_facts.hpp"
#include "base/map_facts.hpp"
#include "base/tuning.hpp"
#include "kernel/lane_functions.hpp"

namespace op2::lower {

using op2::class_of;
using op2::Facts;
using op2::Lanes;
using op2::lanes_names;
using op2::Widths;

/// @brief How racing updates are resolved. What each does: architecture, section 5.
enum class Strategy : std::uint8_t { direct, owner, scratch, atomic, block, colour, team };

inline constexpr std::string_view strategy_names[] = {"direct", "owner",  "scratch", "atomic",
                                                      "block",  "colour", "team"};

[[nodiscard]] constexpr std::string_view name_of(Strategy strategy) {
  return strategy_names[static_cast<std::size_t>(strategy)];
}

/// @brief The strategy called @p name. @throws UsageError listing all of them.
[[nodiscard]] Strategy strategy_from_name(std::string_view name);

/// @brief What the user asks of the code, whatever the data.
struct Semantics {
  bool deterministic = false;
  bool debug = false;
  kernel::Elementary elementary = {};  ///< functions of vectors on lanes
  int convention = 1;  ///< 1: document 003, maps repeated an argument; 2: unique Dats and Maps
  /// Sums of targets in the order of elements, whatever elements a process has.
  bool by_element = false;
  bool operator==(const Semantics&) const = default;
};

struct Options {
  Semantics semantics = {};
  Widths widths = {};
  Tuning tuning = {};
  int lanes = 0;        ///< elements computed side by side in vectors; 0: one after the other
  bool by_slot = true;  ///< `owner` on lanes: one target a lane, incidences in columns of one slot
  bool by_pairs = false;  ///< ... in columns of neighbours, if visits_pairs() allows
  std::vector<abi::CornerMaps> corners = {};  ///< of corner_candidates(), for each Map one
  int gather_bytes = 0;  ///< lanes are loaded by gather instructions of so many bytes; 0: by rows
  bool operator==(const Options&) const = default;
};

/// @brief Canonical text of everything a strategy's code depends on besides the signature.
[[nodiscard]] std::string key_of(Strategy strategy, const Facts& facts,
                                 const std::vector<MapFacts>& maps, const Options& options);

}  // namespace op2::lower
