// SPDX-License-Identifier: BSD-3-Clause
#include "jit/probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/canonical.hpp"
#include "base/error.hpp"
#include "base/small_file.hpp"
#include "jit/file.hpp"
#include "jit/process.hpp"

namespace op2::jit {
namespace {

namespace fs = std::filesystem;

struct Convention {
  const char* variable;               // environment variable that names the compiler
  const char* program;                // without one
  std::array<const char*, 2> others;  // looked for where the program is missing
  const char* usual_variable;         // set by conda's and other environments for their compiler
  const char* kind;                   // for messages
  const char* install;
  const char* driver_name;  // of -x
};

const Convention& convention_of(Language language) {
  static constexpr Convention c{
      "PYOP2CXX_CC",
      "cc",
      {"gcc", "clang"},
      "CC",
      "C",
      "Debian, Ubuntu: apt-get install gcc; Fedora: dnf install gcc; conda install c-compiler; "
      "without any of these: pip install ziglang, and PYOP2CXX_CC=zig",
      "c"};
  static constexpr Convention cxx{"PYOP2CXX_CXX",
                                  "c++",
                                  {"g++", "clang++"},
                                  "CXX",
                                  "C++",
                                  "Debian, Ubuntu: apt-get install g++; Fedora: dnf install "
                                  "gcc-c++; conda install cxx-compiler; "
                                  "without any of these: pip install ziglang, and PYOP2CXX_CXX=zig",
                                  "c++"};
  switch (language) {
    case Language::c:
      return c;
    case Language::cxx:
      return cxx;
  }
  throw InternalError("convention_of: not a Language");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

/// The file that @p name runs; empty if there is none.
std::string program_path(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) {
    return is_program(name) ? fs::absolute(name).string() : "";
  }
  for (const std::string& directory : split(search_path, ':')) {
    const std::string candidate = directory + "/" + name;
    if (is_program(candidate)) return fs::absolute(candidate).string();
  }
  return "";
}

/// What the driver would hand to the compiler proper, of that what selects the processor.
std::vector<std::string> target_options(std::string_view dry_run) {
  constexpr std::array with_value = {"--param",         "-triple",     "-target-cpu",
                                     "-target-feature", "-target-abi", "-tune-cpu"};
  std::vector<std::string> options;
  for (const std::string& line : split(dry_run, '\n')) {
    if (line.front() != ' ' || line.find("cc1") == std::string::npos) continue;
    bool takes_value = false;
    for (std::string& word : split(line, ' ')) {
      std::erase(word, '"');
      const bool introduces_value = std::ranges::find(with_value, word) != with_value.end();
      const bool is_machine_option = word.starts_with("-m") && word != "-main-file-name";
      if (takes_value || introduces_value || is_machine_option) options.push_back(word);
      takes_value = introduces_value;
    }
    break;
  }
  return options;
}

std::string version_line(std::string_view dry_run) {
  for (const std::string& line : split(dry_run, '\n')) {
    if (line.find(" version ") != std::string::npos) return line;
  }
  return "";
}

/// GCC 11 and 12 with vectors of 64 bytes store rows of a local array by instructions for addresses
/// aligned to 32 bytes, but align the array to 16. The assembler makes instructions for all
/// addresses of them, of equal length and speed. An older assembler has no such option. Loops then
/// take single steps behind the last whole vector.
std::vector<std::string> mending_flags(const HostCompiler& compiler, const Patience& patience) {
  if (!compiler.version.starts_with("gcc version ")) return {};
  const auto accepts = [&](const char* flag) {
    std::vector<std::string> words = compiler.command;
    words.insert(words.end(), {flag, "-c", "-o", "/dev/null", "-x",
                               convention_of(compiler.language).driver_name, "/dev/null"});
    const ProcessResult result = run_process(words, {{"LC_ALL", "C"}}, patience);
    return result.exit_code == 0 && result.signal == 0 && !result.timed_out;
  };
  constexpr const char* by_assembler = "-Wa,-muse-unaligned-vector-move";
  constexpr const char* by_compiler = "--param=vect-epilogues-nomask=0";
  if (accepts(by_assembler)) return {by_assembler};
  if (vector_bytes(compiler) == 64 && accepts(by_compiler)) return {by_compiler};
  return {};
}

bool is_machine_code(const std::string& path) {
  std::array<char, 4> start{};
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file &&
         ::read(file.get(), start.data(), start.size()) == static_cast<ssize_t>(start.size()) &&
         std::string_view(start.data(), start.size()) == "\177ELF";
}

std::string real_path(const std::string& path) {
  std::error_code failure;
  const fs::path real = fs::canonical(path, failure);
  return failure ? path : real.string();
}

/// What is looked for, in this order: only @p wanted, unless it is the usual name.
std::vector<std::string> candidates(const Convention& convention, const std::string& wanted) {
  std::vector<std::string> found{wanted};
  if (wanted != convention.program) return found;
  const char* usual = std::getenv(convention.usual_variable);
  if (usual != nullptr && *usual != '\0') found.emplace_back(usual);
  found.insert(found.end(), convention.others.begin(), convention.others.end());
  return found;
}

constexpr char list_separator = '\037';  // ASCII's unit separator: in no compiler flag

}  // namespace

std::vector<std::string> find_compiler(Language language, const std::string& configured) {
  const Convention& convention = convention_of(language);
  const char* variable = std::getenv(convention.variable);
  std::string wanted = configured;
  if (wanted.empty() && variable != nullptr) wanted = variable;
  if (wanted.empty()) wanted = convention.program;

  const char* search = std::getenv("PATH");
  const std::string search_path = search != nullptr ? search : "/usr/local/bin:/usr/bin:/bin";
  std::vector<std::string> looked_for;
  for (const std::string& one : candidates(convention, wanted)) {
    // A path may contain spaces; only what is no program is taken for a program with arguments.
    std::vector<std::string> command =
        is_program(one) ? std::vector<std::string>{one} : split(one, ' ');
    looked_for.push_back(fmt::format("'{}'", one));
    const std::string program = command.empty() ? "" : program_path(command.front(), search_path);
    if (program.empty()) continue;
    command.front() = program;
    return command;
  }
  throw ToolchainError(
      fmt::format(
          "no {} compiler: looked for {} in PATH={} ({} is {}); install one ({}), or set {} "
          "to one",
          convention.kind, fmt::join(looked_for, ", "), search_path, convention.variable,
          variable != nullptr ? fmt::format("'{}'", variable) : "not set", convention.install,
          convention.variable),
      wanted, "", "");
}

HostCompiler probe_compiler(Language language, const std::vector<std::string>& command,
                            const Patience& patience) {
  // The first is x86's and clang's spelling, the second that of compilers for other processors.
  const std::array<std::vector<std::string>, 3> spellings = {
      std::vector<std::string>{"-march=native"}, {"-mcpu=native"}, {}};
  std::string output;
  for (const std::vector<std::string>& native_flags : spellings) {
    std::vector<std::string> words = command;
    words.insert(words.end(), native_flags.begin(), native_flags.end());
    words.insert(words.end(), {"-O3", "-c", "-###", "-o", "/dev/null", "-x",
                               convention_of(language).driver_name, "/dev/null"});
    const ProcessResult result = run_process(words, {{"LC_ALL", "C"}}, patience);
    output = result.output;
    if (result.exit_code == 0 && result.signal == 0 && !result.timed_out) {
      HostCompiler compiler{language,
                            command,
                            real_path(command.front()),
                            version_line(output),
                            native_flags,
                            target_options(output)};
      compiler.mending_flags = mending_flags(compiler, patience);
      return compiler;
    }
  }
  throw ToolchainError(
      fmt::format("{} does not answer like gcc or clang to -###; set {} to a working compiler\n{}",
                  shell_text(command), convention_of(language).variable, output),
      shell_text(command), output, "");
}

std::string probe_key(Language language, const std::vector<std::string>& command) {
  const std::string path = real_path(command.front());
  const std::string name = path.substr(path.rfind('/') + 1);
  const bool is_compiler = name.find("gcc") != std::string::npos ||
                           name.find("g++") != std::string::npos ||
                           name.find("clang") != std::string::npos || name == "zig";
  struct stat status {};
  if (!is_compiler || !is_machine_code(path) || ::stat(path.c_str(), &status) != 0) return "";
  Canonical key;
  key.open("probe").number(2).text(convention_of(language).driver_name).text(path);
  for (const std::string& word : command) key.text(word);
  key.number(static_cast<std::int64_t>(status.st_ino)).number(status.st_size);
  key.number(status.st_mtim.tv_sec).number(status.st_mtim.tv_nsec);
  key.text(text_of_file("/proc/sys/kernel/random/boot_id")).close();
  return key.str();
}

std::string write_probe(const HostCompiler& compiler) {
  const std::string separator(1, list_separator);
  return fmt::format("{}\n{}\n{}\n{}\n{}\n", compiler.path, compiler.version,
                     fmt::join(compiler.native_flags, separator),
                     fmt::join(compiler.resolved_arch, separator),
                     fmt::join(compiler.mending_flags, separator));
}

HostCompiler read_probe(const std::string& text, Language language,
                        const std::vector<std::string>& command) {
  std::array<std::string, 5> fields;
  std::string_view rest = text;
  for (std::string& field : fields) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    field = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {language,
          command,
          fields[0],
          fields[1],
          split(fields[2], list_separator),
          split(fields[3], list_separator),
          split(fields[4], list_separator)};
}

}  // namespace op2::jit
