// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/meter.hpp"

#include <utility>

namespace op2::runtime {

std::unique_ptr<DeviceSpan> Meter::open() {
  {
    const std::scoped_lock guard(mutex_);
    collect();
    if (under_way_.size() >= most_under_way) return nullptr;
  }
  return device_->open_span();
}

void Meter::close(std::unique_ptr<DeviceSpan> span, std::shared_ptr<Timing> timing,
                  std::string loop, Work work) {
  device_->close_span(*span);
  const std::scoped_lock guard(mutex_);
  under_way_.push_back({std::move(span), std::move(timing), std::move(loop), work});
}

void Meter::settle() {
  device_->finish();
  const std::scoped_lock guard(mutex_);
  collect();
  under_way_.clear();  // what is not measured by now never will be
}

void Meter::collect() {
  while (!under_way_.empty()) {
    const UnderWay& first = under_way_.front();
    const std::optional<DeviceSpan::Interval> found = first.span->measured();
    if (!found) return;
    Timing& timing = *first.timing;
    timing.n_measured += first.work.n_calls;
    timing.measured_nanoseconds += found->nanoseconds;
    timing.measured_bytes += first.work.n_bytes;
    timing.trace->add({first.loop, "loop", device_->name(), found->begin, found->nanoseconds,
                       first.work.n_bytes});
    under_way_.pop_front();
  }
}

}  // namespace op2::runtime
