// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace op2 {

/// @brief Nanoseconds of the host's clock, the unit of a Trace's spans.
[[nodiscard]] std::int64_t trace_clock();

/// @brief The times of all runs, noted during a profile; otherwise the cost is a load of an atomic.
/// Safe to use from several threads.
class Trace {
 public:
  /// @brief Most kept spans; later spans are only counted.
  static constexpr std::size_t most_spans = std::size_t{1} << 20;

  struct Span {
    std::string what;   ///< "res_calc", "Dat 'q' on Set 'cells'"
    std::string kind;   ///< "loop", "plan", "compile", "copy"
    std::string place;  ///< "host", or the name of a device
    std::int64_t begin = 0;
    std::int64_t nanoseconds = 0;
    std::int64_t n_bytes = 0;  ///< moved; 0: unknown
  };

  /// @brief Forget all spans, and note later spans.
  /// @param[in] every Measure the first of the calls of a loop on a device, and each call number @p
  /// every after it: marks between kernels keep them from overlapping.
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
  mutable std::mutex mutex_;  // guards the members below
  std::vector<Span> spans_;
  std::int64_t n_dropped_ = 0;
};

}  // namespace op2
