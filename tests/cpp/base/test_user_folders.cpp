// SPDX-License-Identifier: BSD-3-Clause
#include "base/user_folders.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace op2 {
namespace {

namespace fs = std::filesystem;

class UserFolders : public ::testing::Test {
 protected:
  UserFolders() {
    std::string pattern = (fs::temp_directory_path() / "op2-home-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    std::ofstream(root_ / "file") << "";
    fs::create_directory(root_ / "home");
    set("HOME", (root_ / "home").string());
    set("TMPDIR", root_.string());
    for (const char* name : {"XDG_CACHE_HOME", "PYOP2CXX_CACHE_DIR", "OP2_TEST_CACHE"}) {
      set(name, std::nullopt);
    }
  }
  ~UserFolders() override {
    for (const auto& [name, value] : before_) apply(name, value);
    fs::remove_all(root_);
  }
  void set(const std::string& name, const std::optional<std::string>& value) {
    const char* old = ::getenv(name.c_str());
    before_.emplace(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    apply(name, value);
  }
  static std::string placed(const fs::path& usual) {
    place_cache("OP2_TEST_CACHE", usual);
    return environment("OP2_TEST_CACHE");
  }
  std::string private_place() const {
    return (root_ / ("pyop2cxx-driver-" + std::to_string(::geteuid()))).string();
  }

  fs::path root_;

 private:
  static void apply(const std::string& name, const std::optional<std::string>& value) {
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(UserFolders, AreThoseOfTheEnvironment) {
  EXPECT_EQ(home_directory(), (root_ / "home").string());
  EXPECT_EQ(caches_of_user(), (root_ / "home" / ".cache").string());
  set("XDG_CACHE_HOME", "relative/is/ignored");
  EXPECT_EQ(caches_of_user(), (root_ / "home" / ".cache").string());
  set("XDG_CACHE_HOME", (root_ / "xdg").string());
  EXPECT_EQ(caches_of_user(), (root_ / "xdg").string());
}

TEST_F(UserFolders, AHomeThatIsNotThereStaysAway) {
  EXPECT_FALSE(lacks_home(root_ / "home" / ".cache" / "x"));
  set("HOME", (root_ / "none").string());
  EXPECT_TRUE(lacks_home(root_ / "none" / ".cache" / "x"));
  EXPECT_TRUE(lacks_home(root_ / "none"));
  EXPECT_FALSE(lacks_home(root_ / "none2" / ".cache"));
  EXPECT_FALSE(lacks_home(root_ / "elsewhere"));
  EXPECT_EQ(placed(root_ / "none" / ".cache" / "driver"), private_place());
  EXPECT_FALSE(fs::exists(root_ / "none"));
}

TEST_F(UserFolders, CachesStayWhereTheyCanBe) {
  EXPECT_EQ(placed(root_ / "home" / ".cache" / "driver"), "");
  set("OP2_TEST_CACHE", "the user's");
  EXPECT_EQ(placed(root_ / "file" / "driver"), "the user's");
}

TEST_F(UserFolders, CachesGoWhereTheyCanBe) {
  EXPECT_EQ(placed(root_ / "file" / "driver"), private_place());
  struct stat status {};
  ASSERT_EQ(::stat(private_place().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(UserFolders, OurOwnCacheComesFirst) {
  set("PYOP2CXX_CACHE_DIR", (root_ / "own").string());
  EXPECT_EQ(placed("/dev/null/x/driver"), (root_ / "own" / "driver").string());
}

TEST_F(UserFolders, WhatOthersMayWriteIsNotTaken) {
  fs::create_directory(private_place());
  fs::permissions(private_place(), fs::perms::all);
  EXPECT_NE(placed(root_ / "file" / "driver"), private_place());
}

}  // namespace
}  // namespace op2
