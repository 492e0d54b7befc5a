// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/column.hpp"

namespace op2::libs {

/// @brief An opened library with algebra of vectors on the host. Safe to use from several threads.
///
/// A library without an operation keeps the function of this class, and is not asked then.
class VectorLibrary {
 public:
  VectorLibrary() = default;
  VectorLibrary(const VectorLibrary&) = delete;
  VectorLibrary& operator=(const VectorLibrary&) = delete;
  virtual ~VectorLibrary() = default;

  /// @brief The file, for reports; of functions of the program the name.
  [[nodiscard]] virtual const std::string& path() const = 0;

  /// @brief Why the library cannot compute exec::dot() of these columns; empty: possible.
  [[nodiscard]] virtual std::string veto_dot(const exec::Column& x, const exec::Column& y) const;
  /// @brief As exec::dot(), with the library's bits. @pre Nothing vetoes the call.
  [[nodiscard]] virtual exec::Scalar dot(const exec::Column& x, const exec::Column& y,
                                         bool conjugate) const;

  /// @brief Why the library cannot compute exec::axpy() of these columns; empty: possible.
  [[nodiscard]] virtual std::string veto_axpy(const exec::Column& alpha, const exec::Column& x,
                                              const exec::Column& y) const;
  /// @brief As exec::axpy(), with the library's bits. @pre Nothing vetoes the call.
  virtual void axpy(const exec::Column& alpha, const exec::Column& x, const exec::Column& y) const;
};

using LibraryPointer = std::shared_ptr<const VectorLibrary>;

/// @brief A library as data.
struct LibraryTable {
  std::string name;  ///< beginning of reasons: "cblas"
  /// Names for the loader, the better first; empty: there is nothing to load.
  std::vector<std::string> files = {};
  /// Opens the first usable file of a list. @throws ToolchainError if none is.
  std::function<LibraryPointer(const std::vector<std::string>& files)> open;
};

/// @brief A library, known by name while the object lives.
///
/// A file `libs/host/<name>.cpp` with a static object of this type adds a library: no other place
/// names a library. Programs in C++ register their own functions by op2::Library.
class KnownLibrary {
 public:
  /// @throws UsageError if the name is taken.
  explicit KnownLibrary(LibraryTable table);
  KnownLibrary(const KnownLibrary&) = delete;
  KnownLibrary& operator=(const KnownLibrary&) = delete;
  ~KnownLibrary();

 private:
  std::string name_;
};

/// @brief The names of all known libraries, sorted.
[[nodiscard]] std::vector<std::string> known_libraries();

/// @brief An opened library with the name.
struct NamedLibrary {
  std::string name;
  LibraryPointer library;
};

/// @brief Libraries, and why others are missing.
struct OpenedLibraries {
  std::vector<NamedLibrary> libraries;
  std::vector<std::string> missing = {};  ///< a line for each library that does not open
};

/// @brief Open libraries.
/// @param[in] wanted "auto": all that open; the name of a library; else a file, for the first
/// library that can use the file.
/// @param[in] before Files for the loader, tried before the names of each library.
/// @throws ToolchainError if a named library or file does not open.
[[nodiscard]] OpenedLibraries open_libraries(const std::string& wanted,
                                             const std::vector<std::string>& before = {});

}  // namespace op2::libs
