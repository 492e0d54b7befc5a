// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace op2::jit {

/// @brief Messages for the user, each message once. Safe to use from any thread.
class Notices {
 public:
  void give(const std::string& message) {
    const std::scoped_lock guard(mutex_);
    if (std::ranges::find(given_, message) != given_.end()) return;
    given_.push_back(message);
    pending_.push_back(message);
  }

  /// @brief The messages since the last call.
  [[nodiscard]] std::vector<std::string> take() {
    const std::scoped_lock guard(mutex_);
    return std::exchange(pending_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> pending_;
  std::vector<std::string> given_;
};

}  // namespace op2::jit
