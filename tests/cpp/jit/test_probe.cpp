// SPDX-License-Identifier: BSD-3-Clause
#include "jit/probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/message_of.hpp"
#include "base/small_file.hpp"
#include "support.hpp"

namespace op2::jit {
namespace {

using testing::ScopedVariable;
using testing::TemporaryDirectory;

const Patience a_minute{60.0, {}};

HostCompiler probe(Language language, const std::string& name) {
  return probe_compiler(language, find_compiler(language, name), a_minute);
}

TEST(FindCompiler, TakesOptionThenVariableThenDefault) {
  const TemporaryDirectory directory;
  const std::string fake = testing::write_compiler(directory.path() / "fake", "true");
  const ScopedVariable variable("PYOP2CXX_CC", fake);
  EXPECT_EQ(find_compiler(Language::c, "").front(), fake);
  EXPECT_NE(find_compiler(Language::c, "cc").front(), fake);
  const ScopedVariable unset("PYOP2CXX_CC", std::nullopt);
  EXPECT_EQ(std::filesystem::path(find_compiler(Language::c, "").front()).filename(), "cc");
  EXPECT_EQ(std::filesystem::path(find_compiler(Language::cxx, "c++").front()).filename(), "c++");
}

TEST(FindCompiler, AcceptsArgumentsAndBlanksInPaths) {
  const TemporaryDirectory directory;
  const std::string fake = testing::write_compiler(directory.path() / "my cc", "true");
  EXPECT_EQ(find_compiler(Language::c, fake), std::vector<std::string>{fake});
  const std::vector<std::string> command = find_compiler(Language::c, "cc -m64  -g");
  ASSERT_EQ(command.size(), 3U);
  EXPECT_EQ(command[1], "-m64");
  EXPECT_EQ(command[2], "-g");
}

TEST(FindCompiler, SaysWhatItMissedAndWhatToDo) {
  const TemporaryDirectory directory;
  const std::string folder = directory.path().string();
  const ScopedVariable path("PATH", folder);
  const ScopedVariable variable("PYOP2CXX_CXX", std::nullopt);
  const ScopedVariable usual("CXX", "conda-c++ -m64");
  const std::string said =
      op2::testing::message_of<ToolchainError>([] { (void)find_compiler(Language::cxx, ""); });
  EXPECT_TRUE(op2::testing::contains(
      said,
      "no C++ compiler: looked for 'c++', 'conda-c++ -m64', 'g++', 'clang++' in PATH=" + folder +
          " (PYOP2CXX_CXX is not set); install one (Debian, Ubuntu: apt-get install g++;",
      "conda install cxx-compiler", "pip install ziglang, and PYOP2CXX_CXX=zig",
      "or set PYOP2CXX_CXX to one"));
}

TEST(FindCompiler, TakesOtherProgramsOnlyForTheUsualName) {
  const TemporaryDirectory directory;
  const std::string gcc = testing::write_compiler(directory.path() / "gcc", "true");
  const ScopedVariable path("PATH", directory.path().string());
  const ScopedVariable variable("PYOP2CXX_CC", std::nullopt);
  const ScopedVariable none("CC", std::nullopt);
  EXPECT_EQ(find_compiler(Language::c, "cc"), std::vector<std::string>{gcc});
  EXPECT_THROW((void)find_compiler(Language::c, "icc"), ToolchainError);
  const std::string of_conda = testing::write_compiler(directory.path() / "conda-cc", "true");
  const ScopedVariable usual("CC", "conda-cc -m64");
  EXPECT_EQ(find_compiler(Language::c, ""), (std::vector<std::string>{of_conda, "-m64"}));
}

TEST(FindCompiler, WantsAProgram) {
  const TemporaryDirectory directory;
  testing::write_file(directory.path() / "data", "");
  EXPECT_THROW((void)find_compiler(Language::c, (directory.path() / "data").string()),
               ToolchainError);
  EXPECT_THROW((void)find_compiler(Language::c, directory.path().string()), ToolchainError);
  EXPECT_THROW((void)find_compiler(Language::c, "  "), ToolchainError);
}

class ProbeCompiler : public ::testing::TestWithParam<std::string> {};

TEST_P(ProbeCompiler, KnowsVersionAndProcessor) {
  try {
    (void)find_compiler(Language::c, GetParam());
  } catch (const ToolchainError&) {
    GTEST_SKIP() << GetParam() << " is not installed";
  }
  const HostCompiler compiler = probe(Language::c, GetParam());
  EXPECT_NE(compiler.version.find(" version "), std::string::npos) << compiler.version;
  EXPECT_FALSE(compiler.native_flags.empty());
  EXPECT_GT(compiler.resolved_arch.size(), 1U);
  for (const std::string& option : compiler.resolved_arch) {
    EXPECT_EQ(option.find("native"), std::string::npos) << option;
    EXPECT_EQ(option.find("/tmp"), std::string::npos) << option;
  }
  EXPECT_EQ(probe(Language::c, GetParam()), compiler);
  EXPECT_EQ(read_probe(write_probe(compiler), Language::c, compiler.command), compiler);
}

INSTANTIATE_TEST_SUITE_P(Compilers, ProbeCompiler, ::testing::Values("gcc", "clang"));

TEST(ProbeCompiler, FallsBackWhereNativeIsUnknown) {
  const TemporaryDirectory directory;
  const std::filesystem::path old = directory.path() / "old-cc";
  testing::write_file(old,
                      "#!/bin/sh\ncase \"$*\" in *native*) exit 1;; esac\n"
                      "echo 'old version 1'\necho ' /lib/cc1 -mfoo \"-mbar\" -triple x -q'\n");
  std::filesystem::permissions(old, std::filesystem::perms::owner_all);
  const HostCompiler compiler = probe(Language::c, old.string());
  EXPECT_TRUE(compiler.native_flags.empty());
  EXPECT_EQ(compiler.version, "old version 1");
  EXPECT_EQ(compiler.resolved_arch, (std::vector<std::string>{"-mfoo", "-mbar", "-triple", "x"}));
}

/// A compiler of @p version for @p processor that rejects flags of the shell's pattern @p rejected.
HostCompiler probe_fake(const std::string& version, const std::string& processor,
                        const std::string& rejected) {
  const TemporaryDirectory directory;
  const std::filesystem::path fake = directory.path() / "fake-cc";
  testing::write_file(fake, "#!/bin/sh\ncase \"$*\" in " + rejected + ") exit 1;; esac\necho '" +
                                version + "'\necho ' /lib/cc1 " + processor + "'\n");
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  return probe(Language::c, fake.string());
}

TEST(ProbeCompiler, MendsGccByTheAssemblerOrElseByTheCompiler) {
  using Flags = std::vector<std::string>;
  const auto mended = [](const auto&... about) { return probe_fake(about...).mending_flags; };
  const Flags by_assembler{"-Wa,-muse-unaligned-vector-move"};
  const Flags by_compiler{"--param=vect-epilogues-nomask=0"};
  EXPECT_EQ(mended("gcc version 12", "-mavx512f", "never"), by_assembler);
  EXPECT_EQ(mended("gcc version 12", "-mavx2", "never"), by_assembler);  // other processors, ahead
  EXPECT_EQ(mended("gcc version 11", "-mavx512f", "*-Wa,*"), by_compiler);
  EXPECT_EQ(mended("gcc version 11", "-mavx2", "*-Wa,*"), Flags{});
  EXPECT_EQ(mended("gcc version 11", "-mavx512f", "*-Wa,*|*--param*"), Flags{});
  EXPECT_EQ(mended("clang version 18", "-mavx512f", "never"), Flags{});

  const HostCompiler compiler = probe_fake("gcc version 12", "-mavx512f", "never");
  EXPECT_EQ(read_probe(write_probe(compiler), Language::c, compiler.command), compiler);
  const Flags flags = base_flags(compiler);
  EXPECT_NE(std::find(flags.begin(), flags.end(), by_assembler.front()), flags.end());
}

TEST(ProbeCompiler, RefusesWhatIsNoCompiler) {
  try {
    (void)probe(Language::c, "false");
    FAIL();
  } catch (const ToolchainError& error) {
    EXPECT_NE(std::string(error.what()).find("false does not answer like gcc or clang"),
              std::string::npos)
        << error.what();
  }
}

TEST(ProbeKey, IsThatOfTheProgramFile) {
  const TemporaryDirectory directory;
  const auto copy = directory.path() / "my-gcc";
  std::filesystem::copy_file("/bin/true", copy);
  const std::string key = probe_key(Language::c, {copy.string()});
  EXPECT_NE(key, "");
  EXPECT_NE(key, probe_key(Language::cxx, {copy.string()}));
  EXPECT_NE(key, probe_key(Language::c, {copy.string(), "-m32"}));
  std::filesystem::last_write_time(
      copy, std::filesystem::file_time_type::clock::now() - std::chrono::hours(5));
  EXPECT_NE(key, probe_key(Language::c, {copy.string()}));
  // another machine may have the same file in the same place
  const std::string boot = text_of_file("/proc/sys/kernel/random/boot_id");
  ASSERT_FALSE(boot.empty());
  EXPECT_NE(key.find(boot), std::string::npos);
}

TEST(ProbeKey, IsNoneForWrappers) {
  const TemporaryDirectory directory;
  const std::string script = testing::write_compiler(directory.path() / "gcc", "true");
  EXPECT_EQ(probe_key(Language::c, {script}), "");
  std::filesystem::copy_file("/bin/true", directory.path() / "ccache");
  EXPECT_EQ(probe_key(Language::c, {(directory.path() / "ccache").string()}), "");
}

}  // namespace
}  // namespace op2::jit
