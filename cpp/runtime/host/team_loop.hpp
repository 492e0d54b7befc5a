// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>

#include "base/abi.h"

namespace op2::runtime {

/// @brief A loop of the host as a member of a parallel region; see HostSequence.
///
/// If the loop opens a team, its launch function knows the flags of base/abi.h for teams. All
/// functions but launch() are for the thread that opens the region.
class TeamLoop {
 public:
  TeamLoop() = default;
  TeamLoop(const TeamLoop&) = delete;
  TeamLoop& operator=(const TeamLoop&) = delete;
  virtual ~TeamLoop() = default;

  /// @brief Whether the loop opens a team by itself, and so can take part in another team.
  [[nodiscard]] virtual bool opens_team() const = 0;
  /// @brief Keeps out other runs of the loop, because they would use the same scratch memory.
  [[nodiscard]] virtual std::unique_lock<std::mutex> lock() = 0;
  /// @brief Everything in a run before the launch. The loop is locked meanwhile.
  /// @return Whether values were copied between host and devices; see mesh::Coherence.
  virtual bool make_ready_for_team() = 0;

  // The functions below have results after make_ready_for_team().

  /// @brief The context of a separate launch: flags are OP2_ONE_THREAD, or 0 for a team of
  /// n_threads.
  [[nodiscard]] virtual const op2_context_v1& context() const = 0;
  /// @brief Call the launch function, if there is work. Threads of a team call launch(), too.
  /// @return The result of the function.
  virtual int launch(const op2_context_v1& context) = 0;
  /// @brief Note the start of the finished launch, and whether one thread ran the loop.
  virtual void note_launch(std::int64_t start, bool was_alone) = 0;
  /// @brief Whether a check of the generated code has failed.
  [[nodiscard]] virtual bool has_failed() const = 0;
  /// @throws ExecutionError if has_failed(), or if the launch returned another @p status than 0.
  virtual void check(int status) const = 0;
};

}  // namespace op2::runtime
