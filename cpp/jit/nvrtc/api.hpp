// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace op2::jit::nvrtc {

// The part of NVRTC's ABI that is used here. Names and values are the vendor's; the toolkit's
// header is not needed to build.

using Result = int;  // nvrtcResult
inline constexpr Result success = 0;
inline constexpr Result invalid_option = 5;
inline constexpr Result compilation_failed = 6;

using ProgramHandle = struct nvrtc_program_st*;

/// @brief NVRTC's functions, named after its own without the prefix `nvrtc`.
struct Library {
  std::string name = "NVRTC";
  std::string command = "nvrtc";  // what messages call it in a command line
  std::string file = "loop.cu";   // what a source is called, in messages and in debug information
  std::string path;
  int major = 0;
  int minor = 0;
  std::vector<int> architectures;  // that it makes code for, ascending: 80 is sm_80

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

/// @brief Where NVRTC is looked for: CUDA_HOME and CUDA_PATH, the loader's path, @p folders,
/// /usr/local/cuda; in each the newest version first.
/// @param[in] folders Of packages that carry it.
[[nodiscard]] std::vector<std::string> candidates(const std::vector<std::string>& folders);

/// @brief Find NVRTC.
/// @param[in] candidates See VendorLibrary.
/// @throws ToolchainError if there is none, or it is too old.
[[nodiscard]] Library load_library(const std::vector<std::string>& candidates);

}  // namespace op2::jit::nvrtc
