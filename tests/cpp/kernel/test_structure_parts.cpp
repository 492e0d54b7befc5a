// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/structure_parts.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ast.hpp"

namespace op2::kernel::structures {
namespace {

using namespace ast;

Type of_tag(const std::string& tag) {
  Type type = scalar(Base::structure);
  type.tag = tag;
  return type;
}

/// `struct V { char c; double x[2]; }; struct W { struct V v; float f; const int *p; };`
KernelBody nested() {
  KernelBody body;
  body.structures.push_back(
      {.name = "V",
       .members = {{"c", scalar(Base::int8), 0}, {"x", array(number(), 2), 0}},
       .line = 0});
  body.structures.push_back({.name = "W",
                             .members = {{"v", of_tag("V"), 0},
                                         {"f", scalar(Base::float32), 0},
                                         {"p", pointer_to(whole()), 0}},
                             .line = 0});
  return body;
}

TEST(StructureParts, AreTheMembersThatAreNoStructures) {
  const KernelBody body = nested();
  const std::vector<Part> parts = Parts(body).of(array(of_tag("W"), 3));
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0].path, (Path{"v", "c"}));
  EXPECT_EQ(parts[1].path, (Path{"v", "x"}));
  EXPECT_EQ(parts[1].type, array(array(number(), 2), 3));
  EXPECT_EQ(parts[3].type, array(pointer_to(whole()), 3));
}

TEST(StructureParts, OfWhatIsConstAreConst) {
  const KernelBody body = nested();
  Type type = of_tag("W");
  type.is_const = true;
  const std::vector<Part> parts = Parts(body).of(type);
  EXPECT_TRUE(parts[2].type.is_const);
  EXPECT_FALSE(parts[3].type.is_const);  // the pointer is, not what it points to
  EXPECT_TRUE(parts[3].type.derivation.front().is_const);
}

TEST(StructureParts, LieAsOnEveryHost) {
  const KernelBody body = nested();
  const Parts parts(body);
  EXPECT_EQ(parts.n_bytes(of_tag("V")), 24);
  EXPECT_EQ(parts.n_bytes(of_tag("W")), 40);
  EXPECT_EQ(parts.n_bytes(array(of_tag("W"), 2)), 80);
  EXPECT_EQ(parts.n_bytes(pointer_to(of_tag("W"))), 8);
}

TEST(StructureParts, HaveNamesThatAreNotTaken) {
  PartNames names(kernel_with({declare("v_x", number())}));
  EXPECT_EQ(names.of("v", {"x"}), "v_x_");
  EXPECT_EQ(names.of("v", {"x"}), "v_x_");
  EXPECT_EQ(names.of("v", {"y"}), "v_y");
  EXPECT_EQ(names.take("x"), "x_");
}

TEST(StructureParts, SayWhereTheyCannotBeTold) {
  try {
    at_line(4, [] { at_line(3, [] { throw Whole{"why"}; }); });
    FAIL();
  } catch (const Whole& whole) {
    EXPECT_EQ(whole.line, 3);
  }
}

}  // namespace
}  // namespace op2::kernel::structures
