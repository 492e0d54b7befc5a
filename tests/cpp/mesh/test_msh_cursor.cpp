// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/msh_cursor.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace op2::mesh {
namespace {

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

template <class Action>
std::string failure(const Action& action) {
  try {
    action();
  } catch (const MeshFileError& error) {
    return error.what();
  }
  return "no failure";
}

TEST(MshCursor, ReadsNumbersOfTextOverLines) {
  const std::string text = " 12 +3\n -1.5e-3\r\n\"a name\" rest\nnext";
  MshCursor at(text);
  EXPECT_EQ(at.int32("a number"), 12);
  EXPECT_EQ(at.int64("a number"), 3);
  EXPECT_EQ(at.real("a number"), -1.5e-3);
  at.skip_line();
  EXPECT_EQ(at.quoted("a name"), "a name");
  EXPECT_EQ(at.word(), "next");
  EXPECT_EQ(at.word(), "");
}

TEST(MshCursor, ReadsNumbersOfBytes) {
  std::string bytes(20, '\0');
  const std::int64_t wide = 1LL << 40;
  const double real = 0.25;
  const std::int32_t narrow = -7;
  std::memcpy(bytes.data(), &wide, 8);
  std::memcpy(&bytes[8], &real, 8);
  std::memcpy(&bytes[16], &narrow, 4);
  MshCursor at(bytes);
  at.set_binary(true);
  EXPECT_EQ(at.int64("a number"), wide);
  EXPECT_EQ(at.real("a number"), real);
  EXPECT_EQ(at.int32("a number"), narrow);
  EXPECT_EQ(failure([&] { static_cast<void>(at.int32("a tag")); }),
            "byte 20, in the header: the file ends where a tag is expected");
}

TEST(MshCursor, NamesTheLineOfWhatIsNoNumber) {
  const std::string text = "1\n2 x3\n";
  MshCursor at(text);
  at.enter("$Nodes");
  static_cast<void>(at.int32("a tag"));
  static_cast<void>(at.int32("a tag"));
  EXPECT_EQ(failure([&] { static_cast<void>(at.int32("a tag")); }),
            "line 2, in $Nodes: expected a tag, got 'x3'");
  EXPECT_EQ(failure([&] { static_cast<void>(at.real("a tag")); }),
            "line 3, in $Nodes: the file ends where a tag is expected");
}

TEST(MshCursor, RefusesCountsThatTheFileIsTooShortFor) {
  for (const char* text : {"4 1 2 3", "-1 1 2 3", "9223372036854775807 1"}) {
    const std::string data = text;
    MshCursor at(data);
    EXPECT_PRED2(says, failure([&] { static_cast<void>(at.count("the number of tags", 1)); }),
                 "the number of tags is");
  }
  const std::string data = "3 1 2 3";
  MshCursor at(data);
  EXPECT_EQ(at.count("the number of tags", 1), 3);
}

TEST(MshCursor, NumbersThatDoNotFitAreNoNumbers) {
  const std::string data = "4294967296";
  MshCursor at(data);
  EXPECT_PRED2(says, failure([&] { static_cast<void>(at.int32("a tag")); }), "4294967296");
}

}  // namespace
}  // namespace op2::mesh
