// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace op2 {

/// @brief How the arms of a Trial are measured and compared.
struct TrialRules {
  int n_each = 3;             ///< measurements of each arm that count
  int n_warm = 0;             ///< the first ones of each, which do not
  std::size_t preferred = 0;  ///< the arm that is taken unless another one is faster
  double gain = 1;            ///< part of its time that the other one has to stay below
};

/// @brief Several ways, the arms, to do the same: they take turns, and then the fastest is kept.
///
/// The shortest time of an arm counts, as whatever else a machine does makes a run longer and
/// never shorter. An arm that was measured often enough is not measured on, so that all have had
/// as many chances. Not safe to use from several threads.
class Trial {
 public:
  struct Arm {
    int n = 0;                       ///< measurements, the first ones included
    std::optional<double> shortest;  ///< in the unit of note(); nothing: none counted so far
    bool is_possible = true;         ///< others take no turns, and are never best
  };

  explicit Trial(std::size_t n_arms, TrialRules rules = {}) : rules_(rules), arms_(n_arms) {}
  Trial(std::vector<Arm> arms, TrialRules rules) : rules_(rules), arms_(std::move(arms)) {}

  [[nodiscard]] const Arm& arm(std::size_t which) const { return arms_.at(which); }
  void allow(std::size_t which, bool is_possible) { arms_.at(which).is_possible = is_possible; }

  /// @brief An arm was measured. @param[in] took Nothing: there was nothing to measure in it.
  void note(std::size_t which, std::optional<double> took);

  /// @brief How many measurements are left, of all arms.
  [[nodiscard]] int n_left() const;
  [[nodiscard]] bool is_decided() const { return n_left() == 0; }

  /// @brief The arm that is measured next: the one that was measured least, the first of equals;
  /// once it is decided, the best.
  [[nodiscard]] std::size_t next() const;

  /// @brief The preferred arm, or the first of the fastest others if that is faster, by what was
  /// measured so far.
  [[nodiscard]] std::size_t best() const;

 private:
  [[nodiscard]] int n_left(const Arm& arm) const;

  TrialRules rules_;
  std::vector<Arm> arms_;
};

}  // namespace op2
