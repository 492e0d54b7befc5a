// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace op2::jit::gpu {

// The used part of a library that compiles for GPUs: the ABI of NVRTC, with other names in hipRTC.
// Names and values are NVRTC's; no vendor's header is needed to build.

using Result = int;  // nvrtcResult
inline constexpr Result success = 0;
inline constexpr Result invalid_option = 5;
inline constexpr Result compilation_failed = 6;

using ProgramHandle = struct nvrtc_program_st*;

/// @brief The library's functions, named after NVRTC's without the prefix `nvrtc`.
///
/// Functions for PTX and architectures are null where a vendor has none.
struct Library {
  std::string name;
  std::string command;  // the name in a command line of messages
  std::string file;     // the file name of a source, in messages and in debug information
  std::string path;
  int major = 0;
  int minor = 0;
  std::vector<int> architectures;  // the targets, ascending: 80 is sm_80

  Result (*version)(int* major, int* minor) = nullptr;
  const char* (*get_error_string)(Result result) = nullptr;
  Result (*get_num_supported_archs)(int* count) = nullptr;
  Result (*get_supported_archs)(int* architectures) = nullptr;
  Result (*create_program)(ProgramHandle* program, const char* source, const char* name,
                           int n_headers, const char* const* headers,
                           const char* const* include_names) = nullptr;
  Result (*destroy_program)(ProgramHandle* program) = nullptr;
  Result (*compile_program)(ProgramHandle program, int n_options,
                            const char* const* options) = nullptr;
  Result (*get_program_log_size)(ProgramHandle program, std::size_t* size) = nullptr;
  Result (*get_program_log)(ProgramHandle program, char* log) = nullptr;
  Result (*get_cubin_size)(ProgramHandle program, std::size_t* size) = nullptr;
  Result (*get_cubin)(ProgramHandle program, char* cubin) = nullptr;
  Result (*get_ptx_size)(ProgramHandle program, std::size_t* size) = nullptr;
  Result (*get_ptx)(ProgramHandle program, char* ptx) = nullptr;
};

}  // namespace op2::jit::gpu
