// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

namespace op2::runtime {

/// @brief The share of the processors that the threads of a process got.
struct Usage {
  std::int64_t stops = 0;        // times that a thread had to leave its processor to another
                                 // program
  std::int64_t nanoseconds = 0;  // run time of all threads, together
};

/// @brief The usage of this process since its start.
[[nodiscard]] Usage usage_of_this_process();

/// @brief Nanoseconds that the threads of this process have waited for a processor, together;
/// nothing if the kernel does not tell. Reads a file for each thread, some 8 microseconds each.
///
/// Only living threads count: the number falls when a thread ends, by the waits of the thread.
[[nodiscard]] std::optional<std::int64_t> waits_of_this_process();

/// @brief Whether other programs stop the threads of this process so often that teams wait for
/// them: every thread of a team waits for the last thread, possibly stopped for milliseconds.
///
/// Stops raise the suspicion, for they cost little to count. But the kernel's own short tasks stop
/// threads as often as another program does, for microseconds; so threads must also have waited for
/// a tenth of their run time.
///
/// The class decides nothing. Loops compare one thread with a team while there is contention, once
/// in each round; see TeamChoice. Safe to use from several threads.
class Contention {
 public:
  using Counter = Usage (*)();

  using Waits = std::optional<std::int64_t> (*)();

  /// @param[in] usage Counts; asked about twenty times a second while loops run.
  /// @param[in] waits Asked when there were many stops.
  Contention(Counter usage, Waits waits) : usage_(usage), waits_(waits) {}

  /// @brief Number of the round at @p now, in nanoseconds of a fixed clock: 0 without contention.
  ///
  /// A round lasts a quarter of a second, and each following round twice as long, up to two
  /// seconds.
  [[nodiscard]] std::int64_t round(std::int64_t now) {
    if (now < next_look_.load(std::memory_order_relaxed)) {
      return round_.load(std::memory_order_relaxed);
    }
    return look(now);
  }

 private:
  std::int64_t look(std::int64_t now);
  [[nodiscard]] bool has_waited(std::int64_t run);
  void begin_round(std::int64_t now);

  Counter usage_;
  Waits waits_;
  std::atomic<std::int64_t> next_look_ = 0;
  std::atomic<std::int64_t> round_ = 0;
  std::mutex mutex_;  // guards the members below
  bool has_looked_ = false;
  Usage last_;                          // of the last judgement
  std::optional<std::int64_t> waited_;  // by then, if there had been many stops
  std::int64_t last_round_ = 0;         // the last round
  std::int64_t last_trouble_ = 0;       // end of the last round
  std::int64_t length_ = 0;             // of the last round
};

/// @brief The contention of this process.
[[nodiscard]] Contention& contention();

}  // namespace op2::runtime
