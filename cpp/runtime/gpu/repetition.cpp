// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/repetition.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/error.hpp"

namespace op2::runtime::gpu {
namespace {

/// How the kernel reads a side.
std::uint64_t kind_of(const ComparedNumber& side) {
  if (side.memory == nullptr) return 0;
  switch (side.dtype) {
    case DType::float64:
      return 1;
    case DType::float32:
      return 2;
    case DType::int32:
      return 3;
    case DType::uint32:
      return 4;
    default:
      throw InternalError("a graph repeats itself by numbers of another type");
  }
}

}  // namespace

std::string Repetition::why_not(const Driver& driver) {
  const Vendor& vendor = driver.vendor;
  if (vendor.deciding_code == nullptr) {
    return fmt::format("graphs of {} do not repeat themselves", vendor.platform);
  }
  int version = 0;
  (void)driver.driver_get_version(&version);
  const bool has_all = Capture::is_possible(driver) && driver.graph_create != nullptr &&
                       driver.graph_get_nodes != nullptr && driver.graph_add_node != nullptr &&
                       driver.graph_conditional_handle_create != nullptr &&
                       driver.stream_begin_capture_to_graph != nullptr;
  if (has_all && version >= vendor.repeats_from) return "";
  return fmt::format("the driver is of {} {}; graphs repeat themselves from {} on", vendor.platform,
                     vendor.version(version), vendor.version(vendor.repeats_from));
}

Repetition::~Repetition() {
  if (is_capturing_) (void)end_capture();
  if (graph_ != nullptr) (void)context().driver().graph_destroy(graph_);
}

bool Repetition::is_done(Result result, const char* doing) {
  if (result == success) return true;
  refusal_ =
      fmt::format("the driver does not {} ({})", doing, describe(context().driver(), result));
  return false;
}

bool Repetition::begin() {
  const Driver& driver = context().driver();
  ContextHandle current = nullptr;
  GraphHandle body = nullptr;
  if (!is_done(driver.graph_create(&graph_, 0), "make a graph")) {
    graph_ = nullptr;
    return false;
  }
  return is_done(make_stream(), "make a stream") &&
         is_done(driver.ctx_get_current(&current), "name its context") &&
         is_done(driver.graph_conditional_handle_create(&handle_, graph_, current, 0, 0),
                 "make a condition") &&
         capture_into(graph_) && decide() && end_capture() && add_node(&body) && capture_into(body);
}

bool Repetition::capture_into(GraphHandle graph) {
  is_capturing_ = is_done(context().driver().stream_begin_capture_to_graph(
                              stream(), graph, nullptr, nullptr, 0, capture_relaxed),
                          "record into a graph");
  return is_capturing_;
}

bool Repetition::end_capture() {
  is_capturing_ = false;
  GraphHandle graph = nullptr;  // the one that was captured into
  return is_done(context().driver().stream_end_capture(stream(), &graph), "end a recording");
}

bool Repetition::decide() {
  const auto word = [](const void* memory) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(memory));
  };
  const ComparedNumber& left = condition_.left;
  const ComparedNumber& right = condition_.right;
  const std::uint64_t mode =
      kind_of(left) | kind_of(right) << 4U | std::uint64_t{condition_.or_equal} << 8U;
  std::array<std::uint64_t, 8> values = {handle_,
                                         word(decider_.n_done.get()),
                                         word(left.memory),
                                         word(right.memory),
                                         std::bit_cast<std::uint64_t>(left.value),
                                         std::bit_cast<std::uint64_t>(right.value),
                                         mode,
                                         static_cast<std::uint64_t>(condition_.most)};
  std::array<void*, 8> parameters{};
  for (std::size_t i = 0; i < values.size(); ++i) parameters[i] = &values[i];
  const auto& kernel = static_cast<const Kernel&>(decider_.program->kernel("op2_decide"));
  return is_done(context().driver().launch_kernel(kernel.function(), 1, 1, 1, 1, 1, 1, 0, stream(),
                                                  parameters.data(), nullptr),
                 "record who asks the condition");
}

/// Behind the one node that there is.
bool Repetition::add_node(GraphHandle* body) {
  const Driver& driver = context().driver();
  GraphNodeHandle first = nullptr;
  std::size_t n = 1;
  ConditionalNode node;
  node.handle = handle_;
  GraphNodeHandle added = nullptr;
  if (!is_done(driver.ctx_get_current(&node.context), "name its context") ||
      !is_done(driver.graph_get_nodes(graph_, &first, &n), "name a node") ||
      !is_done(driver.graph_add_node(&added, graph_, &first, nullptr, 1, &node),
               "add a node that repeats")) {
    return false;
  }
  if (n != 1 || node.graphs == nullptr) {
    refusal_ = "the driver's graph is not what was recorded";
    return false;
  }
  *body = node.graphs[0];
  return true;
}

std::unique_ptr<GraphRecording> Repetition::end() {
  GraphExecHandle made = nullptr;
  if (!is_capturing_ || !decide() || !end_capture() ||
      !is_done(context().driver().graph_instantiate(&made, graph_, 0), "take the graph")) {
    return nullptr;
  }
  return std::make_unique<RepeatedRecording>(shared_context(), made, take_loops(),
                                             std::exchange(graph_, nullptr), std::move(decider_));
}

}  // namespace op2::runtime::gpu
