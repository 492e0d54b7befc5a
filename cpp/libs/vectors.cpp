// SPDX-License-Identifier: BSD-3-Clause
#include "libs/vectors.hpp"

#include <chrono>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "base/clock.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"

namespace op2::libs {
namespace {

using exec::Column;

std::int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

void check_lengths(const Column& x, const Column& y) {
  if (x.n != y.n) throw UsageError("operands have different lengths");
}

}  // namespace

Vectors::Vectors(std::unique_ptr<Cblas> library, std::shared_ptr<dispatch::Operations> operations)
    : library_(std::move(library)),
      operations_(std::move(operations)),
      file_(std::filesystem::path(library_->path()).filename()) {}

template <class Own, class Theirs>
auto Vectors::done(const char* operation, const Column& x, std::string veto, const Own& own,
                   const Theirs& theirs) -> decltype(own()) {
  const dispatch::Decision decision = operations_->decide(
      {operation, std::string(name_of(x.dtype)), x.n}, {{"cblas", file_, std::move(veto)}});
  const bool by_library = decision.which == 0;
  const Clock::time_point start = Clock::now();
  if constexpr (std::is_void_v<decltype(own())>) {
    by_library ? theirs() : own();
    operations_->done(decision, nanoseconds_since(start));
  } else {
    auto found = by_library ? theirs() : own();
    operations_->done(decision, nanoseconds_since(start));
    return found;
  }
}

exec::Scalar Vectors::dot(const Column& x, const Column& y, bool conjugate, int n_threads) {
  check_lengths(x, y);
  return done(
      "dot", x, library_->veto_dot(x, y), [&] { return exec::dot(x, y, conjugate, n_threads); },
      [&] { return library_->dot(x, y, conjugate); });
}

void Vectors::axpy(const Column& alpha, const Column& x, const Column& y, int n_threads) {
  check_lengths(x, y);
  done(
      "axpy", y, library_->veto_axpy(alpha, x, y), [&] { exec::axpy(alpha, x, y, n_threads); },
      [&] { library_->axpy(alpha, x, y); });
}

}  // namespace op2::libs
