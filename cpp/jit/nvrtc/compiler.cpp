// SPDX-License-Identifier: BSD-3-Clause
#include "jit/nvrtc/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/canonical.hpp"
#include "base/error.hpp"
#include "jit/gpu/compilation.hpp"
#include "jit/nvrtc/api.hpp"
#include "runtime/ptx.hpp"

namespace op2::jit::nvrtc {
namespace {

using gpu::Library;

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

/// Whether NVRTC's assembler gets negations wrong; see with_signs_kept().
bool loses_signs(const Library& library) {
  return std::pair(library.major, library.minor) < std::pair(13, 4);
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
  loses_signs_ = loses_signs(*library_);
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
  if (loses_signs_ || makes_ptx_)
    key.text("signs of 16 bits kept");  // earlier programs had the faults
  return key.close().str();
}

std::string Compiler::compile(const std::string& source, const std::vector<std::string>& options) {
  std::vector<std::string> words = default_options(target_);
  words.insert(words.end(), options.begin(), options.end());
  gpu::Compilation compilation(*library_, source);
  compilation.run(words);
  if (loses_signs_ || makes_ptx_) {
    const std::string ptx = compilation.ptx();
    if (auto kept = runtime::with_signs_kept(ptx)) return *std::move(kept);
    if (makes_ptx_) return ptx;
  }
  return compilation.cubin();
}

std::shared_ptr<DeviceCompiler> make_compiler(const std::string& architecture,
                                              const std::vector<std::string>& folders) {
  const auto library = std::make_shared<const Library>(load_library(candidates(folders)));
  return std::make_shared<Compiler>(library, architecture);
}

[[maybe_unused]] const bool is_registered = register_compiler("cuda", make_compiler);

}  // namespace op2::jit::nvrtc
