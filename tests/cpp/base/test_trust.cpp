// SPDX-License-Identifier: BSD-3-Clause
#include "base/trust.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/message_of.hpp"

namespace op2 {
namespace {

namespace fs = std::filesystem;

using testing::contains;

/// A folder that nobody else may write to, in one that everyone may enter.
class TrustOf : public ::testing::Test {
 protected:
  TrustOf() {
    std::string pattern = (fs::temp_directory_path() / "op2-trust-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    outer_ = pattern;
    folder_ = outer_ + "/lib";
    EXPECT_EQ(::mkdir(folder_.c_str(), 0755), 0);
    EXPECT_EQ(::chmod(folder_.c_str(), 0755), 0);
  }
  ~TrustOf() override {
    std::error_code ignored;
    fs::remove_all(outer_, ignored);
  }

  std::string outer_;
  std::string folder_;
};

TEST_F(TrustOf, WhatOnlyTheUserMayWriteIsFine) {
  EXPECT_EQ(why_untrusted(folder_, "the folder", Trust::own), "");
  EXPECT_EQ(why_untrusted(folder_, "the folder", Trust::provided), "");
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_EQ(why_untrusted(folder_ + "/file", "the file", Trust::provided), "");
}

TEST_F(TrustOf, WhatEveryoneMayWriteIsRefusedWithTheRemedy) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0757), 0);
  for (const Trust trust : {Trust::own, Trust::provided}) {
    EXPECT_TRUE(contains(
        why_untrusted(folder_, "the folder", trust), "others may write to the folder " + folder_,
        "of user " + std::to_string(::geteuid()), "(mode 757)", "'chmod go-w " + folder_ + "'"));
  }
}

TEST_F(TrustOf, AGroupMayWriteToWhatIsProvidedOnlyIfItIsPrivate) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0775), 0);
  EXPECT_TRUE(contains(why_untrusted(folder_, "the cache", Trust::own), "others may write"));
  constexpr gid_t of_others = 1;  // "daemon" on all systems with a group of this number
  if (::chown(folder_.c_str(), static_cast<uid_t>(-1), of_others) != 0) {
    GTEST_SKIP() << "this user may not give a folder to another group";
  }
  EXPECT_TRUE(contains(why_untrusted(folder_, "the table", Trust::provided), "others may write"));
}

TEST_F(TrustOf, WhatBelongsToAnotherIsRefused) {
  constexpr uid_t another = 12'345;
  if (::chown(folder_.c_str(), another, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "this user may not give a folder away";
  }
  EXPECT_TRUE(contains(why_untrusted(folder_, "the folder", Trust::provided),
                       "the folder " + folder_ + " belongs to user 12345, and this is user",
                       "copy what you trust"));
}

TEST_F(TrustOf, WhatTheAdministratorProvidesIsFine) {
  EXPECT_EQ(why_untrusted("/usr/lib", "the folder", Trust::provided), "");
}

TEST_F(TrustOf, AFolderThatEveryoneMayReplaceIsRefused) {
  ASSERT_EQ(::chmod(outer_.c_str(), 0777), 0);
  EXPECT_TRUE(contains(why_untrusted(folder_, "the folder", Trust::own),
                       "everyone may replace the folder " + folder_, "the folder " + outer_,
                       "'chmod +t " + outer_ + "'"));
  ASSERT_EQ(::chmod(outer_.c_str(), 01777), 0);
  EXPECT_EQ(why_untrusted(folder_, "the folder", Trust::own), "");
}

TEST_F(TrustOf, ALinkIsJudgedByBothPlaces) {
  const std::string link = outer_ + "/link";
  ASSERT_EQ(::symlink(folder_.c_str(), link.c_str()), 0);
  EXPECT_EQ(why_untrusted(link, "the folder", Trust::own), "");
  ASSERT_EQ(::mkdir((outer_ + "/open").c_str(), 0777), 0);
  ASSERT_EQ(::chmod((outer_ + "/open").c_str(), 0777), 0);
  const std::string behind = outer_ + "/open/lib";
  ASSERT_EQ(::mkdir(behind.c_str(), 0755), 0);
  ASSERT_EQ(::symlink(behind.c_str(), (outer_ + "/other").c_str()), 0);
  EXPECT_TRUE(contains(why_untrusted(outer_ + "/other", "the folder", Trust::own),
                       "everyone may replace", outer_ + "/open"));
}

TEST_F(TrustOf, WhatIsMissingIsSaid) {
  EXPECT_TRUE(contains(why_untrusted(folder_ + "/none", "the file", Trust::own), "cannot look at",
                       "No such file"));
}

}  // namespace
}  // namespace op2
