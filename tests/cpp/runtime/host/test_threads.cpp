// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/threads.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace op2::runtime {
namespace {

namespace fs = std::filesystem;

/// A file system that a process in some control group might see.
class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = "/tmp/op2-test.XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() { fs::remove_all(path_); }

  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] std::optional<double> limit() const { return cgroup_cpu_limit(path_); }

 private:
  fs::path path_;
};

TEST(CgroupCpuLimit, OfNoGroupsIsNone) {
  EXPECT_EQ(FakeRoot().limit(), std::nullopt);
}

TEST(CgroupCpuLimit, ReadsVersionTwo) {
  const FakeRoot root;
  root.write("proc/self/cgroup", "0::/user/job\n");
  root.write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  root.write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  EXPECT_EQ(root.limit(), std::nullopt);
  root.write("sys/fs/cgroup/user/job/cpu.max", "350000 100000\n");
  EXPECT_EQ(root.limit(), 3.5);
  root.write("sys/fs/cgroup/user/cpu.max", "150000 100000\n");  // an ancestor binds too
  EXPECT_EQ(root.limit(), 1.5);
}

TEST(CgroupCpuLimit, ReadsVersionOne) {
  const FakeRoot root;
  root.write("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a/b\n");
  root.write("proc/self/mountinfo",
             "31 23 0:27 / /sys/fs/cgroup/memory rw shared:1 - cgroup cgroup rw,memory\n"
             "32 23 0:28 / /sys/fs/cgroup/cpu rw shared:2 - cgroup cgroup rw,cpu,cpuacct\n");
  root.write("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(root.limit(), std::nullopt);
  root.write("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(root.limit(), 2.0);
}

TEST(CgroupCpuLimit, SeesAContainersGroupAtTheMountPoint) {
  const FakeRoot root;
  root.write("proc/self/cgroup", "4:cpu:/docker/1234/sub\n");
  root.write("proc/self/mountinfo",
             "32 23 0:28 /docker/1234 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(root.limit(), 4.0);
}

TEST(AvailableThreads, FollowsTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const int n_threads = available_threads();
  EXPECT_GE(n_threads, 1);
  EXPECT_LE(n_threads, CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_threads(), 1);
  ::sched_setaffinity(0, sizeof before, &before);
}

/// What a child says, forked now.
bool child_sees_fork() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(forked_after_parallel_region() ? 1 : 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status) == 1;
}

TEST(Fork, IsNoticedOnceARegionHasRun) {
  // In a program started anew: the record is the process's, and other tests may have run first.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const bool before = child_sees_fork();
        note_parallel_region();
        note_parallel_region();
        const bool after = child_sees_fork();
        ::_exit((before ? 1 : 0) + (after ? 2 : 0) + (forked_after_parallel_region() ? 4 : 0));
      },
      ::testing::ExitedWithCode(2), "");
}

}  // namespace
}  // namespace op2::runtime
