// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "exec/dense_ops.hpp"
#include "libs/cblas.hpp"
#include "libs/measured.hpp"

namespace op2::libs {

/// @brief How often an operation was done one way, and why not another.
struct VectorEvent {
  std::string operation;  ///< "dot", "axpy"
  std::string dtype;
  bool by_library = false;
  std::string rejected;  ///< why the library was not asked, or what it was found to be
  std::int64_t n_calls = 0;
};

/// @brief Algebra of vectors on the host: the core's own, or a library's where that can do it and
/// was measured to cost less. Safe to use from several threads.
class Vectors {
 public:
  explicit Vectors(std::unique_ptr<Cblas> library) : library_(std::move(library)) {}

  /// @brief The file of the library.
  [[nodiscard]] const std::string& path() const { return library_->path(); }

  /// @brief As exec::dot(); sums of the library's have bits of its own.
  [[nodiscard]] exec::Scalar dot(const exec::Column& x, const exec::Column& y, bool conjugate,
                                 int n_threads);
  /// @brief As exec::axpy().
  void axpy(const exec::Column& alpha, const exec::Column& x, const exec::Column& y, int n_threads);

  [[nodiscard]] std::vector<VectorEvent> events() const;
  void clear_events();

 private:
  template <class Own, class Theirs>
  auto done(const char* operation, const exec::Column& x, const std::string& veto, const Own& own,
            const Theirs& theirs) -> decltype(own());

  const std::unique_ptr<Cblas> library_;
  mutable std::mutex mutex_;  // guards what follows
  Measured measured_;
  std::map<std::tuple<std::string, std::string, bool, std::string>, std::int64_t> events_;
};

}  // namespace op2::libs
