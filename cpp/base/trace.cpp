// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace op2 {

std::int64_t trace_clock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void Trace::start(int every) {
  const std::scoped_lock guard(mutex_);
  spans_.clear();
  n_dropped_ = 0;
  every_ = std::max(every, 1);
  ++number_;
  is_on_ = true;
}

void Trace::add(Span span) {
  if (!is_on()) return;
  const std::scoped_lock guard(mutex_);
  if (spans_.size() < most_spans) {
    spans_.push_back(std::move(span));
  } else {
    ++n_dropped_;
  }
}

std::vector<Trace::Span> Trace::spans() const {
  const std::scoped_lock guard(mutex_);
  return spans_;
}

std::int64_t Trace::n_dropped() const {
  const std::scoped_lock guard(mutex_);
  return n_dropped_;
}

}  // namespace op2
