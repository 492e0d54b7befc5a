// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/binding.hpp"

#include <gtest/gtest.h>

namespace op2::runtime {
namespace {

/// Edges of a path over five targets, of which the loop visits all or two.
class BindingTest : public ::testing::Test {
 protected:
  BindingTest() {
    binding.maps = {map};
    binding.paths = {{2, 0}};
    binding.n_elements = 4;
  }

  [[nodiscard]] plan::InverseSpec inverse() {
    return inverse_of(binding, {0}, plan::IncidenceOrder::by_slot, plans, 1);
  }

  std::vector<std::int32_t> entries{0, 1, 1, 2, 2, 3, 3, 4};
  std::vector<std::int32_t> listed{1, 3};
  std::shared_ptr<mesh::MapTable> map =
      std::make_shared<mesh::MapTable>(entries.data(), 4, 4, 2, 5);
  std::shared_ptr<mesh::MapTable> subset =
      std::make_shared<mesh::MapTable>(listed.data(), 4, 2, 1, 4);
  Binding binding;
  plan::PlanCache plans;
};

TEST_F(BindingTest, AMapsOwnEntriesAreItsTargets) {
  EXPECT_EQ(targets_of(binding, 0, plans, 1), map);
  const auto found = occurrences_of(binding, 0, plans, 1);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[1].map, map);
  EXPECT_EQ(found[1].slot, 1);
  EXPECT_EQ(plans.statistics().n_plans, 0);
}

TEST_F(BindingTest, PathsNameSomeEntriesAndAreWrittenDown) {
  binding.paths = {{1, 0, 2, {{1, 0, 0, 0}}}};
  const auto found = occurrences_of(binding, 0, plans, 1);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].slot, 1);
  const plan::MapPointer table = targets_of(binding, 0, plans, 1);
  EXPECT_EQ(table->arity(), 1);
  EXPECT_EQ(table->at(2, 0), 3);
}

TEST_F(BindingTest, SubsetsLookElementsUp) {
  EXPECT_EQ(elements_of(binding).subset, nullptr);
  binding.iteration.subset = true;
  binding.items = {subset};
  binding.n_elements = 2;
  EXPECT_EQ(elements_of(binding).subset, subset);
  EXPECT_EQ(elements_of(binding).n, 2);
}

TEST_F(BindingTest, AnInverseListsTheSlotsOfItsMapsByPosition) {
  const plan::InverseSpec spec = inverse();
  EXPECT_EQ(spec.occurrences.size(), 2);
  EXPECT_EQ(spec.order, plan::IncidenceOrder::by_slot);
  EXPECT_EQ(spec.origin, plan::EntryOrigin::position);
  EXPECT_FALSE(spec.touched_only);
  binding.n_elements = 2;
  EXPECT_TRUE(inverse().touched_only);
}

}  // namespace
}  // namespace op2::runtime
