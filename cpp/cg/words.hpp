// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace op2::cg {

/// @brief Names that a language for devices has and C has not. Empty for C itself.
struct Vocabulary {
  std::span<const std::string_view> words;      ///< Keywords, types and macros.
  std::span<const std::string_view> reserved;   ///< How names begin that are the compiler's own.
  std::span<const std::string_view> functions;  ///< That come along.
  std::span<const std::string_view> families;   ///< How names of more such functions begin.
  std::span<const std::string_view> called;     ///< How functions begin that generated loops call.

  /// @brief Whether no name may be @p name.
  [[nodiscard]] bool is_word(std::string_view name) const;
  /// @brief Whether nothing at file scope may be @p name: not even where the compiler takes it for
  /// one more overload, because calls might mean another one.
  [[nodiscard]] bool is_function(std::string_view name) const;
  /// @brief Whether a parameter of a generated loop may not be @p name.
  [[nodiscard]] bool is_called(std::string_view name) const;
};

[[nodiscard]] const Vocabulary& opencl_vocabulary();
/// @brief CUDA's and HIP's.
[[nodiscard]] const Vocabulary& cuda_vocabulary();

}  // namespace op2::cg
