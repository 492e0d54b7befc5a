// SPDX-License-Identifier: BSD-3-Clause
#include "libs/known.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"

namespace op2::libs {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

class NoOperations : public VectorLibrary {
 public:
  explicit NoOperations(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  std::string path_;
};

LibraryTable table_of(const std::string& name, const std::vector<std::string>& files) {
  return {name, files, [](const std::vector<std::string>& tried) -> LibraryPointer {
            if (tried.front() == "none") throw ToolchainError("none\nis there", "", "", "");
            return std::make_shared<const NoOperations>(tried.front());
          }};
}

std::vector<std::string> names_of(const OpenedLibraries& opened) {
  std::vector<std::string> names;
  for (const NamedLibrary& one : opened.libraries) names.push_back(one.name);
  return names;
}

TEST(KnownLibraries, AreThoseOfTheirFilesAndOfLiveObjects) {
  const auto knows = [](const char* name) {
    return std::ranges::count(known_libraries(), name) == 1;
  };
  EXPECT_TRUE(knows("cblas"));
  EXPECT_FALSE(knows("a"));
  {
    const KnownLibrary a(table_of("a", {"liba.so"}));
    EXPECT_TRUE(knows("a"));
    EXPECT_EQ(message_of<UsageError>([] { const KnownLibrary again(table_of("a", {"b"})); }),
              "there is a library 'a' already; pass another name");
    EXPECT_TRUE(knows("a"));
  }
  EXPECT_FALSE(knows("a"));
}

TEST(KnownLibraries, OpenByNameByFileOrAll) {
  const KnownLibrary a(table_of("a", {"liba.so"}));
  const KnownLibrary broken(table_of("broken", {"none"}));
  OpenedLibraries opened = open_libraries("a");
  EXPECT_EQ(names_of(opened), std::vector<std::string>{"a"});
  EXPECT_EQ(opened.libraries[0].library->path(), "liba.so");
  opened = open_libraries("a", {"better.so"});
  EXPECT_EQ(opened.libraries[0].library->path(), "better.so");
  opened = open_libraries("/somewhere/libb.so");
  EXPECT_EQ(opened.libraries[0].library->path(), "/somewhere/libb.so");
  opened = open_libraries("auto");
  EXPECT_EQ(std::ranges::count(names_of(opened), "a"), 1);
  EXPECT_EQ(std::ranges::count(opened.missing, "library 'broken': none"), 1);
  EXPECT_THROW((void)open_libraries("broken"), ToolchainError);
}

TEST(KnownLibraries, AMissingFileListsTheNames) {
  const KnownLibrary broken(table_of("broken", {"none"}));
  const std::string message = message_of<ToolchainError>([] { (void)open_libraries("none"); });
  EXPECT_TRUE(contains(message, "there is no library 'none'", "none\nis there", "broken, cblas"))
      << message;
}

TEST(KnownLibraries, WithoutAnOperationAreNotAsked) {
  const NoOperations library("x");
  EXPECT_EQ(library.veto_dot({}, {}), "operation: the library has no dot");
  EXPECT_EQ(library.veto_axpy({}, {}, {}), "operation: the library has no axpy");
  EXPECT_THROW((void)library.dot({}, {}, true), InternalError);
  EXPECT_THROW(library.axpy({}, {}, {}), InternalError);
}

}  // namespace
}  // namespace op2::libs
