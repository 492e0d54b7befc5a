// SPDX-License-Identifier: BSD-3-Clause
#include "jit/stamp.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "support.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;

using testing::TemporaryDirectory;
using testing::write_file;

std::string stamp_of_one(const fs::path& folder) {
  return stamp_of({folder.string()});
}

void change_time(const fs::path& file, long nanoseconds) {
  const std::array<timespec, 2> times{{{0, UTIME_OMIT}, {1, nanoseconds}}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
}

TEST(Stamp, ChangesWithNameSizeAndTimeOfAFile) {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "a";
  write_file(file, "text");
  change_time(file, 1);
  const std::string before = stamp_of_one(directory.path());
  EXPECT_EQ(stamp_of_one(directory.path()), before);

  change_time(file, 2);
  EXPECT_NE(stamp_of_one(directory.path()), before);
  write_file(file, "longer text");
  change_time(file, 1);
  EXPECT_NE(stamp_of_one(directory.path()), before);
  write_file(file, "text");
  change_time(file, 1);
  EXPECT_EQ(stamp_of_one(directory.path()), before);
  fs::rename(file, directory.path() / "b");
  EXPECT_NE(stamp_of_one(directory.path()), before);
}

TEST(Stamp, IsOfFilesInFoldersNotBelowThem) {
  const TemporaryDirectory directory;
  const fs::path below = directory.path() / "below";
  fs::create_directory(below);
  const std::string empty = stamp_of_one(directory.path());
  write_file(below / "a", "");
  EXPECT_EQ(stamp_of_one(directory.path()), empty);
  const std::string both = stamp_of({directory.path().string(), below.string()});
  write_file(directory.path() / "b", "");
  EXPECT_NE(stamp_of_one(directory.path()), empty);
  EXPECT_NE(stamp_of({directory.path().string(), below.string()}), both);
}

TEST(Stamp, FollowsLinks) {
  const TemporaryDirectory directory;
  const TemporaryDirectory elsewhere;
  write_file(elsewhere.path() / "a", "text");
  change_time(elsewhere.path() / "a", 1);
  fs::create_symlink(elsewhere.path() / "a", directory.path() / "link");
  const std::string before = stamp_of_one(directory.path());
  change_time(elsewhere.path() / "a", 2);
  EXPECT_NE(stamp_of_one(directory.path()), before);
}

TEST(Stamp, TellsWhichFolderAFileIsIn) {
  const TemporaryDirectory directory;
  const std::vector<std::string> folders{directory.path() / "first", directory.path() / "second"};
  for (const std::string& folder : folders) fs::create_directory(folder);
  const fs::path file = fs::path(folders[0]) / "a";
  write_file(file, "");
  change_time(file, 1);
  const std::string before = stamp_of(folders);
  fs::rename(file, fs::path(folders[1]) / "a");
  EXPECT_NE(stamp_of(folders), before);
}

TEST(StampOfPackage, IsOfTheFirstFolderOfThatName) {
  const TemporaryDirectory directory;
  const fs::path first = directory.path() / "first";
  const fs::path second = directory.path() / "second";
  fs::create_directories(second / "package");
  fs::create_directory(first);
  write_file(second / "package" / "a", "text");
  const std::vector<std::string> places{first.string(), second.string()};
  EXPECT_EQ(stamp_of_package(places, "package"), stamp_of_one(second / "package"));
  EXPECT_EQ(stamp_of_package(places, "absent"), "");
  write_file(first / "package", "a module's file is no package");
  EXPECT_EQ(stamp_of_package(places, "package"), stamp_of_one(second / "package"));
  fs::remove(first / "package");
  fs::create_directory(first / "package");
  EXPECT_EQ(stamp_of_package(places, "package"), stamp_of_one(first / "package"));
}

}  // namespace
}  // namespace op2::jit
