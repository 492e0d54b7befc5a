// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/loop_graph.hpp"

#include <utility>
#include <variant>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "runtime/loop_order.hpp"

namespace op2::runtime {

static_assert(graph::GraphBackend<HostGraph>);
static_assert(graph::GraphBackend<DeviceGraph>);

// HostGraph

void HostGraph::instantiate() {
  sequence_ = std::make_unique<HostSequence>(nodes().in_order());
}

bool HostGraph::submit(std::int64_t n) {
  return sequence_->run(n);
}

// DeviceGraph

void DeviceGraph::instantiate() {
  std::vector<LoopKernel> loops = nodes().in_order();
  for (const LoopKernel& loop : loops) {
    if (loop->device() != get_execution_space())
      throw InternalError("a graph's loop runs elsewhere");
  }
  std::vector<std::vector<std::size_t>> order = order_of(loops, nodes().waits());
  sequence_ = std::make_unique<Sequence>(std::move(loops), std::move(order));
}

bool DeviceGraph::submit(std::int64_t n) {
  return sequence_->run(n);
}

std::uintptr_t DeviceGraph::native() const {
  return sequence_->native();
}

// Both

namespace {

const GraphTask* first_loop(const std::vector<LoopStep>& steps) {
  for (const LoopStep& step : steps) {
    const GraphTask* found =
        std::visit(overload{[](const LoopKernel& loop) -> const GraphTask* { return loop.get(); },
                            [](const std::vector<LoopStep>& inner) { return first_loop(inner); }},
                   step.what);
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<ReadyGraph> ready_graph(const std::vector<LoopStep>& steps) {
  const GraphTask* first = first_loop(steps);
  const std::shared_ptr<Device> device = first == nullptr ? nullptr : first->device();
  if (device == nullptr) return graph::lowered<HostGraph>(HostSpace{}, steps);
  return graph::lowered<DeviceGraph>(device, steps);
}

}  // namespace op2::runtime
