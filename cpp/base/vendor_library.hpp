// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace op2 {

/// @brief A library from a driver or a toolkit, found at the program's request.
///
/// Never closed: such libraries start threads and register handlers that outlive their users.
class VendorLibrary {
 public:
  /// @brief Load the first of @p candidates accepted by the loader.
  /// @param[in] what The name in messages: "NVIDIA's driver".
  /// @param[in] candidates Names for the loader's own search, or paths; tried in order.
  /// @param[in] install The package for the user to install if there is none.
  /// @throws ToolchainError with the searched names, the reason of each refusal, and @p install.
  VendorLibrary(std::string_view what, const std::vector<std::string>& candidates,
                std::string_view install);

  /// @brief The loaded file, as far as the loader knows.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// @brief Address of @p symbol; null if the library is too old for the symbol.
  [[nodiscard]] void* find(const char* symbol) const;

  /// @brief Set @p function to the symbol of the name.
  /// @throws ToolchainError if the library has none.
  template <class Function>
  void require(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(require_address(symbol));
  }

  /// @brief Set @p function to the symbol of the name, or to null.
  template <class Function>
  void look_up(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(find(symbol));
  }

 private:
  [[nodiscard]] void* require_address(const char* symbol) const;

  void* handle_ = nullptr;
  std::string what_;
  std::string install_;
  std::string path_;
};

}  // namespace op2
