// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <mutex>

#include "base/tuning.hpp"

namespace op2::runtime {

/// @brief What TeamChoice decides by: numbers of the tuning, and what is known of a loop.
struct TeamRules {
  std::int64_t short_nanoseconds = 0;
  double trial_nanoseconds = 0;
  double team_part = 0;   ///< of one thread's time in which a team must be done
  bool is_small = false;  ///< one thread might do it in short_nanoseconds, as far as is known

  /// @param[in] n_elements Of the loop.
  [[nodiscard]] static TeamRules of(const Tuning& tuning, std::int64_t n_elements);
  auto operator<=>(const TeamRules&) const = default;
};

/// @brief Whether one thread carries a loop out, or a team, by how long both took before.
///
/// - A loop that one thread carries out in less than `short_nanoseconds` is left to it: waking a
///   team and waiting for it takes as long. Small loops run alone at first to find that out.
/// - While there is contention, both are tried in a round, and a team stays if it takes less than
///   `team_part` of the time. One that is not rests for the next one, two and then four rounds.
/// - Otherwise a team.
///
/// Parts of sums do not depend on it: one thread computes all parts that a team would. Safe to use
/// from several threads.
class TeamChoice {
 public:
  explicit TeamChoice(const TeamRules& rules);

  /// @brief Whether the next run is one thread's. @param[in] round Contention::round().
  [[nodiscard]] bool is_alone(std::int64_t round);

  /// @brief Say how long a run took.
  void note(bool was_alone, std::int64_t nanoseconds);

 private:
  /// Runs of one kind, the last ones weighing most.
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

  std::mutex mutex_;  // guards what follows
  const TeamRules rules_;
  std::int64_t round_ = 0;
  Runs alone_;
  Runs team_;
  std::int64_t rest_ = 0;  // rounds that a team rests for
  std::int64_t rests_until_ = 0;
  int n_first_ = 0;  // runs that one thread still has to do to find out how long they take
  // The shortest run of one thread, among the last few hundred; a larger one may have been stopped.
  std::int64_t shortest_;
  std::int64_t shortest_before_;
  int n_counted_ = 0;
};

}  // namespace op2::runtime
