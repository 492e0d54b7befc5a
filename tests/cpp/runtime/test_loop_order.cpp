// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/loop_order.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/prepared_loop.hpp"

namespace op2::runtime {
namespace {

using Order = std::vector<std::vector<std::size_t>>;

class LoopOrder : public ::testing::Test {
 protected:
  struct Use {
    std::shared_ptr<mesh::Buffer> buffer;
    Access access;
  };

  static LoopKernel loop(const std::vector<Use>& uses) {
    auto executable = std::make_shared<exec::Executable>();
    executable->name = "loop";
    Binding binding;
    binding.n_elements = 1;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const bool is_read = uses[i].access == Access::read;
      executable->arguments.push_back(
          {"x", {DType::float64, is_read, true}, true, abi::Role::data, static_cast<int>(i)});
      executable->data.push_back({uses[i].access});
      binding.arguments.push_back(uses[i].buffer);
    }
    return std::make_shared<PreparedLoop>(executable, binding, LaunchOptions{},
                                          std::make_shared<plan::PlanCache>(),
                                          std::make_shared<Timing>());
  }

  static std::shared_ptr<mesh::Buffer> buffer(double* values, std::int64_t n) {
    return std::make_shared<mesh::Buffer>(values, 8 * n);
  }

  std::vector<double> memory = std::vector<double>(8);
  std::shared_ptr<mesh::Buffer> a = buffer(memory.data(), 2);
  std::shared_ptr<mesh::Buffer> b = buffer(memory.data() + 2, 2);
  std::shared_ptr<mesh::Buffer> c = buffer(memory.data() + 4, 2);
};

TEST_F(LoopOrder, LeavesBranchesApart) {
  const std::vector<LoopKernel> loops = {
      loop({{a, Access::write}}), loop({{a, Access::read}, {b, Access::write}}),
      loop({{a, Access::read}, {c, Access::write}}),
      loop({{b, Access::read}, {c, Access::read}, {a, Access::rw}})};
  EXPECT_EQ(order_of(loops, {{}, {0}, {0}, {1, 2}}), (Order{{}, {0}, {0}, {1, 2}}));
  // as much as the values demand, also where the graph says nothing
  EXPECT_EQ(order_of(loops, {{}, {}, {}, {}}), (Order{{}, {0}, {0}, {1, 2}}));
}

TEST_F(LoopOrder, OfAPathIsNone) {
  const std::vector<LoopKernel> loops = {loop({{a, Access::write}}), loop({{a, Access::rw}}),
                                         loop({{a, Access::read}})};
  EXPECT_TRUE(order_of(loops, {{}, {0}, {0, 1}}).empty());
  EXPECT_TRUE(order_of({}, {}).empty());
}

TEST_F(LoopOrder, LetsNoTwoSumsRunAtOnce) {
  const std::vector<LoopKernel> loops = {loop({{a, Access::inc}}), loop({{a, Access::inc}}),
                                         loop({{b, Access::inc}})};
  EXPECT_EQ(order_of(loops, {{}, {}, {}}), (Order{{}, {0}, {}}));
}

TEST_F(LoopOrder, LetsNoLoopRunTwiceAtOnce) {
  const LoopKernel one = loop({{a, Access::read}});
  const LoopKernel other = loop({{a, Access::read}});
  EXPECT_EQ(order_of({one, other, one}, {{}, {}, {}}), (Order{{}, {}, {0}}));
}

TEST_F(LoopOrder, SeesThatValuesOverlap) {
  const auto both = buffer(memory.data() + 1, 2);  // parts of a and of b
  const std::vector<LoopKernel> loops = {loop({{a, Access::write}}), loop({{b, Access::write}}),
                                         loop({{both, Access::read}}), loop({{c, Access::write}})};
  EXPECT_EQ(order_of(loops, {{}, {}, {}, {}}), (Order{{}, {0}, {1}, {}}));
}

TEST_F(LoopOrder, LeavesOutWhatFollowsFromOtherWaits) {
  const std::vector<LoopKernel> loops = {loop({{a, Access::write}}), loop({{a, Access::rw}}),
                                         loop({{b, Access::write}}),
                                         loop({{a, Access::read}, {b, Access::read}})};
  EXPECT_EQ(order_of(loops, {{}, {0}, {}, {0, 1, 2}}), (Order{{}, {0}, {}, {1, 2}}));
}

}  // namespace
}  // namespace op2::runtime
