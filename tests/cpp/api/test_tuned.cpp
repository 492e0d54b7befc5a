// SPDX-License-Identifier: BSD-3-Clause
#include "api/tuned.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/digest.hpp"
#include "base/json.hpp"

namespace op2::api {
namespace {

void write_tuned(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(text.c_str(), file);
  std::fclose(file);
  ::chmod(path.c_str(), 0600);
}

std::string entry(const std::string& key, int size, const std::string& strategy) {
  return fmt::format(
      R"({{"key": "{}", "kind": "loop", "rule_us": 6.0, "size": {}, "us": 2.0, "way": )"
      R"({{"lanes": 4, "strategy": "{}", "tuning": {{"block_elements": 1024}}}}}})",
      key, size, strategy);
}

std::string file(const std::string& device, const std::string& entries, int schema = 2) {
  const std::string place = fmt::format(R"({{"backend": "openmp", "device": "{}"}})", device);
  const std::string body = fmt::format(R"({{"entries": [{}], "place": {}}})", entries, place);
  return fmt::format(R"({{"checksum": "{}", "entries": [{}], "place": {}, "schema": {}}})",
                     digest(without_blanks(body)), entries, place, schema);
}

/// A folder with files of two devices.
class TunedChoices : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "op2_tuned_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    write_tuned(folder + "/a.json",
                file("A", entry("flux", 10, "block") + ", " + entry("flux", 20, "colour")));
    write_tuned(folder + "/b.json",
                file("B \\u00ae", entry("flux", 10, "atomic") + ", " + entry("step", 5, "direct")));
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string folder;
};

TEST_F(TunedChoices, AreOfTheDeviceAndTheNearestSize) {
  const Tuned known(folder);
  EXPECT_TRUE(known.problems().empty());
  const auto asked = [&](const char* device, const char* key, std::int64_t n) {
    const auto found = known.find("openmp", device, key, n);
    return found ? fmt::format("{}: {}", found->level, found->entry->way) : "none";
  };
  EXPECT_EQ(asked("A", "flux", 1000), "exact: block, 4 lanes, block_elements 1024");
  EXPECT_EQ(asked("A", "flux", 100'000), "size: colour, 4 lanes, block_elements 1024");
  EXPECT_EQ(asked("B \xc2\xae", "flux", 1000), "exact: atomic, 4 lanes, block_elements 1024");
  EXPECT_EQ(asked("A", "step", 1000), "device: direct, 4 lanes, block_elements 1024");
  EXPECT_EQ(asked("A", "other", 1000), "none");
  EXPECT_FALSE(known.find("cuda", "A", "flux", 1000));
}

TEST_F(TunedChoices, DamageIsALineAndTheRestIsUsed) {
  const std::string whole = file("A", entry("flux", 10, "block"));
  for (const auto& [text, why] : std::initializer_list<std::pair<std::string, std::string>>{
           {whole.substr(0, whole.size() / 2), "it is cut short"},
           {"", "it cannot be read, or is empty"},
           {file("A", entry("flux", 10, "block"), 1), "it has schema 1; this version reads 2"},
           {file("A", R"({"kind": "loop"})"), "no file of this kind"},
           {std::string(whole).replace(whole.find("\"us\": 2"), 7, "\"us\": 3"),
            "its checksum is wrong"}}) {
    write_tuned(folder + "/a.json", text);
    const Tuned known(folder);
    ASSERT_EQ(known.problems().size(), 1U) << why;
    EXPECT_NE(known.problems()[0].find(why), std::string::npos) << known.problems()[0];
    EXPECT_NE(known.problems()[0].find("a.json"), std::string::npos);
    EXPECT_EQ(known.find("openmp", "A", "flux", 1000)->level, "device");
  }
  write_tuned(folder + "/a.json", whole);
  ::chmod((folder + "/a.json").c_str(), 0666);
  EXPECT_EQ(Tuned(folder).problems().size(), 1U);
}

TEST_F(TunedChoices, OfAMissingFolderAreNone) {
  EXPECT_EQ(Tuned(folder + "/none").problems().size(), 1U);
  EXPECT_TRUE(Tuned(folder + "/none").is_empty());
  std::filesystem::create_directory(folder + "/empty");
  EXPECT_EQ(Tuned(folder + "/empty").problems().size(), 1U);
  EXPECT_TRUE(Tuned().problems().empty());
}

TEST(ProcessorName, IsTheModelOrTheArchitecture) {
  const auto name = [](const char* text) { return processor_name(text, "aarch64"); };
  EXPECT_EQ(name("processor\t: 0\nmodel\t\t: 106\nmodel name\t: Some CPU @ 2 GHz \n"),
            "Some CPU @ 2 GHz");
  EXPECT_EQ(name("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"),
            "aarch64 0x41 0xd0c");
  EXPECT_EQ(name("processor\t: 0\nmodel name\t:\nCPU part\t: 0xd0c"), "aarch64");
  EXPECT_EQ(name(""), "aarch64");
  EXPECT_FALSE(processor_name().empty());
}

}  // namespace
}  // namespace op2::api
