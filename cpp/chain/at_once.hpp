// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace op2::chain {

/// @brief A line of a program with an opening of blocks.
struct Line {
  const void* code = nullptr;  ///< The function around the line; not looked into.
  int at = 0;                  ///< The place in the function.
  int passes = 0;              ///< The passes of the blocks, as numbered by the caller.

  [[nodiscard]] bool operator==(const Line&) const = default;
};

/// @brief Lines whose next blocks run at once. For one thread.
class AtOnce {
 public:
  /// @brief Let the next blocks of a line run at once.
  /// @param[in] n_blocks So many of them, at least 0.
  /// @param[in] epoch Of the options; with others they do not.
  void set(const Line& line, std::int64_t n_blocks, std::int64_t epoch);

  /// @brief The number of next blocks that run at once, whatever the epoch of the options.
  [[nodiscard]] std::int64_t left(const Line& line) const;

  /// @brief Whether the next block runs at once; if so, one less remains.
  /// @param[in] epoch The current epoch of the options.
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
