// SPDX-License-Identifier: BSD-3-Clause
#include "jit/device_service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "support.hpp"

namespace op2::jit {
namespace {

using testing::files_with;
using testing::is_tidy;
using testing::read_file;
using testing::TemporaryDirectory;
using testing::write_file;

/// A stand-in for a vendor's compiler: the binary is the source between brackets.
class Brackets : public DeviceCompiler {
 public:
  explicit Brackets(std::string device = "gpu0") : device_(std::move(device)) {}
  [[nodiscard]] std::string identity() const override { return "brackets 1.0 for " + device_; }
  [[nodiscard]] std::string suffix() const override { return ".br"; }
  [[nodiscard]] std::string compile(const std::string& source,
                                    const std::vector<std::string>& options) override {
    ++n_calls;
    std::this_thread::sleep_for(delay);
    if (source == "bad") throw CompilationError("rejected", "brackets", "line 1: bad", "");
    if (source == "broken") throw std::runtime_error("interrupted");
    std::string binary = "[" + source + "]";
    for (const std::string& option : options) binary += option;
    return binary;
  }
  std::atomic<int> n_calls = 0;
  std::chrono::milliseconds delay{0};

 private:
  std::string device_;
};

DeviceServiceOptions device_options_in(const std::filesystem::path& directory) {
  DeviceServiceOptions options;
  options.cache_dir = directory.string();
  options.max_disk_bytes = 1 << 20;
  options.max_memory_bytes = 1 << 20;
  options.compile_timeout_seconds = 10.0;
  return options;
}

class DeviceServiceTest : public ::testing::Test {
 protected:
  DeviceBinary get(const std::string& source, const std::vector<std::string>& options = {}) {
    return service.compile(compiler, source, options, "v1");
  }
  TemporaryDirectory directory;
  Brackets compiler;
  DeviceService service{device_options_in(directory.path())};
};

TEST_F(DeviceServiceTest, CompilesOnceThenRemembers) {
  const DeviceBinary first = get("a", {"-x"});
  EXPECT_EQ(*first.bytes, "[a]-x");
  EXPECT_EQ(first.origin, Origin::compiled);
  const DeviceBinary second = get("a", {"-x"});
  EXPECT_EQ(second.origin, Origin::memory);
  EXPECT_EQ(second.bytes, first.bytes);
  EXPECT_EQ(compiler.n_calls, 1);
  EXPECT_TRUE(is_tidy(directory.path()));
}

TEST_F(DeviceServiceTest, AnotherProcessFindsItOnDisk) {
  const DeviceBinary first = get("a");
  DeviceService other(device_options_in(directory.path()));
  const DeviceBinary found = other.compile(compiler, "a", {}, "v1");
  EXPECT_EQ(found.origin, Origin::disk);
  EXPECT_EQ(*found.bytes, *first.bytes);
  EXPECT_EQ(found.path, first.path);
  EXPECT_EQ(other.statistics().n_disk_hits, 1);
}

TEST_F(DeviceServiceTest, EverythingThatChangesTheBinaryIsInTheKey) {
  (void)get("a");
  EXPECT_EQ(get("a", {"-x"}).origin, Origin::compiled);
  EXPECT_EQ(get("a", {"-x", "-y"}).origin, Origin::compiled);
  EXPECT_EQ(get("a", {"-x -y"}).origin, Origin::compiled);
  EXPECT_EQ(service.compile(compiler, "a", {}, "v2").origin, Origin::compiled);
  Brackets elsewhere("gpu1");
  EXPECT_EQ(service.compile(elsewhere, "a", {}, "v1").origin, Origin::compiled);
}

TEST_F(DeviceServiceTest, DamagedEntriesAreMisses) {
  const DeviceBinary first = get("a");
  std::string bytes = read_file(first.path);
  bytes[1] = '?';
  write_file(first.path, bytes);
  DeviceService other(device_options_in(directory.path()));
  const DeviceBinary again = other.compile(compiler, "a", {}, "v1");
  EXPECT_EQ(again.origin, Origin::compiled);
  EXPECT_EQ(*again.bytes, "[a]");
  EXPECT_EQ(other.statistics().n_damaged, 1);
}

TEST_F(DeviceServiceTest, RejectedSourcesAreKeptAndTriedAgain) {
  for (int i = 1; i <= 2; ++i) {
    try {
      (void)get("bad");
      FAIL() << "a bad source was compiled";
    } catch (const CompilationError& error) {
      EXPECT_EQ(error.stderr_text(), "line 1: bad");
      EXPECT_EQ(read_file(error.source_path()), "bad");
      EXPECT_TRUE(error.source_path().ends_with(".failed.br"));
    }
    EXPECT_EQ(compiler.n_calls, i);
  }
  EXPECT_TRUE(is_tidy(directory.path()));
}

TEST_F(DeviceServiceTest, ThreadsShareOneFlight) {
  compiler.delay = std::chrono::milliseconds(100);
  std::vector<std::thread> threads;
  std::atomic<int> n_right = 0;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([this, &n_right] { n_right += *get("a").bytes == "[a]" ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_right, 6);
  EXPECT_EQ(compiler.n_calls, 1);
}

TEST_F(DeviceServiceTest, AnInterruptedFlightIsFlownAgain) {
  EXPECT_THROW((void)get("broken"), std::runtime_error);
  EXPECT_THROW((void)get("broken"), std::runtime_error);
  EXPECT_EQ(compiler.n_calls, 2);
}

TEST_F(DeviceServiceTest, MemoryIsBounded) {
  DeviceServiceOptions options = device_options_in(directory.path());
  options.use_disk = false;
  options.max_memory_bytes = 6;
  DeviceService small(options);
  const auto origin = [&](const std::string& source) {
    return small.compile(compiler, source, {}, "").origin;
  };
  EXPECT_EQ(origin("a"), Origin::compiled);
  EXPECT_EQ(origin("b"), Origin::compiled);
  EXPECT_EQ(origin("a"), Origin::memory);
  EXPECT_EQ(origin("c"), Origin::compiled);  // pushes b out
  EXPECT_EQ(origin("a"), Origin::memory);
  EXPECT_EQ(origin("b"), Origin::compiled);
  EXPECT_EQ(origin("larger than all memory"), Origin::compiled);
}

TEST_F(DeviceServiceTest, WithoutADirectoryItSaysSoOnce) {
  write_file(directory.path() / "file", "");
  DeviceService service_without(device_options_in(directory.path() / "file"));
  EXPECT_EQ(*service_without.compile(compiler, "a", {}, "").bytes, "[a]");
  EXPECT_EQ(*service_without.compile(compiler, "b", {}, "").bytes, "[b]");
  EXPECT_EQ(service_without.take_notices().size(), 1U);
  EXPECT_TRUE(service_without.take_notices().empty());
}

}  // namespace
}  // namespace op2::jit
