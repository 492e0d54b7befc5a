// SPDX-License-Identifier: BSD-3-Clause
#include "jit/compiler.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "base/error.hpp"
#include "jit/file.hpp"
#include "jit/probe.hpp"
#include "support.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;
using testing::ScopedVariable;
using testing::TemporaryDirectory;

/// One compilation in a directory of its own.
struct Bench {
  TemporaryDirectory directory;
  CompilePlace place{directory.path(), directory.path() / "kept.c"};
  Patience patience{60.0, {}};

  HostCompiler compiler(const std::string& name, Language language = Language::c) const {
    return probe_compiler(language, find_compiler(language, name), patience);
  }
  HostCompiler fake(const std::string& body) const {
    return compiler(testing::write_compiler(directory.path() / "fake", body));
  }
  fs::path run(const HostCompiler& with, const std::string& source,
               const std::vector<std::string>& flags = {}) const {
    return compile(with, source, flags, place, patience);
  }
  /// The message of the ToolchainError that @p with ends in.
  std::string failure(const HostCompiler& with) const {
    try {
      (void)run(with, testing::source_of(1));
    } catch (const CompilationError&) {
      return "CompilationError";
    } catch (const ToolchainError& error) {
      return error.what();
    }
    return "";
  }
};

TEST(Compile, BothLanguages) {
  const Bench bench;
  EXPECT_TRUE(fs::exists(bench.run(bench.compiler("cc"), testing::source_of(1))));
  EXPECT_TRUE(fs::exists(bench.run(bench.compiler("c++", Language::cxx),
                                   "template <class T> struct S {}; S<int> s;")));
}

TEST(Compile, EqualSourcesGiveEqualObjects) {
  const Bench a;
  const Bench b;
  const HostCompiler cc = a.compiler("cc");
  EXPECT_EQ(testing::read_file(a.run(cc, testing::source_of(1))),
            testing::read_file(b.run(cc, testing::source_of(1))));
}

TEST(Compile, KeepsARejectedSource) {
  const Bench bench;
  const std::string source = "int f(void) { return nonsense; }\n";
  try {
    (void)bench.run(bench.compiler("cc"), source);
    FAIL();
  } catch (const CompilationError& error) {
    EXPECT_EQ(error.source_path(), bench.place.kept_source);
    EXPECT_EQ(testing::read_file(error.source_path()), source);
    EXPECT_NE(error.stderr_text().find("nonsense"), std::string::npos);
    EXPECT_NE(error.command().find("-fno-math-errno"), std::string::npos);
    EXPECT_NE(error.command().find(error.source_path()), std::string::npos);
    EXPECT_EQ(error.command().find("loop.c"), std::string::npos);  // the source that is gone
    const std::string message = error.what();
    EXPECT_NE(message.find(error.command()), std::string::npos);
    EXPECT_NE(message.find(error.source_path()), std::string::npos);
    EXPECT_NE(message.find(error.stderr_text()), std::string::npos);
  }
}

TEST(Compile, RejectsUndeclaredFunctions) {
  const Bench bench;
  EXPECT_THROW((void)bench.run(bench.compiler("cc"), "double f(double x) { return g(x); }\n"),
               CompilationError);
}

TEST(Compile, LaterFlagsWin) {
  const Bench bench;
  const HostCompiler cc = bench.compiler("cc");
  const std::string source =
      "#ifndef __STRICT_ANSI__\n#error gnu\n#endif\n#ifdef __OPTIMIZE__\n#error O3\n#endif\n"
      "int x;\n";
  EXPECT_THROW((void)bench.run(cc, source), CompilationError);
  const Bench other;
  EXPECT_TRUE(fs::exists(other.run(cc, source, {"-O0", "-std=c11"})));
}

TEST(Compile, SaysHowTheCompilerDied) {
  const Bench bench;
  const std::string message = bench.failure(bench.fake("kill -9 $$"));
  EXPECT_NE(message.find("killed by signal 9"), std::string::npos) << message;
}

TEST(Compile, ADeadCompilerIsNoVerdictOnTheSource) {
  const Bench bench;
  for (const char* words :
       {"fatal error: Killed signal terminated program cc1",
        "internal compiler error: Segmentation fault", "collect2: fatal error: cannot find ld",
        "/usr/bin/ld: cannot find -lm: Too many open files", "words that nobody knows"}) {
    const std::string message =
        bench.failure(bench.fake("echo '" + std::string(words) + "' >&2; exit 1"));
    EXPECT_TRUE(message.find("broke down") != std::string::npos ||
                message.find("compiles nothing, not even an empty function") != std::string::npos)
        << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
    fs::remove(bench.directory.path() / "loop.c");
  }
}

TEST(Compile, SaysWhenTimeIsUp) {
  Bench bench;
  const HostCompiler slow = bench.fake("sleep 60");
  bench.patience.seconds = 0.2;
  const std::string message = bench.failure(slow);
  EXPECT_NE(message.find("took longer than 0.2 s"), std::string::npos) << message;
}

TEST(Compile, BelievesNoSuccessWithoutAnObject) {
  const Bench bench;
  const std::string message = bench.failure(bench.fake("exit 0"));
  EXPECT_NE(message.find("wrote no object"), std::string::npos) << message;
}

TEST(Compile, AFullDiskIsNoVerdictOnTheSource) {
  const Bench bench;
  const HostCompiler full = bench.fake("echo 'ld: x.so: No space left on device' >&2; exit 1");
  EXPECT_THROW((void)bench.run(full, testing::source_of(1)), StorageError);
}

TEST(Compile, KeepsTheCompilersFilesInItsDirectory) {
  const Bench bench;
  const std::string log = (bench.directory.path() / "log").string();
  (void)bench.run(bench.fake("echo $TMPDIR $LC_ALL > " + log), testing::source_of(1));
  EXPECT_EQ(testing::read_file(log), bench.directory.path().string() + " C\n");
}

TEST(HostCompiler, SaysHowWideVectorsAre) {
  HostCompiler compiler;
  const auto found = [&compiler](const char* option) {
    compiler.resolved_arch = {option};
    return std::pair(vector_bytes(compiler), gather_bytes(compiler));
  };
  EXPECT_EQ(found("-mavx512f"), std::pair(64, 64));
  EXPECT_EQ(found("+avx"), std::pair(32, 0));
  EXPECT_EQ(found("+sse2"), std::pair(16, 0));
  compiler.resolved_arch = {"-mavx", "-mavx2"};
  EXPECT_EQ(gather_bytes(compiler), 32);
}

TEST(HostCompiler, SaysWhetherItIsOld) {
  HostCompiler compiler;
  compiler.path = "/usr/bin/gcc-8";
  compiler.version = "gcc version 8.5.0 20210514 (Red Hat 8.5.0-20) (GCC)";
  EXPECT_NE(why_old(compiler).find("/usr/bin/gcc-8 (gcc version 8.5.0"), std::string::npos);
  EXPECT_NE(why_old(compiler).find("set PYOP2CXX_CC to one"), std::string::npos);
  compiler.language = Language::cxx;
  compiler.version = "Ubuntu clang version 10.0.0-4ubuntu1";
  EXPECT_NE(why_old(compiler).find("set PYOP2CXX_CXX to one"), std::string::npos);
  for (const char* fine : {"gcc version 12.2.0 (Debian 12.2.0-14)", "clang version 22.1.8",
                           "Debian clang version 14.0.6", "a compiler of its own", ""}) {
    compiler.version = fine;
    EXPECT_EQ(why_old(compiler), "");
  }
}

TEST(CompilerIdentity, ChangesWithEverythingThatMatters) {
  const HostCompiler a{Language::c, {"/usr/bin/cc"},   "/usr/bin/gcc-12",
                       "12",        {"-march=native"}, {"-mavx"}};
  const std::string identity = compiler_identity(a, {});
  const auto differs = [&identity](const HostCompiler& other) {
    return compiler_identity(other, {}) != identity;
  };
  HostCompiler b = a;
  b.version = "13";
  EXPECT_TRUE(differs(b));
  b = a;
  b.path = "/usr/bin/gcc-13";
  EXPECT_TRUE(differs(b));
  b = a;
  b.command.emplace_back("-m32");
  EXPECT_TRUE(differs(b));
  b = a;
  b.resolved_arch = {"-mavx512f"};
  EXPECT_TRUE(differs(b));
  b = a;
  b.mending_flags = {"-Wa,-muse-unaligned-vector-move"};
  EXPECT_TRUE(differs(b));
  b = a;
  b.language = Language::cxx;
  EXPECT_TRUE(differs(b));
  EXPECT_NE(compiler_identity(a, {"-g"}), identity);
  EXPECT_NE(compiler_identity(a, {"-g", "-p"}), compiler_identity(a, {"-g -p"}));
  const ScopedVariable path("CPATH", "/opt/include");
  EXPECT_TRUE(differs(a));
}

}  // namespace
}  // namespace op2::jit
