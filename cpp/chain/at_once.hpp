// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace op2::chain {

/// @brief A line of a program that opens blocks.
struct Line {
  const void* code = nullptr;  ///< The function in which it stands; not looked into.
  int at = 0;                  ///< Its place there.
  int passes = 0;              ///< Those of its blocks, as whoever asks numbers them.

  [[nodiscard]] bool operator==(const Line&) const = default;
};

/// @brief Lines whose next blocks run at once. For one thread.
class AtOnce {
 public:
  /// @brief Let the next blocks of a line run at once.
  /// @param[in] n_blocks So many of them, at least 0.
  /// @param[in] epoch Of the options; with others they do not.
  void set(const Line& line, std::int64_t n_blocks, std::int64_t epoch);

  /// @brief How many of the next blocks run at once, with the options of whatever epoch it was.
  [[nodiscard]] std::int64_t left(const Line& line) const;

  /// @brief Whether the block that begins runs at once, which is one less then.
  /// @param[in] epoch Of the options now.
  [[nodiscard]] bool take(const Line& line, std::int64_t epoch);

  /// @brief Let all blocks ask again.
  void clear() { left_.clear(); }

  /// @brief Whether no line was ever set.
  [[nodiscard]] bool is_empty() const { return left_.empty(); }

 private:
  struct Hash {
    [[nodiscard]] std::size_t operator()(const Line& line) const;
  };
  struct Left {
    std::int64_t n_blocks = 0;
    std::int64_t epoch = 0;
  };
  std::unordered_map<Line, Left, Hash> left_;
};

}  // namespace op2::chain
