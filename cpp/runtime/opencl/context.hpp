// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/opencl/api.hpp"

namespace op2::runtime::opencl {

/// @brief A context of one device, for compiling and running programs.
///
/// Programs already built from their texts, to see whether the driver accepts them, need not be
/// built once more to run. Safe to use from several threads at the same time.
class DeviceContext {
 public:
  /// @throws ExecutionError
  DeviceContext(std::shared_ptr<const Api> api, const FoundDevice& device);

  [[nodiscard]] Context get() const { return context_.get(); }

  /// @brief Keep a program for the next load of @p bytes; of programs that nobody loads, as after
  /// `pyop2cxx generate`, only the last few.
  void keep(std::string bytes, Owned<ProgramId> program);

  /// @brief The program kept for @p bytes, moved to the caller; empty if there is none.
  [[nodiscard]] Owned<ProgramId> take(const std::string& bytes);

 private:
  std::shared_ptr<const Api> api_;
  Owned<Context> context_;
  std::mutex mutex_;
  std::deque<std::pair<std::string, Owned<ProgramId>>> built_;
};

/// @brief The context of a device: shared by all simultaneous users.
/// @throws ExecutionError
[[nodiscard]] std::shared_ptr<DeviceContext> context_of(const std::shared_ptr<const Api>& api,
                                                        const FoundDevice& device);

}  // namespace op2::runtime::opencl
