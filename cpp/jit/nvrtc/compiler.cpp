// SPDX-License-Identifier: BSD-3-Clause
#include "jit/nvrtc/compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/canonical.hpp"
#include "base/error.hpp"
#include "jit/ptx.hpp"

namespace op2::jit::nvrtc {
namespace {

/// A program of NVRTC for the length of a compilation.
class Compilation {
 public:
  Compilation(const Library& library, const std::string& source) : library_(library) {
    // A fixed name: it is part of the object's debug information.
    check(library.create_program(&program_, source.c_str(), "loop.cu", 0, nullptr, nullptr),
          "take a source");
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() { library_.destroy_program(&program_); }

  [[nodiscard]] Result run(const std::vector<std::string>& words) {
    std::vector<const char*> options;
    for (const std::string& word : words) options.push_back(word.c_str());
    return library_.compile_program(program_, static_cast<int>(options.size()), options.data());
  }
  [[nodiscard]] std::string log() const {
    std::string text = bytes(library_.get_program_log_size, library_.get_program_log);
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }
  [[nodiscard]] std::string cubin() const {
    return bytes(library_.get_cubin_size, library_.get_cubin);
  }
  [[nodiscard]] std::string ptx() const { return bytes(library_.get_ptx_size, library_.get_ptx); }

 private:
  void check(Result result, const char* doing) const {
    if (result == success) return;
    throw ToolchainError(fmt::format("NVRTC at {} cannot {}: {}", library_.path, doing,
                                     library_.get_error_string(result)),
                         "", "", "");
  }
  [[nodiscard]] std::string bytes(Result (*size_of)(ProgramHandle, std::size_t*),
                                  Result (*read)(ProgramHandle, char*)) const {
    std::size_t size = 0;
    check(size_of(program_, &size), "tell a size");
    std::string text(size, '\0');
    check(read(program_, text.data()), "hand over what it made");
    return text;
  }

  const Library& library_;
  ProgramHandle program_ = nullptr;
};

/// The number of an architecture's name: 90 of "sm_90".
int number_of(const std::string& architecture) {
  constexpr std::string_view prefix = "sm_";
  int number = 0;
  if (architecture.starts_with(prefix)) {
    const char* end = architecture.data() + architecture.size();
    const auto [rest, failure] = std::from_chars(architecture.data() + prefix.size(), end, number);
    if (failure == std::errc() && rest == end) return number;
  }
  throw UsageError(
      fmt::format("'{}' is no GPU architecture; they look like 'sm_90'", architecture));
}

/// Whether NVRTC's assembler forgets signs on GPUs of this architecture; see with_signs_kept().
bool loses_signs(const Library& library, int architecture) {
  return architecture >= 90 && std::pair(library.major, library.minor) < std::pair(13, 4);
}

std::vector<std::string> default_options(const std::string& target) {
  // The second makes functions without a qualifier the device's: kernels are plain C.
  return {"-arch=" + target, "--device-as-default-execution-space", "--std=c++17",
          "--no-display-error-number"};
}

}  // namespace

Compiler::Compiler(std::shared_ptr<const Library> library, const std::string& architecture)
    : library_(std::move(library)), target_(architecture) {
  const int wanted = number_of(architecture);
  loses_signs_ = loses_signs(*library_, wanted);
  const std::vector<int>& known = library_->architectures;
  if (std::ranges::find(known, wanted) != known.end()) return;
  if (wanted < known.front()) {
    throw ToolchainError(
        fmt::format("NVRTC {}.{} at {} makes code for sm_{} to sm_{}, the GPU is {}; install an "
                    "older NVRTC (pip install 'nvidia-cuda-nvrtc-cu12')",
                    library_->major, library_->minor, library_->path, known.front(), known.back(),
                    architecture),
        "", "", "");
  }
  const auto above = std::ranges::upper_bound(known, wanted);
  target_ = fmt::format("compute_{}", *std::prev(above));
  makes_ptx_ = true;
}

std::string Compiler::identity() const {
  Canonical key;
  key.open("nvrtc").number(library_->major).number(library_->minor).text(library_->path);
  key.text(target_);
  for (const std::string& option : default_options(target_)) key.text(option);
  if (loses_signs_) key.text("signs kept");  // unlike what was made before this was known
  return key.close().str();
}

std::string Compiler::compile(const std::string& source, const std::vector<std::string>& options) {
  std::vector<std::string> words = default_options(target_);
  words.insert(words.end(), options.begin(), options.end());
  const std::string command = fmt::format("nvrtc {}", fmt::join(words, " "));
  Compilation compilation(*library_, source);
  const Result result = compilation.run(words);
  if (result == success) {
    if (loses_signs_ || makes_ptx_) {
      const std::string ptx = compilation.ptx();
      if (auto kept = with_signs_kept(ptx)) return *std::move(kept);
      if (makes_ptx_) return ptx;
    }
    return compilation.cubin();
  }
  const std::string log = compilation.log();
  if (result == compilation_failed) {
    throw CompilationError(
        fmt::format("NVRTC rejected a generated source\n  command: {}\n{}", command, log), command,
        log, "");
  }
  throw ToolchainError(fmt::format("NVRTC {}.{} at {} failed ({})\n  command: {}\n{}",
                                   library_->major, library_->minor, library_->path,
                                   library_->get_error_string(result), command, log),
                       command, log, "");
}

std::shared_ptr<DeviceCompiler> make_compiler(const std::string& architecture,
                                              const std::vector<std::string>& folders) {
  const auto library = std::make_shared<const Library>(load_library(candidates(folders)));
  return std::make_shared<Compiler>(library, architecture);
}

}  // namespace op2::jit::nvrtc
