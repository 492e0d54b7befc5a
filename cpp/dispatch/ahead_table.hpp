// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "dispatch/dispatcher.hpp"

namespace op2::dispatch {

/// @brief Executables of loops compiled before the program ran, from all loaded tables.
class AheadTable : public Provider {
 public:
  [[nodiscard]] std::string name() const override { return "ahead"; }

  /// @brief By Query::text: the compiled text matters, compiler and flags do not.
  [[nodiscard]] Answer find(const Query& query) override;

  /// @brief Add a loop; an existing entry stays.
  void add(const Query& query, ExecutablePtr executable);

  /// @brief Note a loop whose code is not loaded yet.
  void note(const Query& query);

  /// @brief Note a loop whose code cannot run here, and the reason.
  void refuse(const Query& query, std::string why);

  void clear();

  /// @brief Whether the table has the loop for some backend, strategy and mesh.
  [[nodiscard]] bool knows(const Query& query);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, ExecutablePtr> entries_;  // by Query::text
  std::unordered_map<std::string, std::string> refused_;    // why, by Query::text
  std::unordered_set<std::string> signatures_;
  std::unordered_set<std::string> loops_;
};

}  // namespace op2::dispatch
