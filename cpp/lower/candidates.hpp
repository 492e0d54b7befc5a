// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/loop.hpp"
#include "lower/options.hpp"

namespace op2::lower {

/// @brief What one element costs under a strategy, by a model that knows no mesh: values that
/// neighbours find in a cache count each time.
struct Cost {
  std::int64_t bytes = 0;       ///< of values, Maps, lists of elements and kept results
  std::int64_t operations = 0;  ///< of kernels; 0 if theirs are not known
  bool operator==(const Cost&) const = default;
};

[[nodiscard]] Cost cost_of(Strategy strategy, const ir::Loop& loop,
                           const std::vector<MapFacts>& maps, const Options& options);

/// @brief A way to carry out a loop.
struct Candidate {
  Strategy strategy = Strategy::direct;
  bool is_possible = false;
  std::string why;  ///< why the default rule would take it, empty if it has no word on it; or, if
                    ///< it is not possible, which fact forbids it
  Cost cost = {};
};

/// @brief All strategies: first the one that choose() takes, then those that it would take instead
/// in their order, the other possible ones by their bytes, and at last those that are not possible.
/// @throws UnsupportedError if the loop cannot run on the backend.
[[nodiscard]] std::vector<Candidate> candidates(const ir::Loop& loop, const Facts& facts,
                                                const std::vector<MapFacts>& maps,
                                                const Options& options);

}  // namespace op2::lower
