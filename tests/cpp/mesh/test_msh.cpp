// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/msh.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace op2::mesh {
namespace {

using Ints = std::vector<std::int32_t>;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string new_text = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$Comments
anything 1 2 3
$EndComments
$PhysicalNames
2
1 3 "the floor"
2 5 "plate"
$EndPhysicalNames
$Entities
1 1 1 0
7 0 0 0 0
1 0 0 0 1 0 0 1 -3 0
1 0 0 0 1 1 0 2 5 6 0
$EndEntities
$Nodes
2 4 10 40
0 7 0 1
40
0 0 0
2 1 1 3
10
20
30
1 0 0 0.5 0.5
1 1 0 0.5 0.5
0 1 0 0.5 0.5
$EndNodes
$Elements
3 4 1 4
0 7 15 1
1 40
1 1 1 1
2 40 10
2 1 2 2
3 40 10 20
4 40 20 30
$EndElements
)";

const std::string old_text = R"($MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
9000000 0 1 0
$EndNodes
$Elements
4
1 15 2 0 1 1
2 1 2 3 1 1 2
3 2 2 5 1 1 2 3
4 2 3 -6 1 0 1 3 9000000
$EndElements
)";

std::string with(std::string text, std::string_view before, std::string_view after) {
  return text.replace(text.find(before), before.size(), after);
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read_msh(text));
  } catch (const MeshFileError& error) {
    return error.what();
  }
  return "no failure";
}

TEST(Msh, ReadsVersion41) {
  EXPECT_TRUE(is_readable_msh(new_text));
  const MshMesh mesh = read_msh(new_text);
  EXPECT_EQ(mesh.points, (std::vector<double>{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}));
  ASSERT_EQ(mesh.blocks.size(), 3U);
  EXPECT_EQ(mesh.blocks[0].kind, "vertex");
  EXPECT_TRUE(mesh.blocks[0].groups.empty());
  EXPECT_EQ(mesh.blocks[1].kind, "line");
  EXPECT_EQ(mesh.blocks[1].nodes, (Ints{0, 1}));
  EXPECT_EQ(mesh.blocks[1].groups, (Ints{3}));
  EXPECT_EQ(mesh.blocks[2].kind, "triangle");
  EXPECT_EQ(mesh.blocks[2].n_nodes, 3);
  EXPECT_EQ(mesh.blocks[2].nodes, (Ints{0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(mesh.blocks[2].groups, (Ints{5, 6}));
  ASSERT_EQ(mesh.names.size(), 2U);
  EXPECT_EQ(mesh.names[0].name, "the floor");
  EXPECT_EQ(mesh.names[0].dim, 1);
  EXPECT_EQ(mesh.names[0].group, 3);
}

TEST(Msh, ReadsVersion22WithTagsFarApart) {
  const MshMesh mesh = read_msh(old_text);
  ASSERT_EQ(mesh.blocks.size(), 3U);
  EXPECT_EQ(mesh.blocks[2].kind, "triangle");
  EXPECT_EQ(mesh.blocks[2].nodes, (Ints{0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(mesh.blocks[2].group_of, (Ints{5, 6}));
  EXPECT_EQ(mesh.blocks[0].group_of, (Ints{0}));
}

TEST(Msh, ReadsWhatIsPeriodicWhereItIsAsked) {
  const std::string new_links = new_text + "$Periodic\n2\n0 1 2\n0\n1\n20 10\n1 1 2\n" +
                                "2 0.5 1\n2\n20 10\n30 40\n$EndPeriodic\n";
  const MshMesh mesh = read_msh(new_links, true);
  ASSERT_EQ(mesh.links.size(), 2U);
  EXPECT_EQ(mesh.links[0].dim, 0);
  EXPECT_EQ(mesh.links[0].nodes, (Ints{2, 1}));
  EXPECT_EQ(mesh.links[1].dim, 1);
  EXPECT_EQ(mesh.links[1].nodes, (Ints{2, 1, 3, 0}));
  EXPECT_TRUE(read_msh(new_links).links.empty());
  const std::string old_links = old_text + "$Periodic\n2\n1 1 2\nAffine 1 0 0 1\n1\n3 9000000\n" +
                                "0 1 2\n1\n2 1\n$EndPeriodic\n";
  const MshMesh old_mesh = read_msh(old_links, true);
  ASSERT_EQ(old_mesh.links.size(), 2U);
  EXPECT_EQ(old_mesh.links[0].nodes, (Ints{2, 3}));
  EXPECT_EQ(old_mesh.links[1].nodes, (Ints{1, 0}));
  EXPECT_THROW(static_cast<void>(read_msh(with(old_links, "3 9000000\n0", "3 7\n0"), true)),
               MeshFileError);
}

TEST(Msh, OtherFormatsAreNotReadable) {
  for (const char* version : {"4.0 0 8", "4.1 0 4", "1.0 0 8", "4.1 2 8", "2 0 8"}) {
    EXPECT_FALSE(is_readable_msh(with(new_text, "4.1 0 8", version))) << version;
  }
  EXPECT_FALSE(is_readable_msh(std::string("$NOD\n1\n")));
  EXPECT_FALSE(is_readable_msh(with(new_text, "$Comments", "$PartitionedEntities")));
  EXPECT_FALSE(is_readable_msh(std::string("$MeshFormat\n4.1 1 8\n\0\0\0\1", 24)));
  EXPECT_PRED2(has, refusal("$NOD\n1\n"), "expected $MeshFormat");
}

TEST(Msh, EveryCutIsAFailureThatNamesALine) {
  for (const std::string& whole : {new_text, old_text}) {
    const std::size_t end = whole.rfind("$EndElements") + 12;
    for (std::size_t length = 0; length < end; ++length) {
      EXPECT_PRED2(has, refusal(whole.substr(0, length)), "line ") << length;
    }
  }
}

TEST(Msh, SaysWhatCannotBe) {
  EXPECT_EQ(refusal(with(new_text, "4 40 20 30", "4 40 20 31")),
            "line 39, in $Elements: element 4 names node 31, which $Nodes does not list");
  EXPECT_EQ(refusal(with(new_text, "10\n20\n30", "10\n20\n10")),
            "line 29, in $Nodes: node 10 is there twice");
  EXPECT_EQ(refusal(with(old_text, "9000000 0 1 0", "2 0 1 0")),
            "line 9, in $Nodes: node 2 is there twice");
  EXPECT_PRED2(has, refusal(with(new_text, "2 4 10 40", "2 5 10 40")), "5 nodes are promised");
  EXPECT_PRED2(has, refusal(with(new_text, "3 4 1 4", "3 5 1 4")), "5 elements are promised");
  EXPECT_PRED2(has, refusal(with(new_text, "2 1 2 2\n", "2 1 99 2\n")), "of type 99");
  EXPECT_PRED2(has, refusal(with(new_text, "2 1 2 2\n", "2 1 2 200000000000\n")),
               "the number of elements of a block is 200000000000, but only");
  EXPECT_PRED2(has, refusal(with(new_text, "1 1 0 0.5", "1 one 0 0.5")),
               "line 28, in $Nodes: expected a coordinate of a node, got 'one'");
  EXPECT_PRED2(has, refusal(with(new_text, "$EndNodes", "$EndNode")), "expected $EndNodes");
  EXPECT_PRED2(has, refusal(with(new_text, "$EndComments", "")), "in $Comments: the section");
  EXPECT_PRED2(has, refusal(with(new_text, "\"plate\"", "plate")), "double quotes");
  EXPECT_PRED2(has, refusal(new_text.substr(0, new_text.find("$Nodes"))), "no section $Nodes");
  EXPECT_PRED2(has, refusal(with(old_text, "1 15 2 0", "1 15 -2 0")), "with -2 tags each");
  EXPECT_PRED2(has, refusal(with(old_text, "1 15 2 0", "1 15 1 -2147483648")), "no group");
}

}  // namespace
}  // namespace op2::mesh
