// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/backend.hpp"
#include "runtime/device.hpp"
#include "runtime/host_sequence.hpp"
#include "runtime/loop_nodes.hpp"
#include "runtime/sequence.hpp"

/// Graphs of loops on the backends: models of graph::GraphBackend.
namespace op2::runtime {

using LoopStep = graph::Step<LoopKernel>;

/// @brief The interface of a backend's graph, for any backend.
class ReadyGraph {
 public:
  ReadyGraph() = default;
  ReadyGraph(const ReadyGraph&) = delete;
  ReadyGraph& operator=(const ReadyGraph&) = delete;
  virtual ~ReadyGraph() = default;

  /// @brief Run everything, @p n times. Loops on a device are enqueued.
  /// @return Whether values were copied between host and devices; see GraphTask::run().
  /// @throws As GraphTask::run(): later tasks have not run then.
  virtual bool submit(std::int64_t n) = 0;
  /// @brief The vendor's object enqueued by the last submit; 0 if loops ran one by one.
  [[nodiscard]] virtual std::uintptr_t native() const = 0;
  /// @brief Take measurements of another process, before the first submit.
  virtual void learn(const std::vector<Measurement>& measured) = 0;
  /// @brief Whether enqueueing as a unit pays; all zero where impossible.
  [[nodiscard]] virtual ReplayTrial trial() const = 0;
  /// @brief Why the last submit enqueued nothing as a unit, and the remedy; see
  /// Sequence::why_not().
  [[nodiscard]] virtual std::string why_not() const { return {}; }
  /// @brief The shared parallel regions; on the host.
  [[nodiscard]] virtual TeamReport report() const { return {}; }
};

/// @brief The common part of graphs of loops on all backends: nodes run in the order of adding, or
/// side by side where no order is given.
template <class Backend, class Where>
class LoopGraph : public ReadyGraph {
 public:
  using Space = Where;
  using Kernel = LoopKernel;
  using Details = LoopNodeDetails;

  explicit LoopGraph(Space space) : space_(std::move(space)) {}
  [[nodiscard]] std::shared_ptr<LoopNode> create_root_node_ptr() {
    return std::make_shared<LoopNode>(graph::IsRoot{});
  }
  [[nodiscard]] std::shared_ptr<LoopNode> create_aggregate_ptr(
      std::span<const graph::NodeRef<Backend>> /*several*/) {
    return std::make_shared<LoopNode>(graph::IsAggregate{});
  }
  void add_node(const std::shared_ptr<LoopNode>& node) { nodes_.add(node); }
  void add_predecessor(const std::shared_ptr<LoopNode>& node,
                       const graph::NodeRef<Backend>& before) {
    nodes_.order(*node, before.node());
  }
  [[nodiscard]] const Space& get_execution_space() const { return space_; }

 protected:
  [[nodiscard]] const LoopNodes& nodes() const { return nodes_; }

 private:
  Space space_;
  LoopNodes nodes_;
};

/// @brief The threads of the process: loops are done when submit() returns.
struct HostSpace {};

/// @brief Loops on the host, in sequence, each with its team of threads or several with a common
/// team.
class HostGraph final : public LoopGraph<HostGraph, HostSpace> {
 public:
  using LoopGraph::LoopGraph;
  void instantiate();
  bool submit(std::int64_t n) override;
  [[nodiscard]] std::uintptr_t native() const override { return 0; }
  void learn(const std::vector<Measurement>& measured) override { sequence_->learn(measured); }
  [[nodiscard]] ReplayTrial trial() const override { return sequence_->trial(); }
  [[nodiscard]] TeamReport report() const override { return sequence_->report(); }

 private:
  std::unique_ptr<HostSequence> sequence_;  // null before instantiate()
};

/// @brief Loops on a device, enqueued in sequence, or as a unit where the device can record them.
class DeviceGraph final : public LoopGraph<DeviceGraph, std::shared_ptr<Device>> {
 public:
  using LoopGraph::LoopGraph;
  /// @throws InternalError if a loop runs elsewhere.
  void instantiate();
  bool submit(std::int64_t n) override;
  [[nodiscard]] std::uintptr_t native() const override;
  void learn(const std::vector<Measurement>& measured) override { sequence_->learn(measured); }
  [[nodiscard]] ReplayTrial trial() const override { return sequence_->trial(); }
  [[nodiscard]] std::string why_not() const override { return sequence_->why_not(); }

 private:
  std::unique_ptr<Sequence> sequence_;  // null before instantiate()
};

/// @brief The graph of some steps on the device or host of their loops.
/// @throws UsageError if a step waits for a later step.
[[nodiscard]] std::unique_ptr<ReadyGraph> ready_graph(const std::vector<LoopStep>& steps);

}  // namespace op2::runtime
