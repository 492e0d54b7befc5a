// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/patience.hpp"

namespace op2::jit {

/// @brief Language of a generated host source.
enum class Language { c, cxx };

/// @brief File name suffix of a source, with the dot.
[[nodiscard]] std::string source_suffix(Language language);

/// @brief A host compiler and everything about the compiler that changes its code.
struct HostCompiler {
  Language language = Language::c;
  std::vector<std::string> command;             // absolute path, then fixed arguments
  std::string path;                             // the program behind any symbolic links
  std::string version;                          // in the compiler's words
  std::vector<std::string> native_flags;        // the flags for this machine's processor
  std::vector<std::string> resolved_arch;       // the meaning of those flags here
  std::vector<std::string> mending_flags = {};  // against wrong code, for any processor
  bool operator==(const HostCompiler&) const = default;
};

/// @brief Bytes of the widest vectors of the machine behind @p compiler.
[[nodiscard]] int vector_bytes(const HostCompiler& compiler);
/// @brief Bytes of the widest vectors with an instruction that gathers from anywhere; 0 if there is
/// none.
[[nodiscard]] int gather_bytes(const HostCompiler& compiler);

/// @brief Words for a compiler older than all compilers that loops are tested with, or nothing.
[[nodiscard]] std::string why_old(const HostCompiler& compiler);

/// @brief The line of a compiler's, linker's or loader's output that blames the tool or the system,
/// and not the source. Empty if there is none. In the C locale.
[[nodiscard]] std::string tool_complaint(std::string_view output);

/// @brief The flags of every shared object, before the flags of a loop.
[[nodiscard]] std::vector<std::string> base_flags(const HostCompiler& compiler);

/// @brief Canonical text of everything about @p compiler, the flags and the environment that
/// changes the object of a source.
///
/// The command says `-march=native`, so a user can repeat the command. The identity holds the
/// resolved meaning, so machines with a common home directory never share code for the wrong
/// processor.
[[nodiscard]] std::string compiler_identity(const HostCompiler& compiler,
                                            const std::vector<std::string>& extra_flags);

/// @brief The place of a compilation and of its output.
struct CompilePlace {
  std::filesystem::path work_directory;  // source, compiler's temporary files, object
  std::filesystem::path kept_source;     // new place of a source rejected by the compiler
};

/// @brief Where compile() puts the source.
[[nodiscard]] std::filesystem::path source_path(const HostCompiler& compiler,
                                                const std::filesystem::path& work_directory);

/// @brief Save the source of a failed compilation for the user to read.
/// @return The path; empty if the source could not be kept.
[[nodiscard]] std::string keep_source(const HostCompiler& compiler, const CompilePlace& place);

/// @brief Compile @p source to a shared object inside the place's work directory.
/// @return Path of the object.
/// @throws CompilationError if the source is rejected. @throws ToolchainError if the compiler is
/// killed, breaks or takes too long. @throws StorageError if the directory cannot take the files.
[[nodiscard]] std::filesystem::path compile(const HostCompiler& compiler, const std::string& source,
                                            const std::vector<std::string>& extra_flags,
                                            const CompilePlace& place, const Patience& patience);

/// @brief Run @p compiler with other arguments than compile() has: for objects and libraries at a
/// place of the caller's choice, or for a question to the compiler.
/// @param[in] arguments After the compiler's command; paths among them are absolute.
/// @return The output.
/// @throws CompilationError if the compiler fails. @throws ToolchainError if the compiler is
/// killed, breaks or takes too long.
std::string ask_compiler(const HostCompiler& compiler, const std::vector<std::string>& arguments,
                         const Patience& patience);

}  // namespace op2::jit
