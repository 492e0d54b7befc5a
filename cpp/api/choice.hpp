// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/loops.hpp"
#include "api/tuned.hpp"
#include "base/tuning.hpp"
#include "exec/executable.hpp"
#include "runtime/device.hpp"

namespace op2::api {

/// @brief The backend and device of a loop.
struct Target {
  std::string backend;
  const runtime::DeviceInfo* info = nullptr;  ///< null: the host
  std::shared_ptr<const Tuned> tuned = {};    ///< measured choices; null: none
};

/// @brief Code for a loop, with its runner, without the launch on a device.
struct Chosen {
  const CompiledLoop* compiled;
  std::shared_ptr<exec::Executable> executable;
  std::vector<std::string> rejected = {};  ///< why earlier code does not suit the mesh
  std::string measured = {};               ///< the measurement that chose the code; empty: none
};

/// @brief The first code that suits the mesh; if none does, the last, with the fewest assumptions.
/// Code of the measured fastest way comes first.
/// @throws UnsupportedError if there is none for the backend or the device.
[[nodiscard]] Chosen chosen(const LoopText& text, const Target& target, const Arguments& objects,
                            const Visited& visited);

/// @brief Whether all current entries of a Map differ.
[[nodiscard]] bool leads_nowhere_twice(const MapState& map);

/// @brief The numbers that steer a loop's launches.
[[nodiscard]] Tuning tuning_of(const CompiledLoop& compiled);

/// @brief Bytes that a call must move: each Dat and Map entry once, values added to both ways.
[[nodiscard]] std::int64_t useful_bytes(const Arguments& objects, const Visited& visited,
                                        const exec::Executable& executable);

}  // namespace op2::api
