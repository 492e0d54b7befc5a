// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dispatch/operations.hpp"
#include "exec/dense_ops.hpp"
#include "libs/cblas.hpp"

namespace op2::libs {

/// @brief Algebra of vectors on the host: by the core, or by a library that can serve the call and
/// was measured to cost less. Safe to use from several threads.
class Vectors {
 public:
  /// @param[in] operations Decides, and counts the calls.
  Vectors(std::unique_ptr<Cblas> library, std::shared_ptr<dispatch::Operations> operations);

  /// @brief The file of the library.
  [[nodiscard]] const std::string& path() const { return library_->path(); }

  /// @brief As exec::dot(); a library's sums have other bits.
  [[nodiscard]] exec::Scalar dot(const exec::Column& x, const exec::Column& y, bool conjugate,
                                 int n_threads);
  /// @brief As exec::axpy().
  void axpy(const exec::Column& alpha, const exec::Column& x, const exec::Column& y, int n_threads);

 private:
  template <class Own, class Theirs>
  auto done(const char* operation, const exec::Column& x, std::string veto, const Own& own,
            const Theirs& theirs) -> decltype(own());

  const std::unique_ptr<Cblas> library_;
  const std::shared_ptr<dispatch::Operations> operations_;
  const std::string file_;  // of the library, without its folder
};

}  // namespace op2::libs
