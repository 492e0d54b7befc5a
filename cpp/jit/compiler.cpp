// SPDX-License-Identifier: BSD-3-Clause
#include "jit/compiler.hpp"

#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/canonical.hpp"
#include "base/error.hpp"
#include "jit/file.hpp"
#include "jit/process.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;

constexpr int oldest_gcc = 11;
constexpr int oldest_clang = 13;

/// Variables by which gcc and clang take flags and search paths.
constexpr std::array environment_inputs = {
    "CPATH",         "C_INCLUDE_PATH",  "CPLUS_INCLUDE_PATH",  "LIBRARY_PATH",
    "COMPILER_PATH", "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS"};

/// Whether `native` stands for one of @p options here.
bool is_told(const HostCompiler& compiler, std::initializer_list<std::string_view> options) {
  return std::ranges::any_of(compiler.resolved_arch, [options](const std::string& option) {
    return std::ranges::find(options, option) != options.end();
  });
}

std::vector<std::string> language_flags(Language language) {
  switch (language) {
    case Language::c:
      // An undeclared function would be called as int f(): wrong numbers instead of an error.
      return {"-std=gnu11", "-Werror=implicit-function-declaration"};
    case Language::cxx:
      return {"-std=gnu++17"};
  }
  throw InternalError("language_flags: not a Language");
}

std::vector<std::string> command_line(const HostCompiler& compiler, const fs::path& source,
                                      const fs::path& object,
                                      const std::vector<std::string>& extra_flags) {
  std::vector<std::string> command = compiler.command;
  const std::vector<std::string> flags = base_flags(compiler);
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-o", object.string(), source.string()});
  // After the source, because they may name libraries; later options win over the defaults too.
  command.insert(command.end(), extra_flags.begin(), extra_flags.end());
  command.emplace_back("-lm");
  return command;
}

/// The first line of @p output that holds one of @p phrases; empty if none does.
std::string line_with(std::string_view output, std::initializer_list<std::string_view> phrases) {
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    const bool holds_one = std::ranges::any_of(phrases, [line](std::string_view phrase) {
      return line.find(phrase) != std::string_view::npos;
    });
    if (holds_one) return std::string(line);
    output.remove_prefix(std::min(line.size() + 1, output.size()));
  }
  return "";
}

/// The system's words (in the C locale) for a place that takes no more bytes.
std::string storage_complaint(std::string_view output) {
  return line_with(output, {"No space left on device", "Disk quota exceeded", "File too large",
                            "Read-only file system", "Input/output error"});
}

void check_toolchain(const ProcessResult& result, const std::string& command,
                     const Patience& patience) {
  std::string reason;
  if (result.timed_out) {
    reason = fmt::format("took longer than {:g} s and was stopped", patience.seconds);
  } else if (result.signal != 0) {
    reason = fmt::format("was killed by signal {} ({}); the machine may be out of memory",
                         result.signal, ::strsignal(result.signal));
  } else if (result.exit_code != 0 && !tool_complaint(result.output).empty()) {
    reason = fmt::format("broke down: {}", tool_complaint(result.output));
  } else {
    return;
  }
  throw ToolchainError(
      fmt::format("the compiler {}\n  command: {}\n{}", reason, command, result.output), command,
      result.output, "");
}

/// Whether a source that nothing is wrong with fails, too: then the tools are broken, or lack what
/// they need, in words that nobody knows here.
void check_trial(const HostCompiler& compiler, const CompilePlace& place,
                 const Patience& patience) {
  const fs::path source = place.work_directory / ("trial" + source_suffix(compiler.language));
  write_new_file(source, "int op2_trial(int n) { return n; }\n");
  const fs::path object = place.work_directory / "trial.so";
  const std::vector<std::string> words = command_line(compiler, source, object, {});
  const ProcessResult result =
      run_process(words, {{"TMPDIR", place.work_directory.string()}, {"LC_ALL", "C"}}, patience);
  std::error_code ignored;
  fs::remove(source, ignored);
  fs::remove(object, ignored);
  check_toolchain(result, shell_text(words), patience);
  if (result.exit_code == 0) return;
  throw ToolchainError(fmt::format("the compiler compiles nothing, not even an empty function\n"
                                   "  command: {}\n{}",
                                   shell_text(words), result.output),
                       shell_text(words), result.output, "");
}

}  // namespace

std::string tool_complaint(std::string_view output) {
  return line_with(
      output,
      {"signal terminated program", "internal compiler error", "command failed due to signal",
       "unable to execute command", "terminated with signal", "cannot find 'ld'",
       "cannot execute '", "Too many open files", "Cannot allocate memory", "memory exhausted",
       "out of memory allocating", "Resource temporarily unavailable",
       "annot create temporary file", "Text file busy", "failed to map segment"});
}

std::vector<std::string> base_flags(const HostCompiler& compiler) {
  std::vector<std::string> flags = {"-O3", "-fno-math-errno"};
  flags.insert(flags.end(), compiler.native_flags.begin(), compiler.native_flags.end());
  flags.insert(flags.end(), compiler.mending_flags.begin(), compiler.mending_flags.end());
  const std::vector<std::string> language = language_flags(compiler.language);
  flags.insert(flags.end(), language.begin(), language.end());
  // The last two keep a kernel's functions its own: inlined although the object is shared, and
  // never replaced by a function of the same name somewhere else in the process.
  for (const char* flag :
       {"-pipe", "-fPIC", "-shared", "-fno-semantic-interposition", "-Wl,-Bsymbolic"}) {
    flags.emplace_back(flag);
  }
  return flags;
}

std::string source_suffix(Language language) {
  switch (language) {
    case Language::c:
      return ".c";
    case Language::cxx:
      return ".cpp";
  }
  throw InternalError("source_suffix: not a Language");
}

fs::path source_path(const HostCompiler& compiler, const fs::path& work_directory) {
  // Fixed base names: the source's name is part of the object's symbol table.
  return work_directory / ("loop" + source_suffix(compiler.language));
}

std::string keep_source(const HostCompiler& compiler, const CompilePlace& place) {
  std::error_code failure;
  const fs::path source = source_path(compiler, place.work_directory);
  if (source != place.kept_source) fs::rename(source, place.kept_source, failure);
  return failure ? "" : place.kept_source.string();
}

std::string why_old(const HostCompiler& compiler) {
  constexpr std::string_view word = " version ";
  const std::size_t at = compiler.version.find(word);
  if (at == std::string::npos) return "";
  const int number = std::atoi(compiler.version.c_str() + at + word.size());
  const bool is_clang = compiler.version.find("clang") != std::string::npos;
  if (number == 0 || number >= (is_clang ? oldest_clang : oldest_gcc)) return "";
  const std::string_view variable =
      compiler.language == Language::c ? "PYOP2CXX_CC" : "PYOP2CXX_CXX";
  return fmt::format(
      "the compiler {} ({}) is older than GCC {} and Clang {}, the oldest that loops are tested "
      "with: wrong results are possible; install a newer one, or set {} to one",
      compiler.path, compiler.version, oldest_gcc, oldest_clang, variable);
}

int vector_bytes(const HostCompiler& compiler) {
  if (is_told(compiler, {"-mavx512f", "+avx512f"})) return 64;
  if (is_told(compiler, {"-mavx", "+avx"})) return 32;
  return is_told(compiler, {"-msse2", "+sse2", "+neon", "-mabi=lp64"}) ? 16 : 0;
}

int gather_bytes(const HostCompiler& compiler) {
  if (is_told(compiler, {"-mavx512f", "+avx512f"})) return 64;
  return is_told(compiler, {"-mavx2", "+avx2"}) ? 32 : 0;
}

std::string compiler_identity(const HostCompiler& compiler,
                              const std::vector<std::string>& extra_flags) {
  Canonical key;
  const auto list = [&key](std::string_view name, const std::vector<std::string>& values) {
    key.open(name);
    for (const std::string& value : values) key.text(value);
    key.close();
  };
  key.open("compiler").text(compiler.path).text(compiler.version);
  list("command", compiler.command);
  list("flags", base_flags(compiler));
  list("extra", extra_flags);
  list("arch", compiler.resolved_arch);
  key.open("environment");
  for (const char* name : environment_inputs) {
    const char* value = std::getenv(name);
    if (value != nullptr) key.text(name).text(value);
  }
  key.close();
  // An object linked against a newer libc does not load with an older one.
  key.text(::gnu_get_libc_version()).close();
  return key.str();
}

fs::path compile(const HostCompiler& compiler, const std::string& source,
                 const std::vector<std::string>& extra_flags, const CompilePlace& place,
                 const Patience& patience) {
  const fs::path source_file = source_path(compiler, place.work_directory);
  const fs::path object_file = place.work_directory / "loop.so";
  write_new_file(source_file, source);
  const std::vector<std::string> words =
      command_line(compiler, source_file, object_file, extra_flags);
  const std::string command = shell_text(words);
  const ProcessResult result =
      run_process(words, {{"TMPDIR", place.work_directory.string()}, {"LC_ALL", "C"}}, patience);

  const bool failed = result.signal != 0 || result.exit_code != 0;
  const std::string complaint = failed ? storage_complaint(result.output) : "";
  if (!complaint.empty()) {
    throw StorageError(fmt::format("the compiler could not write to {}: {}",
                                   place.work_directory.parent_path().string(), complaint));
  }
  check_toolchain(result, command, patience);
  if (failed) {
    check_trial(compiler, place, patience);
    const std::string kept = keep_source(compiler, place);
    // One that can be run again: the work directory is about to go.
    const fs::path beside = fs::path(kept).replace_extension(".so");
    const std::string again =
        kept.empty() ? command : shell_text(command_line(compiler, kept, beside, extra_flags));
    throw CompilationError(
        fmt::format("the compiler rejected a generated source\n  command: {}\n  source: {}\n{}",
                    again, kept, result.output),
        again, result.output, kept);
  }
  std::error_code missing;
  if (fs::file_size(object_file, missing) == 0 || missing) {
    throw ToolchainError(fmt::format("the compiler reported success but wrote no object\n"
                                     "  command: {}\n{}",
                                     command, result.output),
                         command, result.output, "");
  }
  return object_file;
}

std::string ask_compiler(const HostCompiler& compiler, const std::vector<std::string>& arguments,
                         const Patience& patience) {
  std::vector<std::string> words = compiler.command;
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string command = shell_text(words);
  ProcessResult result = run_process(words, {{"LC_ALL", "C"}}, patience);
  check_toolchain(result, command, patience);
  if (result.exit_code == 0) return std::move(result.output);
  throw CompilationError(
      fmt::format("the compiler has failed\n  command: {}\n{}", command, result.output), command,
      result.output, "");
}

}  // namespace op2::jit
