// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/clock.hpp"

#include <cmath>
#include <optional>

#include "base/trace.hpp"

namespace op2::runtime::gpu {
namespace {

/// Nanoseconds from one event to another, both complete.
std::optional<std::int64_t> between(const Driver& driver, EventHandle from, EventHandle to) {
  float milliseconds = 0.0F;
  if (driver.event_elapsed_time(&milliseconds, from, to) != success) return std::nullopt;
  return std::llround(1e6 * static_cast<double>(milliseconds));
}

}  // namespace

class Clock::Span final : public DeviceSpan {
 public:
  Span(std::shared_ptr<Clock> clock, EventHandle begin, EventHandle end)
      : clock_(std::move(clock)), begin_(begin), end_(end) {}
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() override {
    clock_->give_back(begin_);
    clock_->give_back(end_);
  }

  [[nodiscard]] std::optional<Interval> measured() override {
    const Driver& driver = clock_->context_->driver();
    const Current current(*clock_->context_);
    if (driver.event_query(end_) != success) return std::nullopt;
    const auto spent = between(driver, begin_, end_);
    if (!spent) return std::nullopt;
    return Interval{clock_->begin_of(begin_), *spent};
  }

  [[nodiscard]] EventHandle end() const { return end_; }

 private:
  std::shared_ptr<Clock> clock_;
  EventHandle begin_;
  EventHandle end_;
};

Clock::~Clock() {
  if (context_->is_inherited()) return;
  const Current current(*context_);
  for (EventHandle event : free_) context_->driver().event_destroy(event);
  if (origin_ != nullptr) context_->driver().event_destroy(origin_);
}

Result Clock::start() {
  const Driver& driver = context_->driver();
  const Current current(*context_);
  const std::lock_guard lock(mutex_);
  if (origin_ == nullptr) {
    const Result made = driver.event_create(&origin_, event_default);
    if (made != success) return made;
  }
  if (const Result noted = driver.event_record(origin_, context_->stream()); noted != success) {
    return noted;
  }
  const Result waited = driver.stream_synchronize(context_->stream());
  host_origin_ = trace_clock();
  if (waited == success) ++n_starts_;
  return waited;
}

void Clock::stop() {
  const std::lock_guard lock(mutex_);
  if (n_starts_ > 0) --n_starts_;
}

std::unique_ptr<DeviceSpan> Clock::open() {
  const Current current(*context_);
  const std::lock_guard lock(mutex_);
  if (n_starts_ == 0) return nullptr;
  EventHandle begin = take();
  EventHandle end = take();
  const bool is_begun = begin != nullptr && end != nullptr &&
                        context_->driver().event_record(begin, context_->stream()) == success;
  if (is_begun) return std::make_unique<Span>(shared_from_this(), begin, end);
  for (EventHandle event : {begin, end}) {
    if (event != nullptr) free_.push_back(event);
  }
  return nullptr;
}

void Clock::close(DeviceSpan& span) const {
  const Current current(*context_);
  // If this fails, so does the next wait, and the span is never measured.
  context_->driver().event_record(static_cast<Span&>(span).end(), context_->stream());
}

EventHandle Clock::take() {
  if (!free_.empty()) {
    EventHandle found = free_.back();
    free_.pop_back();
    return found;
  }
  EventHandle made = nullptr;
  if (n_events_ == most_events) return nullptr;
  if (context_->driver().event_create(&made, event_default) != success) return nullptr;
  ++n_events_;
  return made;
}

void Clock::give_back(EventHandle event) {
  const std::lock_guard lock(mutex_);
  free_.push_back(event);
}

std::int64_t Clock::begin_of(EventHandle event) const {
  const std::lock_guard lock(mutex_);
  return host_origin_ + between(context_->driver(), origin_, event).value_or(0);
}

}  // namespace op2::runtime::gpu
