// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace op2 {

/// @brief How the arms of a Trial are measured and compared.
struct TrialRules {
  int n_each = 3;             ///< counted measurements of each arm
  int n_warm = 0;             ///< the first measurements of each arm, not counted
  std::size_t preferred = 0;  ///< the arm taken unless another is faster
  double gain = 1;            ///< part of the preferred arm's time, the limit for another arm
};

/// @brief Several ways, the arms, to the same result: arms take turns, and then the fastest is
/// kept.
///
/// The shortest time of an arm counts, as other work of a machine makes a run longer and never
/// shorter. An arm with enough measurements is not measured on, so all have had as many chances.
/// Not safe to use from several threads.
class Trial {
 public:
  struct Arm {
    int n = 0;                       ///< measurements, with the first ones
    std::optional<double> shortest;  ///< in the unit of note(); nothing: none counted so far
    bool is_possible = true;         ///< others take no turns, and are never best
  };

  explicit Trial(std::size_t n_arms, TrialRules rules = {}) : rules_(rules), arms_(n_arms) {}
  Trial(std::vector<Arm> arms, TrialRules rules) : rules_(rules), arms_(std::move(arms)) {}

  [[nodiscard]] const Arm& arm(std::size_t which) const { return arms_.at(which); }
  void allow(std::size_t which, bool is_possible) { arms_.at(which).is_possible = is_possible; }

  /// @brief Note a measurement of an arm. @param[in] took Nothing: there was nothing to measure.
  void note(std::size_t which, std::optional<double> took);

  /// @brief How many measurements are left, of all arms.
  [[nodiscard]] int n_left() const;
  [[nodiscard]] bool is_decided() const { return n_left() == 0; }

  /// @brief The arm to measure next: the least measured arm, the first of equals; after the
  /// decision, the best.
  [[nodiscard]] std::size_t next() const;

  /// @brief The preferred arm, or the first of the fastest others if faster, by the measurements so
  /// far.
  [[nodiscard]] std::size_t best() const;

 private:
  [[nodiscard]] int n_left(const Arm& arm) const;

  TrialRules rules_;
  std::vector<Arm> arms_;
};

}  // namespace op2
