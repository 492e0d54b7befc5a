// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "runtime/device.hpp"
#include "runtime/gpu/program.hpp"
#include "runtime/gpu/recording.hpp"

namespace op2::runtime::gpu {

/// @brief Resources of a graph that repeats itself, besides the loops' own.
struct Decider {
  std::shared_ptr<Program> program;  ///< of Vendor::deciding_code
  std::shared_ptr<void> n_done;      ///< on the GPU: a 32-bit number
};

/// @brief A GraphRecording that repeats itself.
class RepeatedRecording final : public GraphRecording {
 public:
  RepeatedRecording(std::shared_ptr<const Context> context, GraphExecHandle handle,
                    std::vector<std::string> loops, GraphHandle origin, Decider decider)
      : GraphRecording(std::move(context), handle, std::move(loops), origin),
        decider_(std::move(decider)) {}
  ~RepeatedRecording() override { destroy(); }
  [[nodiscard]] void* n_done() const { return decider_.n_done.get(); }

 private:
  Decider decider_;
};

/// @brief A Capture of the part repeated by a conditional node.
///
/// The graph around is [decide] -> while { launches -> decide }. The parts are captured in
/// sequence, because nothing can be added to a graph whose capture is under way. Kernels inside do
/// not start early: no documentation says whether such edges are allowed in a repeated graph.
class Repetition final : public Capture {
 public:
  /// @return Empty, or the missing ability of the driver.
  [[nodiscard]] static std::string why_not(const Driver& driver);

  Repetition(std::shared_ptr<const Context> context, Decider decider, RepeatCondition condition)
      : Capture(std::move(context)), decider_(std::move(decider)), condition_(condition) {}
  ~Repetition() override;

  [[nodiscard]] bool begin() override;
  [[nodiscard]] bool start_group(std::span<const std::size_t> /*after*/) override { return false; }
  [[nodiscard]] bool is_next_in_order() override { return false; }
  [[nodiscard]] std::unique_ptr<GraphRecording> end() override;
  /// @brief Why begin() or end() has failed.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  [[nodiscard]] bool is_done(Result result, const char* doing);
  [[nodiscard]] bool capture_into(GraphHandle graph);
  [[nodiscard]] bool end_capture();
  [[nodiscard]] bool decide();
  [[nodiscard]] bool add_node(GraphHandle* body);

  Decider decider_;
  RepeatCondition condition_;
  GraphHandle graph_ = nullptr;
  ConditionalHandle handle_ = 0;
  bool is_capturing_ = false;
  std::string refusal_;
};

}  // namespace op2::runtime::gpu
