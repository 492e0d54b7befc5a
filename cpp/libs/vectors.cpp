// SPDX-License-Identifier: BSD-3-Clause
#include "libs/vectors.hpp"

#include <chrono>
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

template <class Own, class Theirs>
auto Vectors::done(const char* operation, const Column& x, const std::string& veto, const Own& own,
                   const Theirs& theirs) -> decltype(own()) {
  const std::string dtype(name_of(x.dtype));
  const std::string kind = operation + dtype;
  bool by_library = veto.empty();
  {
    const std::lock_guard lock(mutex_);
    std::string why = veto.empty() ? "" : "cblas: " + veto;
    if (by_library && !measured_.takes_library(kind, x.n)) {
      by_library = false;
      why = measured_.is_decided(kind, x.n) ? "cblas: cost" : "cblas: measured in turns";
    }
    ++events_[{operation, dtype, by_library, std::move(why)}];
  }
  const Clock::time_point start = Clock::now();
  const auto note = [&] {
    if (!veto.empty()) return;
    const std::int64_t spent = nanoseconds_since(start);
    const std::lock_guard lock(mutex_);
    measured_.note(kind, x.n, by_library, spent);
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

std::vector<VectorEvent> Vectors::events() const {
  const std::lock_guard lock(mutex_);
  std::vector<VectorEvent> found;
  for (const auto& [what, n_calls] : events_) {
    const auto& [operation, dtype, by_library, why] = what;
    found.push_back({operation, dtype, by_library, why, n_calls});
  }
  return found;
}

void Vectors::clear_events() {
  const std::lock_guard lock(mutex_);
  events_.clear();
}

}  // namespace op2::libs
