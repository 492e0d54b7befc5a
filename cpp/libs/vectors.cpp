// SPDX-License-Identifier: BSD-3-Clause
#include "libs/vectors.hpp"

#include <chrono>
#include <type_traits>

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

template <class Own, class Theirs>
auto Vectors::done(const char* operation, const Column& x, const std::string& veto, const Own& own,
                   const Theirs& theirs) -> decltype(own()) {
  const std::string dtype(name_of(x.dtype));
  const auto [by_library, is_measured] = choice_.decide(operation, dtype, x.n, veto);
  const Clock::time_point start = Clock::now();
  const auto note = [&, by_library = by_library, is_measured = is_measured] {
    if (is_measured) choice_.note(operation, dtype, x.n, by_library, nanoseconds_since(start));
  };
  if constexpr (std::is_void_v<decltype(own())>) {
    by_library ? theirs() : own();
    note();
  } else {
    auto found = by_library ? theirs() : own();
    note();
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
