// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/contention.hpp"

#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/small_file.hpp"

namespace op2::runtime {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t window = 50 * ms;  // between two looks while there is no contention
constexpr std::int64_t second = 1'000 * ms;
// A thread that shares its processor with one other is stopped 50 to 150 times a second under
// Linux; what a quiet machine does besides stops threads a few times. Seconds are those that
// threads run: beside six others a thread is stopped 30 times a second, as it hardly runs, but 250
// times in a second of its own.
constexpr std::int64_t stops_a_second = 40;
// One thread is stopped less often than a team; a round that ends must not seem to be the end.
constexpr std::int64_t stops_a_second_of_one = 20;
constexpr std::int64_t least_stops = 3;
// One competitor on two cores makes it a third of the time; where it is a twentieth, a team loses
// as much and no more.
constexpr std::int64_t least_waits = 10;     // one part of so many of the time that threads ran
constexpr std::int64_t least_run = 30 * ms;  // to say that there is no contention
constexpr std::int64_t first_length = 250 * ms;
constexpr std::int64_t longest = 2 * second;

}  // namespace

Usage usage_of_this_process() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return {};
  const auto nanoseconds = [](const timeval& time) {
    return std::int64_t{time.tv_sec} * second + std::int64_t{time.tv_usec} * 1'000;
  };
  return {usage.ru_nivcsw, nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)};
}

std::optional<std::int64_t> waits_of_this_process() {
  const std::string folder = "/proc/self/task/";
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir(folder.c_str()), ::closedir);
  std::int64_t all = 0;
  bool is_told = false;
  while (const dirent* task = tasks ? ::readdir(tasks.get()) : nullptr) {
    if (task->d_name[0] == '.') continue;
    // empty for a thread that has ended since
    const std::string numbers = text_of_file(folder + task->d_name + "/schedstat");
    long long ran = 0;
    long long waited = 0;
    // kernels that do not count print zeros
    if (std::sscanf(numbers.c_str(), "%lld %lld", &ran, &waited) == 2 && ran > 0) {
      all += waited;
      is_told = true;
    }
  }
  return is_told ? std::optional(all) : std::nullopt;
}

std::int64_t Contention::look(std::int64_t now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || now < next_look_.load(std::memory_order_relaxed)) return round_;
  const Usage usage = usage_();
  const std::int64_t n = usage.stops - last_.stops;
  const std::int64_t run = usage.nanoseconds - last_.nanoseconds;
  const bool is_first = !std::exchange(has_looked_, true);
  const std::int64_t rate = round_ == 0 ? stops_a_second : stops_a_second_of_one;
  const bool is_stopped = n >= least_stops && n * second >= rate * run;
  next_look_ = now + window;
  if (!is_first && !is_stopped && run < least_run) return round_;  // goes on counting
  last_ = usage;
  if (is_first) return round_;
  if (!is_stopped) waited_.reset();
  if (is_stopped && has_waited(run)) {
    begin_round(now);
  } else {
    round_ = 0;
  }
  return round_;
}

/// Whether threads waited long since the last look, while they ran for @p run. The first look with
/// many stops cannot tell: it asks, so that the next one can. Nor can one after a thread has ended,
/// if that thread had waited long.
bool Contention::has_waited(std::int64_t run) {
  const std::optional<std::int64_t> waited = waits_();
  const std::optional<std::int64_t> before = std::exchange(waited_, waited);
  if (!waited) return true;
  return before && (*waited - *before) * least_waits >= run;
}

void Contention::begin_round(std::int64_t now) {
  // Where one thread is undisturbed and a team is not, contention seems to end with every round.
  const bool goes_on = length_ > 0 && now - last_trouble_ < second;
  length_ = goes_on ? std::min(2 * length_, longest) : first_length;
  round_ = ++last_round_;
  next_look_ = last_trouble_ = now + length_;
}

Contention& contention() {
  static Contention of_this_process(usage_of_this_process, waits_of_this_process);
  return of_this_process;
}

}  // namespace op2::runtime
