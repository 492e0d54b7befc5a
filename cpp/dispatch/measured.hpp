// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/trial.hpp"

namespace op2::dispatch {

/// @brief The cheapest of several ways to the same result, found by taking turns.
///
/// For each kind of work, and for each power of two of the size, calls take turns until all ways
/// have enough measurements. The first call of each way does not count, because of work put off
/// until then. From then on the fastest way is taken. Not safe to use from several threads.
class Measured {
 public:
  /// @brief Measured calls of each way before the decision.
  static constexpr int n_trials = 4;

  /// @brief The way of the next call.
  struct Next {
    std::size_t which = 0;    ///< of the ways
    bool is_decided = false;  ///< the fastest way; else the ways still take turns
  };

  /// @param[in] ways Names of the possible ways; at least one. The last is taken unless another is
  /// faster.
  [[nodiscard]] Next next(const std::string& kind, std::int64_t size,
                          std::span<const std::string_view> ways) const;

  /// @brief Note the time of a call.
  void note(const std::string& kind, std::int64_t size, std::string_view way,
            std::int64_t nanoseconds);

  /// @brief Ways of a kind of work with all measurements, and the shortest time of each.
  struct Decided {
    std::string kind;
    int size = 0;  ///< bits of the size
    std::map<std::string, double> nanoseconds;
  };

  /// @brief Take a measurement of another process: the way takes no turns any more.
  /// @param[in] size Bits of the size.
  void learn(const std::string& kind, int size, const std::string& way, double nanoseconds);

  /// @brief All kinds with several ways, none of which needs another turn.
  [[nodiscard]] std::vector<Decided> decided() const;

 private:
  using Key = std::pair<std::string, int>;

  [[nodiscard]] static Key key(const std::string& kind, std::int64_t size);

  std::map<Key, std::map<std::string, Trial::Arm, std::less<>>> known_;
};

}  // namespace op2::dispatch
