// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace op2::libs {

/// @brief Which of two ways to do the same costs less, found by taking turns.
///
/// For each kind of work, and for each power of two of its size, calls take turns until both ways
/// were measured some times; the first of each, which pays for what was put off until then, does
/// not count. From then on the faster one is taken. Not safe to use from several threads.
class Measured {
 public:
  /// @brief Measured calls of each way before one is taken.
  static constexpr int n_trials = 4;

  /// @brief Whether the library is to do the next call.
  [[nodiscard]] bool takes_library(const std::string& kind, std::int64_t size) const;

  /// @brief Whether that was decided, or they still take turns.
  [[nodiscard]] bool is_decided(const std::string& kind, std::int64_t size) const;

  /// @brief What a call took.
  void note(const std::string& kind, std::int64_t size, bool was_library, std::int64_t nanoseconds);

 private:
  struct Way {
    int n_calls = 0;
    std::int64_t least = 0;
  };
  struct Ways {
    Way own;
    Way library;
  };
  using Key = std::pair<std::string, int>;

  [[nodiscard]] static Key key(const std::string& kind, std::int64_t size);

  std::map<Key, Ways> ways_;
};

}  // namespace op2::libs
