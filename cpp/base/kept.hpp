// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>

namespace op2 {

/// @brief What is found when it is first asked for, and then kept. Safe to use from several
/// threads.
///
/// A copy has nothing yet, for it may be changed before it is asked.
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
  mutable std::shared_ptr<const T>
      value_;  // T may be known by its name only where this is declared
};

}  // namespace op2
