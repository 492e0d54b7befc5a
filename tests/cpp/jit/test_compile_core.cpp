// SPDX-License-Identifier: BSD-3-Clause
#include "jit/compile_core.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "support.hpp"

namespace op2::jit {
namespace {

using testing::files_with;
using testing::is_tidy;
using testing::TemporaryDirectory;

struct Text {
  std::string text;
  Origin origin = Origin::memory;
  double seconds = 0.0;
  std::string path;
};

/// Makes upper-case letters of a text; says what it was asked.
class Upper : public CompileCore<Text>::Steps {
 public:
  Upper(CompileCore<Text>& core, std::string text) : core_(core), text_(std::move(text)) {}

  std::optional<Text> from_disk(const Wanted& /*wanted*/, std::string payload,
                                const std::string& path) override {
    asked.emplace_back("disk");
    if (is_useless) return std::nullopt;
    return Text{std::move(payload), Origin::disk, 0.0, path};
  }
  Text build_in_store(const Wanted& wanted) override {
    asked.emplace_back("store");
    if (is_full) throw StorageError("the disk is full");
    const std::string made = compiled();
    return {made, Origin::compiled, 0.0, core_.write(wanted, made)};
  }
  Text build_apart(const Wanted& /*wanted*/) override {
    asked.emplace_back("apart");
    return {compiled(), Origin::compiled, 0.0, ""};
  }

  std::vector<std::string> asked;
  bool is_full = false;
  bool is_useless = false;

 private:
  std::string compiled() {
    return core_.counted([this] {
      if (text_ == "bad") throw CompilationError("rejected", "upper", "", "");
      std::string made = text_;
      for (char& letter : made) letter = static_cast<char>(std::toupper(letter));
      return made;
    });
  }

  CompileCore<Text>& core_;
  std::string text_;
};

CacheOptions cache_in(const std::filesystem::path& directory) {
  return {directory.string(), true, 1 << 20, 10.0, {}};
}

class CompileCoreTest : public ::testing::Test {
 protected:
  static Text get(CompileCore<Text>& core, Upper& steps, const std::string& text) {
    Wanted wanted{"key of " + text, "", "up"};
    return core.get(wanted, steps);
  }

  TemporaryDirectory directory;
  CompileCore<Text> core{cache_in(directory.path()), 10};
};

TEST_F(CompileCoreTest, MemoryThenDiskThenTheCompiler) {
  Upper first(core, "a");
  const Text made = get(core, first, "a");
  EXPECT_EQ(made.text, "A");
  EXPECT_EQ(made.origin, Origin::compiled);
  EXPECT_EQ(first.asked, std::vector<std::string>{"store"});
  Upper second(core, "a");
  const Text remembered = get(core, second, "a");
  EXPECT_EQ(remembered.origin, Origin::memory);
  EXPECT_EQ(remembered.path, made.path);
  EXPECT_TRUE(second.asked.empty());
  core.clear_memory();
  EXPECT_EQ(core.n_in_memory(), 0U);
  const Text read = get(core, second, "a");
  EXPECT_EQ(read.origin, Origin::disk);
  EXPECT_EQ(read.text, "A");
  EXPECT_EQ(core.statistics().n_memory_hits, 1);
  EXPECT_EQ(core.statistics().n_disk_hits, 1);
  EXPECT_EQ(core.statistics().n_compiles, 1);
  EXPECT_TRUE(is_tidy(directory.path()));
}

TEST_F(CompileCoreTest, WhatIsOfNoUseHereIsMadeAnew) {
  Upper first(core, "a");
  (void)get(core, first, "a");
  core.clear_memory();
  Upper second(core, "a");
  second.is_useless = true;
  EXPECT_EQ(get(core, second, "a").origin, Origin::compiled);
  EXPECT_EQ(second.asked, (std::vector<std::string>{"disk", "disk", "store"}));
  EXPECT_EQ(core.statistics().n_disk_hits, 0);
}

TEST_F(CompileCoreTest, AFullDiskIsWrittenToOnce) {
  for (const bool is_first : {true, false}) {
    const std::string text = is_first ? "a" : "b";
    Upper steps(core, text);
    steps.is_full = true;
    const Text made = get(core, steps, text);
    EXPECT_EQ(made.path, "");
    EXPECT_EQ(steps.asked, is_first ? (std::vector<std::string>{"store", "apart"})
                                    : std::vector<std::string>{"apart"});
  }
  const std::vector<std::string> notices = core.take_notices();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find("takes no new entries (the disk is full)"), std::string::npos);
}

TEST_F(CompileCoreTest, FailuresAreCountedAndNotKept) {
  for (int i = 1; i <= 2; ++i) {
    Upper steps(core, "bad");
    EXPECT_THROW((void)get(core, steps, "bad"), CompilationError);
    EXPECT_EQ(core.statistics().n_failures, i);
    EXPECT_EQ(core.statistics().n_compiles, i);
  }
  EXPECT_TRUE(files_with(directory.path(), ".up").empty());
}

TEST_F(CompileCoreTest, SourcesAreKeptBesideTheEntry) {
  const std::string path = core.keep_source({"key", "0123", "up"}, "failed.txt", "bad");
  EXPECT_EQ(testing::read_file(path), "bad");
  CacheOptions options = cache_in(directory.path());
  options.use_disk = false;
  CompileCore<Text> without(options, 10);
  EXPECT_EQ(without.keep_source({"key", "0123", "up"}, "failed.txt", "bad"), "");
  EXPECT_EQ(without.problem(), "the disk cache is switched off");
}

TEST_F(CompileCoreTest, MemoryIsBoundedByWeight) {
  CompileCore<Text> small(cache_in(directory.path()), 3,
                          [](const Text& text) { return text.text.size(); });
  for (const char* text : {"aa", "bb"}) {
    Upper steps(small, text);
    (void)get(small, steps, text);
  }
  EXPECT_EQ(small.n_in_memory(), 1U);
}

}  // namespace
}  // namespace op2::jit
