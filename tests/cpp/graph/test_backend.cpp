// SPDX-License-Identifier: BSD-3-Clause
#include "graph/backend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace op2::graph {
namespace {

/// An instance of an execution space that writes down what it is asked for.
struct Journal {
  std::vector<std::string> lines;
};

/// What nodes are called in the journal.
struct Name {
  Name() = default;
  explicit Name(IsRoot /*root*/) : name("root") {}
  std::string name{};
};

/// A backend that runs nothing: it calls nodes by their kernels and by the order of adding them.
class LoggingGraph {
 public:
  using Space = std::shared_ptr<Journal>;
  using Kernel = std::string;
  using Details = Name;
  using Ref = NodeRef<LoggingGraph>;
  using Made = NodeOf<LoggingGraph>;

  explicit LoggingGraph(Space space) : space_(std::move(space)) { log("constructed"); }

  std::shared_ptr<Made> create_root_node_ptr() {
    log("create root");
    return std::make_shared<Made>(IsRoot{});
  }
  std::shared_ptr<Made> create_aggregate_ptr(std::span<const Ref> several) {
    auto made = std::make_shared<Made>(IsAggregate{});
    std::string text = "create aggregate of";
    for (const Ref& one : several) text += " " + one.node().details().name;
    log(text);
    return made;
  }
  void add_node(const std::shared_ptr<Made>& node) {
    std::string& name = node->details().name;
    if (node->kernel() != nullptr) {
      name = *node->kernel();
    } else if (name.empty()) {
      name = "all" + std::to_string(++n_aggregates_);
    }
    log("add " + name);
    nodes_.push_back(node);
  }
  void add_predecessor(const std::shared_ptr<Made>& node, const Ref& before) {
    log(before.node().details().name + " -> " + node->details().name);
  }
  void instantiate() { log("instantiate"); }
  void submit(std::int64_t n) {
    log("submit " + std::to_string(n));
    for (const auto& node : nodes_) {
      if (node->kernel() != nullptr) log("run " + *node->kernel());
    }
  }
  [[nodiscard]] const Space& get_execution_space() const { return space_; }

 private:
  void log(std::string line) { space_->lines.push_back(std::move(line)); }

  Space space_;
  int n_aggregates_ = 0;
  std::vector<std::shared_ptr<Made>> nodes_;
};

static_assert(GraphBackend<LoggingGraph>);

struct NoSpace : LoggingGraph {
  NoSpace() = delete;
};
static_assert(!GraphBackend<NoSpace>);  // it is not made of a space
static_assert(!GraphBackend<int>);

// one phase has no members of the other
template <class T>
concept Submits = requires(T& one) {
  one.submit(1);
};
template <class T>
concept Grows = requires(T& one, NodeRef<LoggingGraph> ref) {
  one.then(ref, "k");
};
static_assert(!Submits<Construction<LoggingGraph>> && Grows<Construction<LoggingGraph>>);
static_assert(Submits<LoggingGraph> && !Grows<LoggingGraph>);
static_assert(!std::is_move_constructible_v<NodeOf<LoggingGraph>>);  // kernels stay where they are

using Steps = std::vector<Step<std::string>>;
using Lines = std::vector<std::string>;

class Backend : public ::testing::Test {
 protected:
  std::unique_ptr<LoggingGraph> lowered_of(const Steps& steps) {
    auto graph = lowered<LoggingGraph>(journal, steps);
    check_order();
    return graph;
  }

  /// What the document demands of every sequence of calls.
  void check_order() const {
    const Lines& lines = journal->lines;
    ASSERT_GE(lines.size(), 4U);
    EXPECT_EQ(Lines(lines.begin(), lines.begin() + 3),
              (Lines{"constructed", "create root", "add root"}));
    EXPECT_EQ(std::ranges::count(lines, "create root"), 1);
    EXPECT_EQ(lines.back(), "instantiate");
    std::set<std::string> added;
    std::set<std::string> ordered{"root"};
    for (const std::string& line : lines) {
      if (line.starts_with("add ")) {
        EXPECT_TRUE(added.insert(line.substr(4)).second) << line;
      }
      const std::size_t arrow = line.find(" -> ");
      if (arrow == std::string::npos) continue;
      const std::string before = line.substr(0, arrow);
      const std::string node = line.substr(arrow + 4);
      EXPECT_TRUE(added.contains(before) && added.contains(node)) << line;
      EXPECT_TRUE(ordered.contains(before)) << line;  // the root comes before, by way of others
      ordered.insert(node);
    }
    EXPECT_EQ(ordered, added);
  }

  std::shared_ptr<Journal> journal = std::make_shared<Journal>();
};

TEST_F(Backend, IsToldOfADiamond) {
  lowered_of({{{}, "a"}, {{0}, "b"}, {{0}, "c"}, {{1, 2}, "d"}});
  EXPECT_EQ(journal->lines,
            (Lines{"constructed", "create root", "add root", "add a", "root -> a", "add b",
                   "a -> b", "add c", "a -> c", "create aggregate of b c", "add all1", "b -> all1",
                   "c -> all1", "add d", "all1 -> d", "instantiate"}));
}

TEST_F(Backend, IsToldOfFillsAsOfAllNodes) {
  lowered_of({{{}, "fill x"}, {{}, "fill y"}, {{0, 1}, "loop"}});
  EXPECT_EQ(Lines(journal->lines.begin() + 3, journal->lines.end()),
            (Lines{"add fill x", "root -> fill x", "add fill y", "root -> fill y",
                   "create aggregate of fill x fill y", "add all1", "fill x -> all1",
                   "fill y -> all1", "add loop", "all1 -> loop", "instantiate"}));
}

TEST_F(Backend, IsToldOfAGraphWithinAGraph) {
  const Steps inner = {{{}, "p"}, {{}, "q"}};
  lowered_of({{{}, "a"}, {{0}, inner}, {{1}, "z"}});
  EXPECT_EQ(
      Lines(journal->lines.begin() + 3, journal->lines.end()),
      (Lines{"add a", "root -> a", "add p", "a -> p", "add q", "a -> q", "create aggregate of p q",
             "add all1", "p -> all1", "q -> all1", "add z", "all1 -> z", "instantiate"}));
}

TEST_F(Backend, AGraphWithinAGraphMayBeEmptyOrDeep) {
  const Steps none;
  const Steps deep = {{{}, Steps{{{}, "x"}, {{0}, "y"}}}, {{0}, none}};
  lowered_of({{{}, none}, {{0}, deep}, {{0, 1}, "z"}});
  EXPECT_EQ(Lines(journal->lines.begin() + 3, journal->lines.end()),
            (Lines{"add x", "root -> x", "add y", "x -> y", "create aggregate of root y",
                   "add all1", "root -> all1", "y -> all1", "add z", "all1 -> z", "instantiate"}));
}

TEST_F(Backend, AnEmptyGraphHasARoot) {
  lowered_of({});
  EXPECT_EQ(journal->lines.size(), 4U);
}

TEST_F(Backend, RunsKernelsAtEachSubmitOnItsSpace) {
  const auto graph = lowered_of({{{}, "a"}, {{0}, "b"}});
  EXPECT_EQ(graph->get_execution_space(), journal);
  journal->lines.clear();
  graph->submit(1);
  graph->submit(2);
  EXPECT_EQ(journal->lines, (Lines{"submit 1", "run a", "run b", "submit 2", "run a", "run b"}));
}

TEST_F(Backend, StepsWaitForThoseBeforeThem) {
  EXPECT_THROW((void)lowered<LoggingGraph>(journal, Steps{{{0}, "a"}}), UsageError);
  EXPECT_THROW((void)lowered<LoggingGraph>(journal, Steps{{{}, Steps{{{1}, "a"}, {{}, "b"}}}}),
               UsageError);
}

TEST_F(Backend, RefersToTheSameNodeByACopy) {
  Construction<LoggingGraph> construction(journal);
  const NodeRef<LoggingGraph> a = construction.then(construction.root(), "a");
  const NodeRef<LoggingGraph> copy = a;  // NOLINT: what is tested
  EXPECT_EQ(&copy.node(), &a.node());
  const NodeRef<LoggingGraph> b = construction.then(copy, "b");
  EXPECT_EQ(*b.node().kernel(), "b");
  (void)std::move(construction).instantiate();
  check_order();
}

}  // namespace
}  // namespace op2::graph
