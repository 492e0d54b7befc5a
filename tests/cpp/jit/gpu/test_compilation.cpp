// SPDX-License-Identifier: BSD-3-Clause
#include "jit/gpu/compilation.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "../../base/message_of.hpp"
#include "base/error.hpp"

namespace op2::jit::gpu {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

constexpr std::string_view log_text = "line 3: what is this?\n";
constexpr std::string_view code_text = "code";

Result outcome = success;
int n_programs = 0;

template <const std::string_view& text>
Result size_of(ProgramHandle /*program*/, std::size_t* size) {
  *size = text.size() + (&text == &log_text ? 1 : 0);
  return success;
}
template <const std::string_view& text>
Result read(ProgramHandle /*program*/, char* to) {
  std::memcpy(to, text.data(), text.size());
  return success;
}

/// A library whose compilations end as `outcome` says; the real ones are in the vendors' tests.
Library library_of_words() {
  Library library;
  library.name = "OwnRTC";
  library.command = "ownrtc";
  library.file = "loop.own";
  library.path = "/opt/own.so";
  library.major = 3;
  library.create_program = [](ProgramHandle*, const char* source, const char* name, int,
                              const char* const*, const char* const*) {
    ++n_programs;
    return source[0] == '\0' || std::string_view(name) != "loop.own" ? invalid_option : success;
  };
  library.destroy_program = [](ProgramHandle*) {
    --n_programs;
    return success;
  };
  library.compile_program = [](ProgramHandle, int n, const char* const* words) {
    return n == 2 && std::string_view(words[1]) == "-O3" ? outcome : invalid_option;
  };
  library.get_error_string = [](Result) { return "ERROR_OF_OWN"; };
  library.get_program_log_size = size_of<log_text>;
  library.get_program_log = read<log_text>;
  library.get_cubin_size = size_of<code_text>;
  library.get_cubin = read<code_text>;
  return library;
}

TEST(Compilation, HandsOverWhatTheLibraryMade) {
  const Library library = library_of_words();
  {
    outcome = success;
    Compilation compilation(library, "text");
    compilation.run({"-std=c++17", "-O3"});
    EXPECT_EQ(compilation.cubin(), "code");
    EXPECT_EQ(n_programs, 1);
  }
  EXPECT_EQ(n_programs, 0);
}

TEST(Compilation, ARejectedSourceIsShownWithTheCommandAndTheLog) {
  const Library library = library_of_words();
  outcome = compilation_failed;
  Compilation compilation(library, "text");
  const std::string message = message_of<CompilationError>([&] {
    compilation.run({"-std=c++17", "-O3"});
  });
  EXPECT_EQ(message,
            "OwnRTC rejected a generated source\n  command: ownrtc -std=c++17 -O3\n"
            "line 3: what is this?");
}

TEST(Compilation, ABrokenLibraryIsNamed) {
  const Library library = library_of_words();
  Compilation compilation(library, "text");
  const std::string message = message_of<ToolchainError>([&] { compilation.run({"-O0"}); });
  EXPECT_TRUE(contains(message, "OwnRTC 3.0 at /opt/own.so failed (ERROR_OF_OWN)", "ownrtc -O0"));
  EXPECT_TRUE(contains(message_of<ToolchainError>([&] { Compilation(library, ""); }),
                       "OwnRTC at /opt/own.so cannot take a source: ERROR_OF_OWN"));
}

}  // namespace
}  // namespace op2::jit::gpu
