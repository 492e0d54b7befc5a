// SPDX-License-Identifier: BSD-3-Clause
#include "jit/service.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "base/error.hpp"
#include "support.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;
using testing::AsOrdinaryUser;
using testing::call_value;
using testing::files_with;
using testing::is_tidy;
using testing::options_in;
using testing::source_of;
using testing::TemporaryDirectory;

Loaded load(Service& service, const std::string& source,
            const std::vector<std::string>& flags = {}) {
  return service.load(source, Language::c, flags, "test");
}

std::int64_t n_lines(const fs::path& path) {
  return std::ranges::count(testing::read_file(path), '\n');
}

/// A cache, and a compiler that counts its runs and takes 0.3 s longer.
struct Counted {
  TemporaryDirectory directory;
  fs::path cache = directory.path() / "cache";
  fs::path runs = directory.path() / "runs";
  std::string cc = testing::write_compiler(directory.path() / "counting",
                                           "echo run >> " + runs.string() + "; sleep 0.3");
};

class EachCompiler : public ::testing::TestWithParam<std::string> {};

TEST_P(EachCompiler, CompilesThenRemembersThenReadsFromDisk) {
  if (std::system(("command -v " + GetParam() + " > /dev/null").c_str()) != 0) {
    GTEST_SKIP() << GetParam() << " is not installed";
  }
  const TemporaryDirectory directory;
  Service service(options_in(directory.path(), GetParam()));
  const Loaded first = load(service, source_of(7));
  EXPECT_EQ(first.origin, Origin::compiled);
  EXPECT_EQ(call_value(first), 7);
  EXPECT_EQ(first.path, first.library->path());
  EXPECT_EQ(fs::status(first.path).permissions(), fs::perms::owner_read | fs::perms::owner_write);

  const Loaded second = load(service, source_of(7));
  EXPECT_EQ(second.origin, Origin::memory);
  EXPECT_EQ(second.library, first.library);

  Service other(options_in(directory.path(), GetParam()));
  const Loaded third = load(other, source_of(7));
  EXPECT_EQ(third.origin, Origin::disk);
  EXPECT_EQ(call_value(third), 7);
  EXPECT_EQ(other.statistics(), (Statistics{.n_disk_hits = 1}));
  EXPECT_TRUE(is_tidy(directory.path()));
  EXPECT_TRUE(service.take_notices().empty());
}

INSTANTIATE_TEST_SUITE_P(Compilers, EachCompiler, ::testing::Values("cc", "gcc", "clang"));

TEST(Service, KeepsDifferentThingsApart) {
  const TemporaryDirectory directory;
  Service service(options_in(directory.path()));
  const std::string source = "#ifndef V\n#define V 1\n#endif\nint value(void) { return V; }\n";
  EXPECT_EQ(call_value(service.load(source, Language::c, {}, "a")), 1);
  EXPECT_EQ(call_value(service.load(source, Language::c, {"-DV=2"}, "a")), 2);
  EXPECT_EQ(service.load(source, Language::c, {}, "b").origin, Origin::compiled);
  EXPECT_EQ(service.load(source, Language::c, {"-DV=2"}, "a").origin, Origin::memory);
  EXPECT_EQ(service.load("extern \"C\" int value() { return 3; }", Language::cxx, {}, "a").origin,
            Origin::compiled);
  EXPECT_EQ(service.statistics().n_compiles, 4);
}

TEST(Service, ThreadsCompileOnce) {
  const Counted counted;
  Service service(options_in(counted.cache, counted.cc));
  std::atomic<int> n_right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back(
        [&service, &n_right] { n_right += call_value(load(service, source_of(5))) == 5 ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_right, 8);
  EXPECT_EQ(n_lines(counted.runs), 1);
  const Statistics statistics = service.statistics();
  EXPECT_EQ(statistics.n_compiles, 1);
  EXPECT_EQ(statistics.n_waits + statistics.n_memory_hits, 7);
}

TEST(Service, ThreadsShareAnError) {
  const Counted counted;
  Service service(options_in(counted.cache, counted.cc));
  std::atomic<int> n_errors = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&service, &n_errors] {
      try {
        (void)load(service, "int broken(");
      } catch (const CompilationError&) {
        ++n_errors;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_errors, 4);
  // what is rejected is followed by a trial of the compiler
  EXPECT_EQ(n_lines(counted.runs) / 2 + service.statistics().n_waits, 4);
  EXPECT_THROW((void)load(service, "int broken("), CompilationError);  // tried again
}

TEST(Service, ProcessesCompileOnce) {
  const Counted counted;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      Service service(options_in(counted.cache, counted.cc));
      ::_exit(call_value(load(service, source_of(6))));
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 6);
  }
  EXPECT_EQ(n_lines(counted.runs), 1);
  EXPECT_TRUE(is_tidy(counted.cache));
}

TEST(Service, AKillDuringACompilationLeavesTheCacheValid) {
  const TemporaryDirectory directory;
  const fs::path cache = directory.path() / "cache";
  const fs::path started = directory.path() / "started";
  // Slow the first time only: the orphan goes on compiling while the next process does.
  const std::string cc = testing::write_compiler(
      directory.path() / "slow", "if mkdir " + started.string() + " 2>/dev/null; then sleep 1; fi");
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    Service service(options_in(cache, cc));
    (void)load(service, source_of(8));
    ::_exit(0);
  }
  while (!fs::exists(started)) ::usleep(1000);
  ::kill(-child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(files_with(cache, ".so").empty());
  EXPECT_FALSE(is_tidy(cache));

  Service service(options_in(cache, cc));
  const Loaded loaded = load(service, source_of(8));
  EXPECT_EQ(loaded.origin, Origin::compiled);
  EXPECT_EQ(call_value(loaded), 8);
  ::usleep(1300000);  // the orphan has ended now, and has changed nothing
  EXPECT_TRUE(is_tidy(cache));
  Service third(options_in(cache, cc));
  EXPECT_EQ(load(third, source_of(8)).origin, Origin::disk);
}

TEST(Service, ReplacesDamagedEntries) {
  const TemporaryDirectory directory;
  std::string sound;
  fs::path path;
  {
    Service service(options_in(directory.path()));
    path = load(service, source_of(9)).path;
    sound = testing::read_file(path);
  }
  std::string flipped = sound;
  flipped[sound.size() / 2] = static_cast<char>(flipped[sound.size() / 2] ^ 1);
  for (const std::string& bytes :
       {std::string(), sound.substr(0, sound.size() / 2), flipped, std::string("text")}) {
    testing::write_file(path, bytes);
    Service service(options_in(directory.path()));
    const Loaded loaded = load(service, source_of(9));
    EXPECT_EQ(loaded.origin, Origin::compiled);
    EXPECT_EQ(call_value(loaded), 9);
    EXPECT_EQ(service.statistics().n_damaged, 1);
    EXPECT_EQ(testing::read_file(path), sound);
    EXPECT_TRUE(service.take_notices().empty());
  }
}

TEST(Service, NeverLoadsAnotherKeysEntry) {
  const TemporaryDirectory directory;
  Service service(options_in(directory.path()));
  const fs::path one = load(service, source_of(1)).path;
  const fs::path two = load(service, source_of(2)).path;
  service.clear();
  Service victim(options_in(directory.path()));
  (void)load(victim, source_of(1));
  fs::copy_file(one, two);
  const Loaded loaded = load(victim, source_of(2));
  EXPECT_EQ(loaded.origin, Origin::compiled);
  EXPECT_EQ(call_value(loaded), 2);
}

TEST(Service, RunsFromAReadOnlyCache) {
  const AsOrdinaryUser user;
  const TemporaryDirectory directory;
  {
    Service service(options_in(directory.path()));
    (void)load(service, source_of(1));
  }
  fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(directory.path() / "work", fs::perms::owner_read | fs::perms::owner_exec);
  Service service(options_in(directory.path()));
  EXPECT_EQ(load(service, source_of(1)).origin, Origin::disk);
  const Loaded loaded = load(service, source_of(2));
  EXPECT_EQ(call_value(loaded), 2);
  EXPECT_EQ(loaded.path, "");
  EXPECT_EQ(call_value(load(service, source_of(3))), 3);
  const std::vector<std::string> notices = service.take_notices();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find("takes no new entries (cannot create a directory in"),
            std::string::npos)
      << notices[0];
  fs::permissions(directory.path() / "work", fs::perms::owner_all);
}

TEST(Service, RunsOnWhenTheDiskIsFull) {
  const TemporaryDirectory directory;
  if (::mount("none", directory.path().c_str(), "tmpfs", 0, "mode=0700,size=24k") != 0) {
    GTEST_SKIP() << "this user may not mount a file system";
  }
  {
    Service service(options_in(directory.path()));
    for (const int value : {1, 2, 3}) EXPECT_EQ(call_value(load(service, source_of(value))), value);
    const std::vector<std::string> notices = service.take_notices();
    EXPECT_EQ(notices.size(), 1U);
    for (const std::string& notice : notices) {
      EXPECT_NE(notice.find("No space left on device"), std::string::npos) << notice;
    }
    EXPECT_TRUE(is_tidy(directory.path()));
  }
  EXPECT_EQ(::umount2(directory.path().c_str(), MNT_DETACH), 0);
}

TEST(Service, RunsOnWhenTheCompilerFindsTheDiskFull) {
  const TemporaryDirectory directory;
  const fs::path cache = directory.path() / "cache";
  const std::string cc = testing::write_compiler(
      directory.path() / "full",
      "case \"$*\" in *" + cache.string() + "*) echo 'No space left on device' >&2; exit 1;; esac");
  Service service(options_in(cache, cc));
  EXPECT_EQ(call_value(load(service, source_of(4))), 4);
  EXPECT_EQ(service.take_notices().size(), 1U);
  EXPECT_TRUE(is_tidy(cache));
}

TEST(Service, LoadsNothingFromADirectoryOthersMayWrite) {
  const TemporaryDirectory directory;
  {
    Service service(options_in(directory.path()));
    (void)load(service, source_of(1));
  }
  fs::permissions(directory.path(), fs::perms::all);
  Service service(options_in(directory.path()));
  const Loaded loaded = load(service, source_of(1));
  EXPECT_EQ(loaded.origin, Origin::compiled);
  EXPECT_EQ(loaded.path, "");
  EXPECT_EQ(call_value(loaded), 1);
  (void)load(service, source_of(2));
  const std::vector<std::string> notices = service.take_notices();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find("others may write"), std::string::npos) << notices[0];
  EXPECT_EQ(service.info().problem.find(directory.path().string()) != std::string::npos, true);
}

TEST(Service, WithoutDiskLeavesNothing) {
  const TemporaryDirectory directory;
  const TemporaryDirectory temporary;
  const testing::ScopedVariable variable("TMPDIR", temporary.path().string());
  Options options = options_in(directory.path() / "cache");
  options.use_disk = false;
  Service service(options);
  EXPECT_EQ(call_value(load(service, source_of(1))), 1);
  EXPECT_EQ(load(service, source_of(1)).origin, Origin::memory);
  EXPECT_FALSE(fs::exists(directory.path() / "cache"));
  EXPECT_TRUE(fs::is_empty(temporary.path()));
  EXPECT_TRUE(service.take_notices().empty());
}

TEST(Service, SaysWhenThereIsNowhereToCompile) {
  const TemporaryDirectory directory;
  const std::string cc = testing::write_compiler(directory.path() / "full",
                                                 "echo 'No space left on device' >&2; exit 1");
  Service service(options_in(directory.path() / "cache", cc));
  try {
    (void)load(service, source_of(1));
    FAIL();
  } catch (const ToolchainError& error) {
    EXPECT_NE(std::string(error.what()).find("/var/tmp: the compiler could not write"),
              std::string::npos)
        << error.what();
  }
}

TEST(Service, KeepsTheSourceOfAFailure) {
  const TemporaryDirectory directory;
  const std::string source = "int value(void) { return missing; }\n";
  for (const bool use_disk : {true, false}) {
    Options options = options_in(directory.path());
    options.use_disk = use_disk;
    Service service(options);
    try {
      (void)load(service, source);
      ADD_FAILURE();
    } catch (const CompilationError& error) {
      EXPECT_EQ(testing::read_file(error.source_path()), source);
      if (!use_disk) fs::remove_all(fs::path(error.source_path()).parent_path());
    }
    EXPECT_EQ(service.statistics().n_failures, 1);
  }
  EXPECT_TRUE(is_tidy(directory.path()));
  EXPECT_TRUE(files_with(directory.path(), ".so").empty());
}

TEST(Service, AnObjectThatDoesNotLoadIsNoEntry) {
  const TemporaryDirectory directory;
  Service service(options_in(directory.path()));
  try {
    (void)load(service, "int gone(void); int value(void) { return gone(); }\n");
    FAIL();
  } catch (const CompilationError& error) {
    EXPECT_NE(error.stderr_text().find("gone"), std::string::npos);
    EXPECT_NE(testing::read_file(error.source_path()).find("gone()"), std::string::npos);
  }
  EXPECT_TRUE(files_with(directory.path(), ".so").empty());
}

TEST(Service, ADeadCompilerLeavesNothing) {
  const TemporaryDirectory directory;
  const fs::path cache = directory.path() / "cache";
  const std::string cc = testing::write_compiler(directory.path() / "dying", "kill -9 $$");
  Service service(options_in(cache, cc));
  EXPECT_THROW((void)load(service, source_of(1)), ToolchainError);
  EXPECT_TRUE(is_tidy(cache));
  EXPECT_EQ(service.info().disk.n_entries, 0);
}

TEST(Service, RunsItsCompilerForOthers) {
  Counted counted;
  Service service(options_in(counted.cache, counted.cc));
  const fs::path source = counted.directory.path() / "one.c";
  const fs::path object = counted.directory.path() / "one.o";
  testing::write_file(source, source_of(1));
  (void)service.run(Language::c, {"-c", source.string(), "-o", object.string()}, true);
  EXPECT_GT(fs::file_size(object), 0U);
  EXPECT_EQ(service.statistics().n_compiles, 1);
  testing::write_file(source, "int value(void) { return no_such_thing; }");
  try {
    (void)service.run(Language::c, {"-c", source.string(), "-o", object.string()}, true);
    FAIL() << "it was compiled";
  } catch (const CompilationError& error) {
    EXPECT_NE(error.stderr_text().find("no_such_thing"), std::string::npos);
    EXPECT_NE(error.command().find("one.c"), std::string::npos);
  }
  EXPECT_EQ(service.statistics().n_compiles, 2);
  const std::string macros = service.run(Language::c, {"-dM", "-E", "-x", "c", "/dev/null"}, false);
  EXPECT_NE(macros.find("#define __STDC__ 1"), std::string::npos);
  EXPECT_EQ(service.statistics().n_compiles, 2);
}

TEST(Service, WithoutACompilerSaysSo) {
  const TemporaryDirectory directory;
  Service service(options_in(directory.path(), "no-such-cc"));
  EXPECT_THROW((void)load(service, source_of(1)), ToolchainError);
}

TEST(Service, AnInterruptedFlightIsFlownByAnother) {
  const Counted counted;
  Options options = options_in(counted.cache, counted.cc);
  std::atomic<std::thread::id> leader;
  std::atomic<bool> is_followed = false;
  options.interrupted = [&leader, &is_followed] {
    while (std::this_thread::get_id() == leader && !is_followed) ::usleep(1000);
    if (std::this_thread::get_id() == leader) throw std::runtime_error("interrupted");
  };
  Service service(options);
  (void)service.compiler(Language::c);  // so the leader is interrupted while a source is compiled
  std::thread first([&service, &leader] {
    leader = std::this_thread::get_id();
    EXPECT_THROW((void)load(service, source_of(3)), std::runtime_error);
  });
  while (!fs::exists(counted.runs)) ::usleep(1000);
  std::atomic<int> n_right = 0;
  std::vector<std::thread> followers;
  for (int t = 0; t < 2; ++t) {
    followers.emplace_back(
        [&service, &n_right] { n_right += call_value(load(service, source_of(3))) == 3 ? 1 : 0; });
  }
  while (service.statistics().n_waits < 2) ::usleep(1000);
  is_followed = true;
  first.join();
  for (std::thread& follower : followers) follower.join();
  EXPECT_EQ(n_right, 2);
  EXPECT_EQ(n_lines(counted.runs), 2);
  EXPECT_TRUE(is_tidy(counted.cache));
}

TEST(Service, ClearsUnderARunningLoop) {
  const TemporaryDirectory directory;
  Service service(options_in(directory.path()));
  const Loaded loaded = load(service, source_of(4));
  service.clear();
  EXPECT_EQ(service.info().disk.n_entries, 0);
  EXPECT_EQ(call_value(loaded), 4);
  EXPECT_EQ(load(service, source_of(4)).origin, Origin::compiled);
}

TEST(Service, SurvivesTheLossOfItsDirectory) {
  const TemporaryDirectory directory;
  Service service(options_in(directory.path() / "cache"));
  (void)load(service, source_of(1));
  fs::remove_all(directory.path() / "cache");
  const Loaded loaded = load(service, source_of(2));
  EXPECT_EQ(call_value(loaded), 2);
  EXPECT_TRUE(fs::exists(loaded.path));
  EXPECT_TRUE(service.take_notices().empty());
}

TEST(Service, KeepsTheDirectoryBelowItsBound) {
  const TemporaryDirectory directory;
  Options options = options_in(directory.path());
  options.max_disk_bytes = 60000;
  Service service(options);
  std::vector<Loaded> all;
  for (int value = 0; value < 6; ++value) all.push_back(load(service, source_of(value)));
  EXPECT_LE(service.info().disk.n_bytes, 60000);
  EXPECT_GE(service.info().disk.n_entries, 1);
  for (int value = 0; value < 6; ++value) {
    EXPECT_EQ(call_value(all[static_cast<std::size_t>(value)]), value);
  }
}

TEST(Service, IsUsableWithABoundOfNothing) {
  const TemporaryDirectory directory;
  Options options = options_in(directory.path());
  options.max_disk_bytes = 0;
  Service service(options);
  EXPECT_EQ(call_value(load(service, source_of(1))), 1);
  EXPECT_EQ(service.info().disk.n_entries, 0);
}

TEST(Service, RecallsWhatItKept) {
  const TemporaryDirectory directory;
  Service first(options_in(directory.path()));
  EXPECT_EQ(first.recall("note", "a"), std::nullopt);
  first.keep("note", "a", std::string("1\0\n2", 4));
  first.keep("note", "b", "");
  Service second(options_in(directory.path()));
  EXPECT_EQ(second.recall("note", "a"), std::string("1\0\n2", 4));
  EXPECT_EQ(second.recall("note", "b"), "");
  EXPECT_EQ(second.recall("note", "c"), std::nullopt);
  EXPECT_EQ(second.recall("other", "a"), std::nullopt);
  second.keep("note", "a", "3");
  EXPECT_EQ(first.recall("note", "a"), "3");
  for (const fs::path& file : files_with(directory.path(), ".note")) {
    testing::write_file(file, testing::read_file(file) + "x");
  }
  EXPECT_EQ(first.recall("note", "a"), std::nullopt);
  EXPECT_TRUE(is_tidy(directory.path()));
}

TEST(Service, KeepsNothingWhereItMayNot) {
  const TemporaryDirectory directory;
  jit::Options options = options_in(directory.path() / "cache");
  options.use_disk = false;
  Service without(options);
  without.keep("note", "a", "1");
  EXPECT_EQ(without.recall("note", "a"), std::nullopt);
  EXPECT_FALSE(fs::exists(directory.path() / "cache"));

  const AsOrdinaryUser nobody;
  Service barred(options_in("/proc/no-such-place"));
  barred.keep("note", "a", "1");
  EXPECT_EQ(barred.recall("note", "a"), std::nullopt);
  EXPECT_TRUE(barred.take_notices().empty());
}

TEST(Service, StoresTheProbe) {
  const TemporaryDirectory directory;
  Service first(options_in(directory.path(), "gcc"));
  const HostCompiler probed = first.compiler(Language::c);
  const std::vector<fs::path> stored = files_with(directory.path(), ".probe");
  ASSERT_EQ(stored.size(), 1U);
  Service second(options_in(directory.path(), "gcc"));
  EXPECT_EQ(second.compiler(Language::c), probed);
  testing::write_file(stored[0], "damaged");
  Service third(options_in(directory.path(), "gcc"));
  EXPECT_EQ(third.compiler(Language::c), probed);
}

}  // namespace
}  // namespace op2::jit
