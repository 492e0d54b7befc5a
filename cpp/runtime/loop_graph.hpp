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

/// Graphs of loops on the backends: what models graph::GraphBackend.
namespace op2::runtime {

using LoopStep = graph::Step<LoopKernel>;

/// @brief What a backend's graph does, whichever it is.
class ReadyGraph {
 public:
  ReadyGraph() = default;
  ReadyGraph(const ReadyGraph&) = delete;
  ReadyGraph& operator=(const ReadyGraph&) = delete;
  virtual ~ReadyGraph() = default;

  /// @brief Run everything, @p n times. Enqueues it where loops run on a device.
  /// @return Whether values were copied between host and devices; see GraphTask::run().
  /// @throws As GraphTask::run(): what comes behind has not run then.
  virtual bool submit(std::int64_t n) = 0;
  /// @brief The vendor's object that the last submit enqueued; 0 if loops ran one by one.
  [[nodiscard]] virtual std::uintptr_t native() const = 0;
  /// @brief Whether it pays to enqueue it as one; all zero where that cannot be done.
  [[nodiscard]] virtual ReplayTrial trial() const = 0;
  /// @brief Why the last submit enqueued nothing as one, and what to do; see Sequence::why_not().
  [[nodiscard]] virtual std::string why_not() const { return {}; }
  /// @brief What shares parallel regions; on the host.
  [[nodiscard]] virtual TeamReport report() const { return {}; }
};

/// @brief What graphs of loops have in common on all backends: nodes that run in the order in which
/// they were added, or side by side where that orders none.
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

/// @brief The threads of this process: loops are done when submit() returns.
struct HostSpace {};

/// @brief Loops on the host, one after the other, each with its team of threads or several with
/// one.
class HostGraph final : public LoopGraph<HostGraph, HostSpace> {
 public:
  using LoopGraph::LoopGraph;
  void instantiate();
  bool submit(std::int64_t n) override;
  [[nodiscard]] std::uintptr_t native() const override { return 0; }
  [[nodiscard]] ReplayTrial trial() const override { return sequence_->trial(); }
  [[nodiscard]] TeamReport report() const override { return sequence_->report(); }

 private:
  std::unique_ptr<HostSequence> sequence_;  // null before instantiate()
};

/// @brief Loops on a device, enqueued one after the other, or as one where it can record them.
class DeviceGraph final : public LoopGraph<DeviceGraph, std::shared_ptr<Device>> {
 public:
  using LoopGraph::LoopGraph;
  /// @throws InternalError if a loop runs elsewhere.
  void instantiate();
  bool submit(std::int64_t n) override;
  [[nodiscard]] std::uintptr_t native() const override;
  [[nodiscard]] ReplayTrial trial() const override { return sequence_->trial(); }
  [[nodiscard]] std::string why_not() const override { return sequence_->why_not(); }

 private:
  std::unique_ptr<Sequence> sequence_;  // null before instantiate()
};

/// @brief The graph of some steps where their loops run.
/// @throws UsageError if a step waits for one that is not before it.
[[nodiscard]] std::unique_ptr<ReadyGraph> ready_graph(const std::vector<LoopStep>& steps);

}  // namespace op2::runtime
