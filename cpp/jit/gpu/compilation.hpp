// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jit/gpu/library.hpp"

namespace op2::jit::gpu {

/// @brief A program of a Library, for the length of a compilation.
class Compilation {
 public:
  /// @throws ToolchainError if the library does not take the source.
  Compilation(const Library& library, const std::string& source);
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() { library_.destroy_program(&program_); }

  /// @brief Compile. @param[in] words The command line.
  /// @throws CompilationError if the source is rejected. @throws ToolchainError if the library
  /// breaks.
  void run(const std::vector<std::string>& words);

  /// @brief The machine code.
  [[nodiscard]] std::string cubin() const {
    return bytes(library_.get_cubin_size, library_.get_cubin);
  }
  [[nodiscard]] std::string ptx() const { return bytes(library_.get_ptx_size, library_.get_ptx); }

 private:
  void check(Result result, const char* doing) const;
  [[nodiscard]] std::string log() const;
  [[nodiscard]] std::string bytes(Result (*size_of)(ProgramHandle, std::size_t*),
                                  Result (*read)(ProgramHandle, char*)) const;

  const Library& library_;
  ProgramHandle program_ = nullptr;
};

}  // namespace op2::jit::gpu
