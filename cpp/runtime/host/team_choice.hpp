// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <mutex>

#include "base/tuning.hpp"

namespace op2::runtime {

/// @brief The input of TeamChoice: numbers of the tuning, and facts of a loop.
struct TeamRules {
  std::int64_t short_nanoseconds = 0;
  double trial_nanoseconds = 0;
  double team_part = 0;   ///< part of one thread's time, the limit for a team
  bool is_small = false;  ///< one thread might need less than short_nanoseconds, as far as is known

  /// @param[in] n_elements Of the loop.
  [[nodiscard]] static TeamRules of(const Tuning& tuning, std::int64_t n_elements);
  auto operator<=>(const TeamRules&) const = default;
};

/// @brief Whether one thread runs a loop, or a team, by earlier times of both.
///
/// - A loop that takes one thread less than `short_nanoseconds` stays with one thread: waking a
///   team and waiting for the team takes as long. Small loops run alone at first to find their
///   time.
/// - During contention, both are tried in a round, and a team stays if the team takes less than
///   `team_part` of the time. A slower team rests for the next one, two and then four rounds.
/// - Otherwise a team.
///
/// Parts of sums do not depend on the choice: one thread computes all parts of a team. Safe to use
/// from several threads.
class TeamChoice {
 public:
  explicit TeamChoice(const TeamRules& rules);

  /// @brief Whether one thread does the next run. @param[in] round Contention::round().
  [[nodiscard]] bool is_alone(std::int64_t round);

  /// @brief Say how long a run took.
  void note(bool was_alone, std::int64_t nanoseconds);

 private:
  /// Runs of one kind; the last runs weigh most.
  struct Runs {
    double nanoseconds = 0;
    double n = 0;
    double of_this_round = 0;  // nanoseconds
    [[nodiscard]] double mean() const { return nanoseconds / n; }
    void add(double more, double most);
    void keep(double most);  // nanoseconds of the past
  };

  [[nodiscard]] bool is_short() const;
  [[nodiscard]] bool alone_is_faster() const;
  void end_round();
  [[nodiscard]] bool wants_a_trial(const Runs& runs, const Runs& others) const;

  std::mutex mutex_;  // guards the members below
  const TeamRules rules_;
  std::int64_t round_ = 0;
  Runs alone_;
  Runs team_;
  std::int64_t rest_ = 0;  // rounds of rest for a team
  std::int64_t rests_until_ = 0;
  int n_first_ = 0;  // runs left for one thread, to find their time
  // The shortest run of one thread, among the last few hundred; a longer run may have been stopped.
  std::int64_t shortest_;
  std::int64_t shortest_before_;
  int n_counted_ = 0;
};

}  // namespace op2::runtime
