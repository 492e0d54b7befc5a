// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "libs/measured.hpp"

namespace op2::libs {

/// @brief How often an operation was done one way, and why not another.
struct ChoiceEvent {
  std::string operation;  ///< "dot", "axpy"
  std::string dtype;
  bool by_library = false;
  std::string rejected;  ///< why the library was not asked, or what it was found to be
  std::int64_t n_calls = 0;
};

/// @brief Who does the next call, and whether what it takes is to be measured.
struct Decision {
  bool by_library = false;
  bool is_measured = false;
};

/// @brief Between the core's own way and a library's: what the library cannot do is the core's,
/// the rest whoever's was measured to cost less. Counts what was done, and why. Safe to use from
/// several threads.
class Choice {
 public:
  /// @param[in] library What reasons begin with: "cblas".
  explicit Choice(std::string library) : library_(std::move(library)) {}

  /// @param[in] size What the cost depends on, such as the length.
  /// @param[in] veto Why the library cannot do it; empty: it can.
  [[nodiscard]] Decision decide(const std::string& operation, const std::string& dtype,
                                std::int64_t size, const std::string& veto);

  /// @brief What a call took that is measured.
  void note(const std::string& operation, const std::string& dtype, std::int64_t size,
            bool by_library, std::int64_t nanoseconds);

  [[nodiscard]] std::vector<ChoiceEvent> events() const;
  void clear_events();

 private:
  const std::string library_;
  mutable std::mutex mutex_;  // guards what follows
  Measured measured_;
  std::map<std::tuple<std::string, std::string, bool, std::string>, std::int64_t> events_;
};

}  // namespace op2::libs
