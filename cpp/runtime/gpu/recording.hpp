// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/gpu/context.hpp"
#include "runtime/gpu/driver.hpp"

namespace op2::runtime::gpu {

/// @brief An instantiated graph of the driver.
class GraphRecording : public Recording {
 public:
  /// @param[in] loops The loops of the launches, each once.
  /// @param[in] origin The instantiated graph, if needed as long; owned.
  GraphRecording(std::shared_ptr<const Context> context, GraphExecHandle handle,
                 std::vector<std::string> loops, GraphHandle origin = nullptr)
      : context_(std::move(context)), handle_(handle), origin_(origin), loops_(std::move(loops)) {}
  /// Never throws: the driver may have shut down before.
  ~GraphRecording() override;

  [[nodiscard]] std::uintptr_t native() const override;
  [[nodiscard]] GraphExecHandle handle() const { return handle_; }
  /// @brief The loops of the launches, each once.
  [[nodiscard]] const std::vector<std::string>& loops() const { return loops_; }

 protected:
  /// @brief Give the driver's objects back, before the objects they use go.
  void destroy();

 private:
  std::shared_ptr<const Context> context_;
  GraphExecHandle handle_;
  GraphHandle origin_;
  std::vector<std::string> loops_;
};

/// @brief A separate stream that keeps its launches.
///
/// The context must be current in all calls, and in the destructor.
class Capture {
 public:
  [[nodiscard]] static bool is_possible(const Driver& driver);

  explicit Capture(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  virtual ~Capture();

  [[nodiscard]] virtual bool begin();
  [[nodiscard]] StreamHandle stream() const { return stream_; }
  void note(const std::string& loop);
  /// @brief Let later launches wait for some of the groups before only.
  /// @return Whether the driver supports groups.
  [[nodiscard]] virtual bool start_group(std::span<const std::size_t> after);
  /// @brief Let the next launch wait for a command other than a launch.
  void note_command() { next_waits_ = true; }
  /// @brief Whether the next launch only follows the launch before, and so may start while that
  /// launch ends. Asked once a launch.
  [[nodiscard]] virtual bool is_next_in_order() { return !std::exchange(next_waits_, false); }
  /// @return Null if the driver refuses a part.
  [[nodiscard]] virtual std::unique_ptr<GraphRecording> end();

 protected:
  [[nodiscard]] Result make_stream();
  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] const std::shared_ptr<const Context>& shared_context() const { return context_; }
  [[nodiscard]] std::vector<std::string> take_loops() { return std::move(loops_); }

 private:
  std::shared_ptr<const Context> context_;
  StreamHandle stream_ = nullptr;
  std::vector<std::string> loops_;
  std::vector<std::vector<GraphNodeHandle>> ends_;  // for each group, the nodes to wait for
  bool has_group_ = false;                          // a group has not ended
  bool next_waits_ = false;                         // for more than the launch before
};

}  // namespace op2::runtime::gpu
