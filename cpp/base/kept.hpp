// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>

namespace op2 {

/// @brief A value computed at the first request, and then kept. Safe to use from several threads.
///
/// A copy has no value yet, for the copied object may change before the first request.
template <class T>
class Kept {
 public:
  Kept() = default;
  Kept(const Kept& /*other*/) {}
  Kept& operator=(const Kept& other) {
    if (this == &other) return *this;
    const std::lock_guard lock(mutex_);
    value_.reset();
    return *this;
  }
  ~Kept() = default;

  /// @param[in] find Returns a T; others wait meanwhile.
  template <class Find>
  [[nodiscard]] const T& get(const Find& find) const {
    const std::lock_guard lock(mutex_);
    if (!value_) value_ = std::make_shared<const T>(find());
    return *value_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const T> value_;  // T may be incomplete at this declaration
};

}  // namespace op2
