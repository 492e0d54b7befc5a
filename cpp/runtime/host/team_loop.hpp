// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>

#include "base/abi.h"

namespace op2::runtime {

/// @brief A loop of the host as one of several in one parallel region; see HostSequence.
///
/// If it opens a team, its launch function knows the flags of base/abi.h that are for teams. All
/// but launch() is for the thread that opens the region.
class TeamLoop {
 public:
  TeamLoop() = default;
  TeamLoop(const TeamLoop&) = delete;
  TeamLoop& operator=(const TeamLoop&) = delete;
  virtual ~TeamLoop() = default;

  /// @brief Whether it opens a team by itself, and so can take part in another one.
  [[nodiscard]] virtual bool opens_team() const = 0;
  /// @brief Keeps other runs of this loop out, which would use the same scratch memory.
  [[nodiscard]] virtual std::unique_lock<std::mutex> lock() = 0;
  /// @brief Everything that a run does before the launch. It is locked meanwhile.
  /// @return Whether values were copied between host and devices; see mesh::Coherence.
  virtual bool make_ready_for_team() = 0;

  // What follows is known after make_ready_for_team().

  /// @brief How to launch it by itself: flags are OP2_ONE_THREAD, or 0 for a team of n_threads.
  [[nodiscard]] virtual const op2_context_v1& context() const = 0;
  /// @brief Call the launch function, if there is anything to do. Threads of a team call it, too.
  /// @return What it returns.
  virtual int launch(const op2_context_v1& context) = 0;
  /// @brief Say when the launch that is over began, and whether it was one thread's.
  virtual void note_launch(std::int64_t start, bool was_alone) = 0;
  /// @brief Whether a check of the generated code has failed.
  [[nodiscard]] virtual bool has_failed() const = 0;
  /// @throws ExecutionError if has_failed(), or if the launch returned another @p status than 0.
  virtual void check(int status) const = 0;
};

}  // namespace op2::runtime
