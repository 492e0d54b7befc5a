// SPDX-License-Identifier: BSD-3-Clause
#include "libs/vectors.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/clock.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"

namespace op2::libs {
namespace {

using exec::Column;
using exec::Scalar;

std::int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

void check_lengths(const Column& x, const Column& y) {
  if (x.n != y.n) throw UsageError("operands have different lengths");
}

}  // namespace

Vectors::Vectors(std::vector<NamedLibrary> libraries,
                 std::shared_ptr<dispatch::Operations> operations)
    : libraries_(std::move(libraries)), operations_(std::move(operations)) {
  for (const NamedLibrary& one : libraries_) {
    const std::string& path = one.library->path();
    files_.push_back(path.substr(path.rfind('/') + 1));  // npos + 1 is 0
  }
}

std::vector<std::string> Vectors::paths() const {
  std::vector<std::string> found;
  for (const NamedLibrary& one : libraries_) found.push_back(one.library->path());
  return found;
}

template <class Veto>
Vectors::Chosen Vectors::chosen(const char* operation, const Column& sized, const Veto& veto) {
  std::vector<dispatch::Offer> offers;
  offers.reserve(libraries_.size());
  for (std::size_t i = 0; i < libraries_.size(); ++i) {
    offers.push_back({libraries_[i].name, files_[i], veto(*libraries_[i].library)});
  }
  dispatch::Decision decision =
      operations_->decide({operation, std::string(name_of(sized.dtype)), sized.n}, offers);
  const bool is_own = decision.which == libraries_.size();
  return {decision, is_own ? nullptr : libraries_[decision.which].library.get()};
}

Scalar Vectors::dot(const Column& x, const Column& y, bool conjugate,
                    const std::function<Scalar()>& own) {
  check_lengths(x, y);
  const Chosen by =
      chosen("dot", x, [&](const VectorLibrary& library) { return library.veto_dot(x, y); });
  const Clock::time_point start = Clock::now();
  const Scalar found = by.library == nullptr ? own() : by.library->dot(x, y, conjugate);
  operations_->done(by.decision, nanoseconds_since(start));
  return found;
}

void Vectors::axpy(const Column& alpha, const Column& x, const Column& y,
                   const std::function<void()>& own) {
  check_lengths(x, y);
  const Chosen by = chosen(
      "axpy", y, [&](const VectorLibrary& library) { return library.veto_axpy(alpha, x, y); });
  const Clock::time_point start = Clock::now();
  by.library == nullptr ? own() : by.library->axpy(alpha, x, y);
  operations_->done(by.decision, nanoseconds_since(start));
}

}  // namespace op2::libs
