// SPDX-License-Identifier: BSD-3-Clause
#include "jit/store.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <chrono>

#include "base/digest.hpp"
#include "jit/entry.hpp"
#include "support.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;
using testing::AsOrdinaryUser;
using testing::ScopedVariable;
using testing::TemporaryDirectory;

constexpr std::int64_t plenty = 1 << 30;

void publish(Store& store, const std::string& key, const std::string& payload) {
  const WorkDirectory work = store.work(digest(key));
  write_new_file(work.path() / "entry", payload + entry_tail(payload, key));
  store.publish(work.path() / "entry", digest(key), "so");
}

Lookup find(const Store& store, const std::string& key) {
  return store.find(digest(key), "so", key);
}

bool holds(const Store& store, const std::string& key) {
  return find(store, key).state == Lookup::State::hit;
}

void make_older(const Store& store, const std::string& key, int hours) {
  fs::last_write_time(store.path_of(digest(key), "so"),
                      fs::file_time_type::clock::now() - std::chrono::hours(hours));
}

TEST(CacheDirectory, IsTheFirstThatIsNamed) {
  const ScopedVariable own("PYOP2CXX_CACHE_DIR", "/own");
  EXPECT_EQ(cache_directory("/option"), "/option");
  EXPECT_EQ(cache_directory("relative"), fs::current_path() / "relative");
  EXPECT_EQ(cache_directory(""), "/own");
}

TEST(CacheDirectory, FollowsTheDesktopSpecification) {
  const ScopedVariable own("PYOP2CXX_CACHE_DIR", std::nullopt);
  const ScopedVariable home("HOME", "/home/u");
  {
    const ScopedVariable xdg("XDG_CACHE_HOME", "/xdg");
    EXPECT_EQ(cache_directory(""), "/xdg/pyop2cxx");
  }
  const ScopedVariable xdg("XDG_CACHE_HOME", "relative/is/ignored");
  EXPECT_EQ(cache_directory(""), "/home/u/.cache/pyop2cxx");
}

TEST(CacheDirectory, WithoutHomeIsThatOfTheUserDatabase) {
  const ScopedVariable own("PYOP2CXX_CACHE_DIR", std::nullopt);
  const ScopedVariable home("HOME", std::nullopt);
  const ScopedVariable xdg("XDG_CACHE_HOME", std::nullopt);
  const fs::path found = cache_directory("");
  EXPECT_TRUE(found.empty() || found.is_absolute());
  EXPECT_TRUE(Store("", plenty).problem());
}

TEST(Store, MakesNoHome) {
  const TemporaryDirectory directory;
  const fs::path missing = directory.path() / "home";
  const ScopedVariable home("HOME", missing.string());
  const std::optional<std::string> problem =
      Store(missing / ".cache" / "pyop2cxx", plenty).problem();
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("the home directory " + missing.string() + " is not there"),
            std::string::npos)
      << *problem;
  EXPECT_FALSE(fs::exists(missing));
  fs::create_directory(missing);
  EXPECT_FALSE(Store(missing / ".cache" / "pyop2cxx", plenty).problem());
}

TEST(Store, CreatesItsDirectoryForItsOwnerOnly) {
  const TemporaryDirectory directory;
  const fs::path deep = directory.path() / "a" / "b";
  EXPECT_EQ(Store(deep, plenty).problem(), std::nullopt);
  EXPECT_EQ(fs::status(deep).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(deep.parent_path()).permissions(), fs::perms::owner_all);
}

TEST(Store, RefusesWhatOthersMayWrite) {
  const TemporaryDirectory directory;
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(directory.path(), fs::perms::owner_all | others);
    const std::string problem = Store(directory.path(), plenty).problem().value_or("");
    EXPECT_NE(problem.find("others may write"), std::string::npos) << problem;
    EXPECT_NE(problem.find("PYOP2CXX_CACHE_DIR"), std::string::npos) << problem;
  }
}

TEST(Store, RefusesWhatBelongsToSomebodyElse) {
  const AsOrdinaryUser user;
  const std::string problem = Store("/usr", plenty).problem().value_or("");
  EXPECT_NE(problem.find("/usr belongs to user 0"), std::string::npos) << problem;
}

TEST(Store, RefusesALinkWhereItWorks) {
  const TemporaryDirectory directory;
  const TemporaryDirectory elsewhere;
  const Store store(directory.path(), plenty);
  ASSERT_EQ(store.problem(), std::nullopt);
  fs::create_directory_symlink(elsewhere.path(), directory.path() / "work");
  const std::string problem = store.problem().value_or("");
  EXPECT_NE(problem.find("no directory but a link"), std::string::npos) << problem;
  fs::remove(directory.path() / "work");
  EXPECT_EQ(store.problem(), std::nullopt);
}

TEST(Store, RefusesWhatIsNoDirectory) {
  const TemporaryDirectory directory;
  testing::write_file(directory.path() / "file", "");
  EXPECT_NE(Store(directory.path() / "file", plenty).problem().value_or("").find("not a directory"),
            std::string::npos);
  EXPECT_TRUE(Store(directory.path() / "file" / "below", plenty).problem());
}

TEST(Store, RefusesWhereNothingMayRun) {
  const TemporaryDirectory directory;
  if (::mount("none", directory.path().c_str(), "tmpfs", MS_NOEXEC, "mode=0700") != 0) {
    GTEST_SKIP() << "this user may not mount a file system";
  }
  const std::string problem = Store(directory.path(), plenty).problem().value_or("");
  ::umount(directory.path().c_str());
  EXPECT_NE(problem.find("noexec"), std::string::npos) << problem;
}

TEST(Store, FindsWhatWasPublished) {
  const TemporaryDirectory directory;
  Store store(directory.path(), plenty);
  EXPECT_EQ(find(store, "key").state, Lookup::State::absent);
  publish(store, "key", "payload");
  EXPECT_EQ(find(store, "key").payload, "payload");
  EXPECT_EQ(store.info().n_entries, 1);
  EXPECT_EQ(store.info().n_bytes,
            static_cast<std::int64_t>(fs::file_size(store.path_of(digest("key"), "so"))));
}

TEST(Store, CallsDamagedWhatIsNotItsOwn) {
  const TemporaryDirectory directory;
  Store store(directory.path(), plenty);
  publish(store, "key", "payload");
  const fs::path path = store.path_of(digest("key"), "so");
  const std::string sound = testing::read_file(path);
  publish(store, "other", "payload");
  const std::string foreign = testing::read_file(store.path_of(digest("other"), "so"));
  for (const std::string& bytes : {std::string(), sound.substr(0, 20), foreign, sound + "x"}) {
    testing::write_file(path, bytes);
    EXPECT_EQ(find(store, "key").state, Lookup::State::damaged);
  }
  testing::write_file(path, sound);
  EXPECT_TRUE(holds(store, "key"));
  fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(find(store, "key").state, Lookup::State::damaged);
}

TEST(Store, DoesNotFollowLinks) {
  const TemporaryDirectory directory;
  Store store(directory.path(), plenty);
  publish(store, "key", "payload");
  const fs::path path = store.path_of(digest("key"), "so");
  fs::rename(path, directory.path() / "elsewhere");
  fs::create_symlink(directory.path() / "elsewhere", path);
  EXPECT_FALSE(holds(store, "key"));
}

TEST(Store, EvictsTheEntriesUsedLongestAgo) {
  const TemporaryDirectory directory;
  Store store(directory.path(), 3500);
  const std::string payload(900, 'p');
  int hours = 9;
  for (const std::string key : {"a", "b", "c", "d"}) {
    publish(store, key, payload);
    make_older(store, key, hours--);
  }
  EXPECT_TRUE(holds(store, "a"));  // a use: now the newest
  store.evict();
  EXPECT_TRUE(holds(store, "a"));
  EXPECT_FALSE(holds(store, "b"));
  EXPECT_TRUE(holds(store, "d"));
  EXPECT_LE(store.info().n_bytes, 3500);
}

TEST(Store, MakesRoomByItself) {
  const TemporaryDirectory directory;
  Store store(directory.path(), 10000);
  for (int i = 0; i < 30; ++i) {
    publish(store, std::to_string(i), std::string(900, 'p'));
    store.make_room();
    EXPECT_TRUE(holds(store, std::to_string(i)));
  }
  EXPECT_LE(store.info().n_bytes, 10000);
  EXPECT_GT(store.info().n_entries, 5);
}

TEST(Store, DoesNotReadTheDirectoryAfterEveryEntry) {
  const TemporaryDirectory directory;
  Store store(directory.path(), plenty);
  publish(store, "a", "payload");
  store.make_room();
  const fs::path leftover = directory.path() / "work" / (digest("b") + ".abcdef");
  fs::create_directory(leftover);
  publish(store, "c", "payload");
  store.make_room();
  EXPECT_TRUE(fs::exists(leftover));  // nobody looked: less than an hour and little was written
  store.evict();
  EXPECT_FALSE(fs::exists(leftover));
}

TEST(Store, SweepsTheDeadAndLeavesTheLiving) {
  const TemporaryDirectory directory;
  const Store store(directory.path(), plenty);
  WorkDirectory dead = store.work(digest("dead"));
  const WorkDirectory living = store.work(digest("living"));
  testing::write_file(dead.path() / "half", "written");
  testing::write_file(store.path_of(digest("dead"), "lock"), "");
  const std::optional<FileLock> lock = store.lock(digest("living"), {});
  Store(directory.path(), plenty).evict();
  EXPECT_FALSE(fs::exists(dead.path()));
  EXPECT_FALSE(fs::exists(store.path_of(digest("dead"), "lock")));
  EXPECT_TRUE(fs::exists(living.path()));
  EXPECT_TRUE(fs::exists(store.path_of(digest("living"), "lock")));
}

TEST(Store, ClearsItsOwnFilesOnly) {
  const TemporaryDirectory directory;
  Store store(directory.path(), plenty);
  publish(store, "key", "payload");
  testing::write_file(directory.path() / "thesis.so", "not ours");
  testing::write_file(directory.path() / (std::string(32, 'g') + ".so"), "not ours");
  store.clear();
  EXPECT_FALSE(holds(store, "key"));
  EXPECT_TRUE(fs::exists(directory.path() / "thesis.so"));
  EXPECT_TRUE(fs::exists(directory.path() / (std::string(32, 'g') + ".so")));
}

TEST(Store, SaysWhenNothingCanBeWritten) {
  const AsOrdinaryUser user;
  const TemporaryDirectory directory;
  const Store store(directory.path(), plenty);
  fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_FALSE(store.lock(digest("key"), {}));
  EXPECT_THROW((void)store.work(digest("key")), StorageError);
}

}  // namespace
}  // namespace op2::jit
