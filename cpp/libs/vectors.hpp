// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/operations.hpp"
#include "exec/column.hpp"
#include "libs/known.hpp"

namespace op2::libs {

/// @brief Algebra of vectors on the host: by the core, or by a library that can serve the call and
/// was measured to cost less. Safe to use from several threads.
class Vectors {
 public:
  /// @param[in] libraries In the order of their first turns; at least one.
  /// @param[in] operations Decides, and counts the calls.
  Vectors(std::vector<NamedLibrary> libraries, std::shared_ptr<dispatch::Operations> operations);

  /// @brief The files of the libraries.
  [[nodiscard]] std::vector<std::string> paths() const;

  /// @brief As exec::dot(); a library's sums have other bits.
  /// @param[in] own The core's way.
  [[nodiscard]] exec::Scalar dot(const exec::Column& x, const exec::Column& y, bool conjugate,
                                 const std::function<exec::Scalar()>& own);
  /// @brief As exec::axpy().
  /// @param[in] own The core's way.
  void axpy(const exec::Column& alpha, const exec::Column& x, const exec::Column& y,
            const std::function<void()>& own);

 private:
  struct Chosen {
    dispatch::Decision decision;
    const VectorLibrary* library;  ///< null: the core
  };

  template <class Veto>
  Chosen chosen(const char* operation, const exec::Column& sized, const Veto& veto);

  const std::vector<NamedLibrary> libraries_;
  const std::shared_ptr<dispatch::Operations> operations_;
  std::vector<std::string> files_;  // of the libraries, without their folders
};

}  // namespace op2::libs
