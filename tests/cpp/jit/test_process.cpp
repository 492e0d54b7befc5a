// SPDX-License-Identifier: BSD-3-Clause
#include "jit/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <stdexcept>

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
  EXPECT_EQ(shell("sleep 5 & echo started").output, "started\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST(RunProcess, StopsTheWholeGroupWhenTimeIsUp) {
  const TemporaryDirectory directory;
  const std::string late = (directory.path() / "late").string();
  EXPECT_TRUE(shell("(sleep 1; touch " + late + ") & wait", 0.2).timed_out);
  ::usleep(1200000);
  EXPECT_FALSE(std::filesystem::exists(late));
}

TEST(RunProcess, AnInterruptStopsTheChild) {
  const Patience patience{60.0, [] { throw std::runtime_error("interrupted"); }};
  EXPECT_THROW((void)run_process({"/bin/sleep", "30"}, {}, patience), std::runtime_error);
}

TEST(RunProcess, SaysWhatCannotBeStarted) {
  try {
    (void)run_process({"/nonexistent/cc"}, {}, {1.0, {}});
    FAIL();
  } catch (const ToolchainError& error) {
    EXPECT_STREQ(error.what(), "cannot start /nonexistent/cc: No such file or directory");
  }
}

TEST(ShellText, QuotesWhatAShellWouldSplit) {
  EXPECT_EQ(shell_text({"/usr/bin/cc", "-O3", "a b", "it's", ""}),
            "/usr/bin/cc -O3 'a b' 'it'\\''s' ''");
}

}  // namespace
}  // namespace op2::jit
