// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace op2 {

/// @brief Nanoseconds of the host's clock that spans of a Trace are told in.
[[nodiscard]] std::int64_t trace_clock();

/// @brief What ran when, noted while somebody profiles the program; otherwise it costs one load of
/// an atomic. Safe to use from several threads.
class Trace {
 public:
  /// @brief Spans kept at most; later ones are counted only.
  static constexpr std::size_t most_spans = std::size_t{1} << 20;

  struct Span {
    std::string what;   ///< "res_calc", "Dat 'q' on Set 'cells'"
    std::string kind;   ///< "loop", "plan", "compile", "copy"
    std::string place;  ///< "host", or the name of a device
    std::int64_t begin = 0;
    std::int64_t nanoseconds = 0;
    std::int64_t n_bytes = 0;  ///< moved; 0: unknown
  };

  /// @brief Forget all spans, and note those that begin from now on.
  /// @param[in] every Of the calls of a loop on a device, the first and each so-many-th after it is
  /// measured: marks between kernels keep them from overlapping.
  void start(int every);
  void stop() { is_on_ = false; }

  [[nodiscard]] bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  [[nodiscard]] int every() const { return every_; }
  /// @brief Grows with each start().
  [[nodiscard]] std::int64_t number() const { return number_; }

  /// @brief Note a span, unless stopped.
  void add(Span span);
  [[nodiscard]] std::vector<Span> spans() const;
  [[nodiscard]] std::int64_t n_dropped() const;

 private:
  std::atomic<bool> is_on_ = false;
  std::atomic<int> every_ = 1;
  std::atomic<std::int64_t> number_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Span> spans_;
  std::int64_t n_dropped_ = 0;
};

}  // namespace op2
