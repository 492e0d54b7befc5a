// SPDX-License-Identifier: BSD-3-Clause
#include "jit/gpu/compilation.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "jit/device_compiler.hpp"

namespace op2::jit::gpu {

Compilation::Compilation(const Library& library, const std::string& source) : library_(library) {
  check(
      library.create_program(&program_, source.c_str(), library.file.c_str(), 0, nullptr, nullptr),
      "take a source");
}

void Compilation::run(const std::vector<std::string>& words) {
  std::vector<const char*> options;
  for (const std::string& word : words) options.push_back(word.c_str());
  const Result result =
      library_.compile_program(program_, static_cast<int>(options.size()), options.data());
  if (result == success) return;
  const std::string command = fmt::format("{} {}", library_.command, fmt::join(words, " "));
  const std::string said = log();
  if (result == compilation_failed) throw rejected(library_.name, command, said);
  throw broke(
      fmt::format("{} {}.{} at {}", library_.name, library_.major, library_.minor, library_.path),
      library_.get_error_string(result), command, said);
}

std::string Compilation::log() const {
  std::string text = bytes(library_.get_program_log_size, library_.get_program_log);
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  return text;
}

void Compilation::check(Result result, const char* doing) const {
  if (result == success) return;
  throw ToolchainError(fmt::format("{} at {} cannot {}: {}", library_.name, library_.path, doing,
                                   library_.get_error_string(result)),
                       "", "", "");
}

std::string Compilation::bytes(Result (*size_of)(ProgramHandle, std::size_t*),
                               Result (*read)(ProgramHandle, char*)) const {
  std::size_t size = 0;
  check(size_of(program_, &size), "tell a size");
  std::string text(size, '\0');
  check(read(program_, text.data()), "hand over what it made");
  return text;
}

}  // namespace op2::jit::gpu
