// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace op2::runtime {

/// @brief Names a stretch of the calling thread's work for NVIDIA's tools, from here to the end of
/// the scope; no effect without a tool. The protocol, NVTX 3, needs no library: a tool names its
/// library in NVTX_INJECTION64_PATH, and the functions are taken from there.
class NamedRange {
 public:
  /// @param[in] name Read here only.
  explicit NamedRange(const char* name);
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;
  ~NamedRange();
};

}  // namespace op2::runtime
