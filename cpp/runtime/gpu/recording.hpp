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
  /// @param[in] loops Whose launches it is made of, each once.
  /// @param[in] origin The graph that was instantiated, if it has to live as long; it is owned.
  GraphRecording(std::shared_ptr<const Context> context, GraphExecHandle handle,
                 std::vector<std::string> loops, GraphHandle origin = nullptr)
      : context_(std::move(context)), handle_(handle), origin_(origin), loops_(std::move(loops)) {}
  /// Never throws: the driver may have shut down before.
  ~GraphRecording() override;

  [[nodiscard]] std::uintptr_t native() const override;
  [[nodiscard]] GraphExecHandle handle() const { return handle_; }
  /// @brief Whose launches it is made of, each once.
  [[nodiscard]] const std::vector<std::string>& loops() const { return loops_; }

 protected:
  /// @brief Give the driver's objects back, before what they use goes.
  void destroy();

 private:
  std::shared_ptr<const Context> context_;
  GraphExecHandle handle_;
  GraphHandle origin_;
  std::vector<std::string> loops_;
};

/// @brief A stream of its own that keeps what is launched there.
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
  /// @brief What is launched from now on waits for some of the groups before it only.
  /// @return Whether the driver can do that.
  [[nodiscard]] virtual bool start_group(std::span<const std::size_t> after);
  /// @brief What comes next waits for a command that is no launch.
  void note_command() { next_waits_ = true; }
  /// @brief Whether the next launch comes behind the one before it and nothing else, so that it may
  /// start while that ends. Asked once a launch.
  [[nodiscard]] virtual bool is_next_in_order() { return !std::exchange(next_waits_, false); }
  /// @return Null if the driver refuses something of it.
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
  std::vector<std::vector<GraphNodeHandle>> ends_;  // of each group, what waits for it waits for
  bool has_group_ = false;                          // one that has not ended
  bool next_waits_ = false;                         // for more than the launch before it
};

}  // namespace op2::runtime::gpu
