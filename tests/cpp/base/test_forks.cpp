// SPDX-License-Identifier: BSD-3-Clause
#include "base/forks.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace op2 {
namespace {

TEST(Forks, OnlyTheChildSeesMore) {
  const std::int64_t before = forks_so_far();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(forks_so_far() == before + 1 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(forks_so_far(), before);
}

}  // namespace
}  // namespace op2
