// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/body.hpp"

namespace op2::lower {

/// @brief Why a kernel cannot run on lanes. Thrown by the passes of lanes_*, caught where they are
/// called: a refusal is an answer, not an error.
struct Refusal {
  std::string why;
  int line = 0;  ///< of the kernel; 0: of no line in particular

  /// @brief The reason, and where.
  [[nodiscard]] std::string text() const;
};

[[noreturn]] inline void refuse(std::string why) {
  throw Refusal{std::move(why)};
}

/// @brief Run what refuses, and say that it stands at @p line unless something inside knows better.
template <class Run>
void at_line(int line, const Run& run) {
  try {
    run();
  } catch (Refusal& refusal) {
    if (refusal.line == 0) refusal.line = line;
    throw;
  }
}

/// @brief One function of the kernel, for one pattern of arguments that vary from lane to lane.
struct LaneInstance {
  const kernel::FunctionDef* function = nullptr;
  std::vector<bool> varying_parameters;  ///< behind a pointer: what it points to varies
  bool masked = false;                   ///< called where some lanes may be switched off
  std::set<std::string> varying;         ///< variables with a value (behind them) for each lane
  std::set<std::string> merged;          ///< assigned where fewer lanes are on than declared
  std::map<std::string, int> depth;      ///< masks around each variable's declaration
  bool result_varies = false;

  /// @brief Masks around the function's own statements.
  [[nodiscard]] int base_depth() const { return masked ? 1 : 0; }
};

/// @brief Which variables of a kernel differ from lane to lane, function by function.
///
/// A value varies if it depends on an argument that does, or is stored where only some lanes run.
/// Where pointers lead, and how often loops run, must not vary.
class LaneInstances {
 public:
  /// @param[in] body Prepared (prepared_for_lanes), outlives this.
  explicit LaneInstances(const kernel::KernelBody& body) : body_(body) {}

  /// @brief The instance of @p function for these arguments; parameters that it stores varying
  /// values behind are added to `varying_parameters` of the result.
  /// @throws Refusal
  const LaneInstance& of(const std::string& function, const std::vector<bool>& varying_parameters,
                         bool masked);

  /// @brief The instance that @p call leads to from @p caller.
  const LaneInstance& callee(const LaneInstance& caller, const kernel::Call& call,
                             const kernel::Expr& expr, bool masked);

  /// @brief True if the value of the scalar @p expr differs from lane to lane.
  [[nodiscard]] bool varies(const LaneInstance& in, const kernel::Expr& expr);

  [[nodiscard]] const kernel::KernelBody& body() const { return body_; }

 private:
  struct Entry {
    std::vector<bool> asked;
    bool masked;
    LaneInstance instance;
  };

  const kernel::KernelBody& body_;
  std::deque<Entry> entries_;  // references to instances stay valid
};

/// @brief Variables that a pointer's value or an lvalue starts from.
[[nodiscard]] std::vector<std::string> roots_of(const kernel::Expr& expr);

/// @brief Masks around the declaration of what the lvalue @p target stores to.
[[nodiscard]] int depth_of_target(const LaneInstance& in, const kernel::Expr& target);

}  // namespace op2::lower
