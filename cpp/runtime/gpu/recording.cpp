// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/recording.hpp"

#include <algorithm>
#include <utility>

namespace op2::runtime::gpu {

GraphRecording::~GraphRecording() {
  destroy();
}

void GraphRecording::destroy() {
  const GraphExecHandle handle = std::exchange(handle_, nullptr);
  const GraphHandle origin = std::exchange(origin_, nullptr);
  if (context_->is_inherited()) return;
  if (handle != nullptr) (void)context_->driver().graph_exec_destroy(handle);
  if (origin != nullptr) (void)context_->driver().graph_destroy(origin);
}

std::uintptr_t GraphRecording::native() const {
  return reinterpret_cast<std::uintptr_t>(handle_);
}

bool Capture::is_possible(const Driver& driver) {
  return driver.stream_begin_capture != nullptr && driver.stream_end_capture != nullptr &&
         driver.graph_instantiate != nullptr && driver.graph_launch != nullptr &&
         driver.graph_destroy != nullptr && driver.graph_exec_destroy != nullptr;
}

Capture::~Capture() {
  if (stream_ != nullptr) (void)context_->driver().stream_destroy(stream_);
}

Result Capture::make_stream() {
  // what others enqueue on the legacy default stream meanwhile is not to be ordered with it
  const Result made = context_->driver().stream_create(&stream_, stream_non_blocking);
  if (made != success) stream_ = nullptr;
  return made;
}

bool Capture::begin() {
  // relaxed: other threads, and copies of this one, go on as ever
  return make_stream() == success &&
         context_->driver().stream_begin_capture(stream_, capture_relaxed) == success;
}

void Capture::note(const std::string& loop) {
  if (std::ranges::find(loops_, loop) == loops_.end()) loops_.push_back(loop);
}

bool Capture::start_group(std::span<const std::size_t> after) {
  const Driver& driver = context_->driver();
  if (driver.stream_get_capture_info == nullptr ||
      driver.stream_update_capture_dependencies == nullptr) {
    return false;
  }
  int status = 0;
  std::uint64_t id = 0;
  GraphHandle graph = nullptr;
  const GraphNodeHandle* found = nullptr;
  std::size_t n_found = 0;
  if (driver.stream_get_capture_info(stream_, &status, &id, &graph, &found, &n_found) != success) {
    return false;
  }
  const std::vector<GraphNodeHandle> now(found, found + n_found);
  if (has_group_) ends_.push_back(now);
  has_group_ = true;
  std::vector<GraphNodeHandle> wanted;
  for (const std::size_t before : after) {
    for (const GraphNodeHandle node : ends_.at(before)) {
      if (std::ranges::find(wanted, node) == wanted.end()) wanted.push_back(node);
    }
  }
  if (std::ranges::is_permutation(wanted, now)) return true;
  next_waits_ = true;
  return driver.stream_update_capture_dependencies(stream_, wanted.data(), wanted.size(),
                                                   set_capture_dependencies) == success;
}

std::unique_ptr<GraphRecording> Capture::end() {
  const Driver& driver = context_->driver();
  GraphHandle graph = nullptr;
  const Result ended = driver.stream_end_capture(stream_, &graph);
  if (ended != success || graph == nullptr) return nullptr;
  GraphExecHandle made = nullptr;
  const Result instantiated = driver.graph_instantiate(&made, graph, 0);
  (void)driver.graph_destroy(graph);
  if (instantiated != success) return nullptr;
  return std::make_unique<GraphRecording>(context_, made, std::move(loops_));
}

}  // namespace op2::runtime::gpu
