// SPDX-License-Identifier: BSD-3-Clause
#include "jit/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "support.hpp"

namespace op2::jit {
namespace {

using testing::TemporaryDirectory;

ProcessResult shell(const std::string& script, double seconds = 60.0) {
  return run_process({"/bin/sh", "-c", script}, {{"OP2_TEST", "a b"}}, {seconds, {}});
}

TEST(RunProcess, ReportsOutputAndExitCode) {
  const ProcessResult result = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
}

TEST(RunProcess, ReportsTheSignalThatKilled) {
  EXPECT_EQ(shell("kill -9 $$").signal, SIGKILL);
}

TEST(RunProcess, SetsTheEnvironmentAndReadsNothing) {
  EXPECT_EQ(shell("printf %s \"$OP2_TEST\"; cat").output, "a b");
}

TEST(RunProcess, StartsWithDefaultSignals) {
  struct sigaction ignore {};
  struct sigaction old {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &old);
  const ProcessResult result = shell("kill -PIPE $$; echo survived");
  ::sigaction(SIGPIPE, &old, nullptr);
  EXPECT_EQ(result.signal, SIGPIPE);
}

TEST(RunProcess, CollectsMoreThanAPipeHolds) {
  EXPECT_EQ(shell("head -c 1000000 /dev/zero").output.size(), 1000000U);
}

TEST(RunProcess, DoesNotWaitForWhatTheChildLeavesBehind) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = shell("sleep 60 & echo $!");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  ::kill(std::stoi(result.output), SIGKILL);
}

/// True if a process is there and has not ended.
bool runs(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string number;
  std::string name;
  std::string state;
  return file >> number >> name >> state && state != "Z" && state != "X";
}

TEST(RunProcess, StopsTheWholeGroupWhenTimeIsUp) {
  const ProcessResult result = shell("sleep 60 & echo $!; wait", 1.0);
  EXPECT_TRUE(result.timed_out);
  std::string pid;
  std::istringstream(result.output) >> pid;
  ASSERT_FALSE(pid.empty());
  for (int i = 0; i < 1000 && runs(pid); ++i) ::usleep(10000);
  EXPECT_FALSE(runs(pid));
}

TEST(RunProcess, AnInterruptStopsTheChild) {
  const Patience patience{60.0, [] { throw std::runtime_error("interrupted"); }};
  EXPECT_THROW((void)run_process({"/bin/sleep", "30"}, {}, patience), std::runtime_error);
}

TEST(RunProcess, SaysWhatCannotBeStarted) {
  const testing::TemporaryDirectory directory;
  const std::string missing = directory.path() / "cc";
  try {
    (void)run_process({missing}, {}, {1.0, {}});
    FAIL();
  } catch (const ToolchainError& error) {
    EXPECT_EQ(error.what(), "cannot start " + missing + ": No such file or directory");
  }
}

TEST(ShellText, QuotesWhatAShellWouldSplit) {
  EXPECT_EQ(shell_text({"/usr/bin/cc", "-O3", "a b", "it's", ""}),
            "/usr/bin/cc -O3 'a b' 'it'\\''s' ''");
}

}  // namespace
}  // namespace op2::jit
