// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/contention.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace op2::runtime {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t window = 50 * ms;  // between two looks while there is no contention
constexpr std::int64_t second = 1'000 * ms;
// A thread that shares its processor with one other is stopped 50 to 150 times a second under
// Linux; what a quiet machine does besides stops threads a few times.
constexpr std::int64_t stops_a_second = 60;
// One thread is stopped less often than a team; a round that ends must not seem to be the end.
constexpr std::int64_t stops_a_second_of_one = 20;
constexpr std::int64_t least_stops = 3;
constexpr std::int64_t first_length = 250 * ms;
constexpr std::int64_t longest = 2 * second;

}  // namespace

std::int64_t stops_of_this_process() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

std::int64_t Contention::look(std::int64_t now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || now < next_look_.load(std::memory_order_relaxed)) return round_;
  const std::int64_t stops = stops_();
  const bool is_first = last_look_ < 0;
  const std::int64_t n = stops - last_stops_;
  const std::int64_t passed = now - std::exchange(last_look_, now);
  last_stops_ = stops;
  next_look_ = now + window;
  if (is_first) return round_;
  const std::int64_t rate = round_ == 0 ? stops_a_second : stops_a_second_of_one;
  if (n >= least_stops && n * second >= rate * passed) {
    begin_round(now);
  } else {
    round_ = 0;
  }
  return round_;
}

void Contention::begin_round(std::int64_t now) {
  // Where one thread is undisturbed and a team is not, contention seems to end with every round.
  const bool goes_on = length_ > 0 && now - last_trouble_ < second;
  length_ = goes_on ? std::min(2 * length_, longest) : first_length;
  round_ = ++last_round_;
  next_look_ = last_trouble_ = now + length_;
}

Contention& contention() {
  static Contention of_this_process(stops_of_this_process);
  return of_this_process;
}

}  // namespace op2::runtime
