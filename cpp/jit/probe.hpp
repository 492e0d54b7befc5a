// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/patience.hpp"
#include "jit/compiler.hpp"

namespace op2::jit {

/// @brief The command line of the compiler for @p language.
/// @param[in] configured A program name or path, possibly followed by arguments; if empty,
/// `PYOP2CXX_CC` or `PYOP2CXX_CXX`, else `cc` or `c++`. Where these are missing, what `CC` or `CXX`
/// name, which conda's environments set, then gcc's and clang's programs are taken.
/// @return Absolute path of the program, then the arguments.
/// @throws ToolchainError with the searched names and places, and the package to install.
[[nodiscard]] std::vector<std::string> find_compiler(Language language,
                                                     const std::string& configured);

/// @brief Ask the compiler for its version, the meaning of `native`, and flags against wrong code.
///
/// The driver's dry run (`-###`) compiles nothing: 2 ms with gcc, 20 ms with clang. GCC then
/// compiles an empty file, in 10 ms, so a flag is given only to an assembler that knows the flag.
/// @throws ToolchainError if the program is no compiler, or does not understand the option.
[[nodiscard]] HostCompiler probe_compiler(Language language,
                                          const std::vector<std::string>& command,
                                          const Patience& patience);

/// @brief Key of a stored probe; empty if the probe must not be stored, because the program is a
/// wrapper whose file says nothing about the compiler behind.
///
/// The key holds the program file's identity and the machine's boot identifier: a home directory,
/// and with the home the cache, may be shared by machines with different processors.
[[nodiscard]] std::string probe_key(Language language, const std::vector<std::string>& command);

/// @brief A probe as text for the disk cache.
[[nodiscard]] std::string write_probe(const HostCompiler& compiler);

/// @brief The probe written by write_probe() for the same language and command.
[[nodiscard]] HostCompiler read_probe(const std::string& text, Language language,
                                      const std::vector<std::string>& command);

}  // namespace op2::jit
