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

#include "base/trial.hpp"

namespace op2::dispatch {

/// @brief Which of several ways to do the same costs least, found by taking turns.
///
/// For each kind of work, and for each power of two of its size, calls take turns until all ways
/// were measured some times; the first of each, which pays for what was put off until then, does
/// not count. From then on the fastest one is taken. Not safe to use from several threads.
class Measured {
 public:
  /// @brief Measured calls of each way before one is taken.
  static constexpr int n_trials = 4;

  /// @brief What is done next.
  struct Next {
    std::size_t which = 0;    ///< of the ways
    bool is_decided = false;  ///< that is the fastest one; else they still take turns
  };

  /// @param[in] ways Names of what is possible; at least one. The last one is
  /// taken unless another one is faster.
  [[nodiscard]] Next next(const std::string& kind, std::int64_t size,
                          std::span<const std::string_view> ways) const;

  /// @brief What a call took.
  void note(const std::string& kind, std::int64_t size, std::string_view way,
            std::int64_t nanoseconds);

 private:
  using Key = std::pair<std::string, int>;

  [[nodiscard]] static Key key(const std::string& kind, std::int64_t size);

  std::map<Key, std::map<std::string, Trial::Arm, std::less<>>> known_;
};

}  // namespace op2::dispatch
