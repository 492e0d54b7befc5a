// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>

namespace op2::runtime {

/// @brief Whether one thread carries a loop out, or a team, by how long both took before.
///
/// - A loop that one thread carries out in less than `short_nanoseconds` is left to it: waking a
///   team and waiting for it takes as long. Small loops run alone at first to find that out.
/// - While there is contention, both are tried in a round, and a team stays if it is faster by a
///   fifth. One that is not rests for the next one, two and then four rounds.
/// - Otherwise a team.
///
/// Parts of sums do not depend on it: one thread computes all parts that a team would. Safe to use
/// from several threads.
class TeamChoice {
 public:
  /// @param[in] is_small Whether one thread might do it in that time, as far as is known.
  TeamChoice(std::int64_t short_nanoseconds, bool is_small);

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
    void add(double more);
    void keep(double most);  // nanoseconds of the past
  };

  [[nodiscard]] bool is_short() const;
  [[nodiscard]] bool alone_is_faster() const;
  void end_round();
  [[nodiscard]] static bool wants_a_trial(const Runs& runs, const Runs& others);

  std::mutex mutex_;  // guards what follows
  std::int64_t short_nanoseconds_ = 0;
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
