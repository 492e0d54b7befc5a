// SPDX-License-Identifier: BSD-3-Clause
#include "jit/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryDirectory;

TEST(File, WritesReadsAndReplaces) {
  const TemporaryDirectory directory;
  const fs::path a = directory.path() / "a";
  const fs::path b = directory.path() / "b";
  const std::string bytes(100000, 'x');
  write_new_file(a, bytes);
  write_new_file(b, "old");
  replace_file(a, b);
  EXPECT_FALSE(fs::exists(a));
  const UniqueFd fd(::open(b.c_str(), O_RDONLY));
  EXPECT_EQ(read_all(fd.get()), bytes);
  EXPECT_EQ(fs::status(b).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(File, NeverWritesIntoWhatExists) {
  const TemporaryDirectory directory;
  const fs::path link = directory.path() / "link";
  fs::create_symlink(directory.path() / "target", link);
  EXPECT_THROW(write_new_file(link, "x"), StorageError);
  EXPECT_FALSE(fs::exists(directory.path() / "target"));
}

TEST(File, AFullDiskIsAStorageError) {
  const TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_new_file(directory.path() / "large", std::string(2000, 'x'));
    } catch (const StorageError&) {
      ::_exit(17);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 17);
}

TEST(File, IsWrittenInOneStep) {
  const TemporaryDirectory directory;
  const fs::path to = directory.path() / "a";
  write_in_one_step(directory.path(), "stem", to, "old");
  write_in_one_step(directory.path(), "stem", to, "new");
  const UniqueFd fd(::open(to.c_str(), O_RDONLY));
  EXPECT_EQ(read_all(fd.get()), "new");
  EXPECT_EQ(fs::status(to).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THROW(write_in_one_step(directory.path() / "none", "stem", to, "x"), StorageError);
  EXPECT_THROW(write_in_one_step(directory.path(), "stem", directory.path() / "none" / "a", "x"),
               StorageError);
  const fs::directory_iterator left(directory.path());
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);  // nothing of what failed
}

TEST(WorkDirectory, IsPrivateAndDisappears) {
  const TemporaryDirectory directory;
  fs::path path;
  {
    WorkDirectory work(directory.path(), "w");
    WorkDirectory moved = std::move(work);
    path = moved.path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    write_new_file(path / "a", "x");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(WorkDirectory, CanBeKept) {
  const TemporaryDirectory directory;
  fs::path path;
  {
    WorkDirectory work(directory.path(), "w");
    path = work.path();
    work.keep();
  }
  EXPECT_TRUE(fs::exists(path));
}

TEST(WorkDirectory, SaysWhereItCannotBe) {
  const TemporaryDirectory directory;
  EXPECT_THROW(WorkDirectory(directory.path() / "none", "w"), StorageError);
}

TEST(FileLock, IsHeldByOneAtATime) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "lock";
  std::atomic<int> n_inside = 0;
  std::atomic<int> n_done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&path, &n_inside, &n_done] {
      for (int i = 0; i < 2000; ++i) {
        const std::optional<FileLock> lock = FileLock::acquire(path, {30.0, {}});
        ASSERT_TRUE(lock);
        EXPECT_EQ(++n_inside, 1);
        std::this_thread::yield();
        --n_inside;
        ++n_done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_done, 8000);
  EXPECT_FALSE(fs::exists(path));
}

TEST(FileLock, RunsOutOfPatience) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "lock";
  const std::optional<FileLock> held = FileLock::acquire(path, {});
  ASSERT_TRUE(held);
  EXPECT_FALSE(FileLock::acquire(path, {0.05, {}}));
}

TEST(FileLock, AnInterruptEndsTheWait) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "lock";
  const std::optional<FileLock> held = FileLock::acquire(path, {});
  const Patience patience{30.0, [] { throw std::runtime_error("interrupted"); }};
  EXPECT_THROW((void)FileLock::acquire(path, patience), std::runtime_error);
}

TEST(FileLock, IsFreeWhenItsHolderDies) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::optional<FileLock> held = FileLock::acquire(path, {});
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(fs::exists(path));  // left behind, and worth nothing
  EXPECT_TRUE(FileLock::acquire(path, {}));
}

TEST(FileLock, IsFreeThoughAForkedChildHasItOpen) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "lock";
  std::optional<FileLock> held = FileLock::acquire(path, {});
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  held.reset();
  EXPECT_TRUE(FileLock::acquire(path, {}));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(FileLock, IsNothingWhereNothingCanBeWritten) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(FileLock::acquire(directory.path() / "none" / "lock", {1.0, {}}));
}

}  // namespace
}  // namespace op2::jit
