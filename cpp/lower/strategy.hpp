// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ir/loop.hpp"
#include "lower/options.hpp"

namespace op2::lower {

/// @brief What of a loop two concurrent elements may fight over.
struct Races {
  std::vector<std::size_t> reductions;  ///< arguments: INC, MIN, MAX through a Map that may collide
  std::vector<std::size_t> overwrites;  ///< arguments: WRITE, RW through a Map that may collide
  std::vector<int> conflicts;           ///< Maps whose targets concurrent elements must not share
  bool reads_written = false;           ///< memory written through a Map is read through one, too
  bool overlaps = false;  ///< written memory is reached in ways that Maps alone cannot tell apart

  [[nodiscard]] bool none() const { return conflicts.empty() && !overlaps; }
};

[[nodiscard]] Races find_races(const ir::Loop& loop, const std::vector<MapFacts>& maps);

/// @brief The first argument that adds to values of 16 bits in memory by a Map that leads to some
/// of them twice. Each sum is rounded once there.
[[nodiscard]] std::optional<std::size_t> half_sum(const ir::Loop& loop, const Races& races);

/// @brief Whether something may be done, and if not, which fact forbids it.
struct Verdict {
  bool ok = true;
  std::string why;
};

/// @brief May @p loop run on the backend at all? The reason names the fact that forbids it.
[[nodiscard]] Verdict supported(const ir::Loop& loop, const Facts& facts);

/// @brief May @p loop be carried out by @p strategy? The reason names argument and fact.
[[nodiscard]] Verdict applicable(Strategy strategy, const ir::Loop& loop, const Facts& facts,
                                 const std::vector<MapFacts>& maps, const Options& options);

struct Choice {
  Strategy strategy;
  std::string why;
};

/// @brief The default rule, used until a tuner knows better.
///
/// 1. Nothing can race (one lane, direct loop, injective maps): `direct`.
/// 2. deterministic: `colour`; on CPUs `scratch` and `owner` took 1.7 and 3 times as long.
/// 3. Otherwise `block`: it keeps the order of a well-numbered mesh inside a block, and was the
///    fastest on CPUs in every measurement (docs/notebook).
///
/// On a grid 2 and 3 are others, and before 1 on a GPU: the arrays of an element are large, and its
/// kernel has a form for lanes that share them: `team`.
///
/// 2. An element adds to two targets: `owner`. Twice the arithmetic for no atomics, and the same
///    bits every time.
/// 3. deterministic: `scratch`, and where it is not possible, or with matrices, `colour`: for 2.4M
///    quadratic tetrahedra it takes half the time and none of the memory (docs/notebook).
/// 4. Otherwise `atomic`, and where nothing is summed, or the backend has no atomics, `colour`.
///
/// @throws UnsupportedError if the loop cannot run on the backend; see supported().
[[nodiscard]] Choice choose(const ir::Loop& loop, const Facts& facts,
                            const std::vector<MapFacts>& maps, const Options& options);

/// @brief What the default rule would take, and what instead if that were not possible: each is.
/// @throws UnsupportedError as choose() does.
[[nodiscard]] std::vector<Choice> preferences(const ir::Loop& loop, const Facts& facts,
                                              const std::vector<MapFacts>& maps,
                                              const Options& options);

/// @brief The strategy the user asked for. @throws UnsupportedError with the reason if illegal.
[[nodiscard]] Choice force(Strategy strategy, const ir::Loop& loop, const Facts& facts,
                           const std::vector<MapFacts>& maps, const Options& options);

}  // namespace op2::lower
