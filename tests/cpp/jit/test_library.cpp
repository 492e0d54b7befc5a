// SPDX-License-Identifier: BSD-3-Clause
#include "jit/library.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "support.hpp"

namespace op2::jit {
namespace {

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const ToolchainError& error) {
    return error.what();
  }
  return "";
}

TEST(Library, FindsSymbolsAndSurvivesAMove) {
  Library library("libm.so.6");
  Library moved = std::move(library);
  const auto cosine = reinterpret_cast<double (*)(double)>(moved.symbol("cos"));
  EXPECT_EQ(cosine(0.0), 1.0);
}

TEST(Library, SaysWhichSymbolIsMissing) {
  const Library library("libm.so.6");
  const std::string message = message_of([&library] { (void)library.symbol("op2_nothing"); });
  EXPECT_NE(message.find("libm.so.6 has no symbol 'op2_nothing'"), std::string::npos) << message;
}

TEST(Library, SaysWhatDoesNotLoad) {
  const testing::TemporaryDirectory directory;
  const auto path = directory.path() / "text.so";
  testing::write_file(path, "not an object");
  const std::string message = message_of([&path] { const Library library(path); });
  EXPECT_NE(message.find("cannot load " + path.string()), std::string::npos) << message;
}

// Without the pin, the second region runs into threads whose code is gone, or the process dies
// before it gets there.
TEST(Library, UnloadingAnOpenMpKernelLeavesItsThreadsTheirCode) {
  const testing::TemporaryDirectory directory;
  Options options = testing::options_in(directory.path());
  options.max_memory_entries = 0;
  Service service(options);
  const std::string source =
      "void add(double *x, long n) {\n"
      "#pragma omp parallel for num_threads(2)\n"
      "  for (long i = 0; i < n; ++i) x[i] += 1.0;\n"
      "}\n";
  std::vector<double> x(100, 0.0);
  for (int round = 0; round < 3; ++round) {
    const Loaded loaded = service.load(source, Language::c, {"-fopenmp"}, "");
    const auto add = reinterpret_cast<void (*)(double*, long)>(loaded.library->symbol("add"));
    add(x.data(), static_cast<long>(x.size()));
    EXPECT_EQ(loaded.library.use_count(), 1);
  }
  ::usleep(50000);
  EXPECT_EQ(x[99], 3.0);
}

}  // namespace
}  // namespace op2::jit
