// SPDX-License-Identifier: BSD-3-Clause
#include "libs/host/cblas.hpp"

#include <fmt/format.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>

#include "base/dtype.hpp"
#include "base/error.hpp"

namespace op2::libs {
namespace {

using exec::Column;
using Complex = std::complex<double>;

constexpr const char* install =
    "on Debian or Ubuntu: 'apt-get install libopenblas0'; NumPy brings one, too";

/// What libraries put around the names of functions, and whether integers have 64 bits then.
struct Spelling {
  const char* before;
  const char* after;
  bool is_wide;
};
constexpr std::array<Spelling, 4> spellings = {{{"cblas_", "", false},
                                                {"cblas_", "64_", true},
                                                {"scipy_cblas_", "64_", true},
                                                {"scipy_cblas_", "", false}}};

std::string spelled(const Spelling& spelling, const char* name) {
  return fmt::format("{}{}{}", spelling.before, name, spelling.after);
}

/// The first that the loader takes and that has these functions; if none does, all, whose refusals
/// are told then.
std::vector<std::string> usable(const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    try {
      const VendorLibrary library("BLAS", {candidate}, install);
      for (const Spelling& spelling : spellings) {
        if (library.find(spelled(spelling, "ddot").c_str()) != nullptr) return {candidate};
      }
    } catch (const ToolchainError&) {  // the next one may do
    }
  }
  return candidates;
}

/// Call a function of the library with integers as it has them.
template <class Result, class... Before, class... After>
Result called(void* function, bool is_wide, const Column& x, const Column& y,
              std::tuple<Before...> before, std::tuple<After...> after) {
  const auto call = [&]<class N>(N /*kind*/) {
    auto* typed =
        reinterpret_cast<Result (*)(N, Before..., const void*, N, void*, N, After...)>(function);
    return std::apply(
        [&](Before... first) {
          return std::apply(
              [&](After... last) {
                return typed(static_cast<N>(x.n), first..., x.data, static_cast<N>(x.stride),
                             y.data, static_cast<N>(y.stride), last...);
              },
              after);
        },
        before);
  };
  return is_wide ? call(std::int64_t{}) : call(std::int32_t{});
}

Complex complex_of(const Column& one) {
  switch (one.dtype) {
    case DType::complex128:
      return *static_cast<const Complex*>(one.data);
    case DType::float64:
      return *static_cast<const double*>(one.data);
    default:
      return static_cast<double>(*static_cast<const std::int64_t*>(one.data));
  }
}

bool overlap(const Column& x, const Column& y) {
  const auto end = [](const Column& one) {
    return static_cast<const std::byte*>(one.data) +
           static_cast<std::size_t>(one.n * one.stride) * size_of(one.dtype);
  };
  return x.data < end(y) && y.data < end(x);
}

}  // namespace

Cblas::Cblas(const std::vector<std::string>& candidates)
    : library_("a BLAS with an interface for C", usable(candidates), install) {
  for (const Spelling& spelling : spellings) {
    if (library_.find(spelled(spelling, "ddot").c_str()) == nullptr) continue;
    is_wide_ = spelling.is_wide;
    const auto take = [&](void*& function, const char* name) {
      function = library_.find(spelled(spelling, name).c_str());
      if (function == nullptr) {
        throw ToolchainError(
            fmt::format("the BLAS at {} has no {}; {}", path(), spelled(spelling, name), install),
            "", "", "");
      }
    };
    take(ddot_, "ddot");
    take(dsdot_, "dsdot");
    take(zdotu_, "zdotu_sub");
    take(zdotc_, "zdotc_sub");
    take(daxpy_, "daxpy");
    take(zaxpy_, "zaxpy");
    return;
  }
  throw ToolchainError(fmt::format("{} has no interface for C, 'cblas_ddot'; {}", path(), install),
                       "", "", "");
}

std::string Cblas::veto(const Column& one) const {
  if (one.stride < 1) return "stride: one value stands for all";
  if (reinterpret_cast<std::uintptr_t>(one.data) % size_of(one.dtype) != 0) {
    return "alignment: values begin within others";
  }
  if (!is_wide_ && one.n * one.stride > std::numeric_limits<std::int32_t>::max()) {
    return fmt::format("length: its integers have 32 bits, and there are {} values", one.n);
  }
  return one.n == 0 ? "length: there are no values" : "";
}

std::string Cblas::veto_dot(const Column& x, const Column& y) const {
  const bool is_known =
      x.dtype == DType::float32 || x.dtype == DType::float64 || x.dtype == DType::complex128;
  if (x.dtype != y.dtype || !is_known) {
    return fmt::format("dtype: {} and {}; it takes two of float32, float64 or complex128",
                       name_of(x.dtype), name_of(y.dtype));
  }
  const std::string why = veto(x);
  return why.empty() ? veto(y) : why;
}

exec::Scalar Cblas::dot(const Column& x, const Column& y, bool conjugate) const {
  const std::tuple<> nothing;
  if (x.dtype == DType::complex128) {
    Complex sum;
    // the library conjugates its first
    const Column& first = conjugate ? y : x;
    const Column& second = conjugate ? x : y;
    called<void>(conjugate ? zdotc_ : zdotu_, is_wide_, first, second, nothing,
                 std::tuple<void*>(&sum));
    return sum;
  }
  void* function = x.dtype == DType::float64 ? ddot_ : dsdot_;
  return called<double>(function, is_wide_, x, y, nothing, nothing);
}

std::string Cblas::veto_axpy(const Column& alpha, const Column& x, const Column& y) const {
  const bool is_known = x.dtype == DType::float64 || x.dtype == DType::complex128;
  if (x.dtype != y.dtype || !is_known) {
    return fmt::format("dtype: {} and {}; it takes two of float64 or complex128", name_of(x.dtype),
                       name_of(y.dtype));
  }
  const bool is_number =
      alpha.dtype == DType::float64 || alpha.dtype == DType::int64 || alpha.dtype == x.dtype;
  if (!is_number) return fmt::format("dtype: the factor is {}", name_of(alpha.dtype));
  if (alpha.stride != 0 && alpha.n != 1) return "stride: there are many factors";
  if (overlap(x, y)) return "overlap: both are the same memory";
  const std::string why = veto(x);
  return why.empty() ? veto(y) : why;
}

void Cblas::axpy(const Column& alpha, const Column& x, const Column& y) const {
  const Complex factor = complex_of(alpha);
  const std::tuple<> nothing;
  if (x.dtype == DType::complex128) {
    called<void>(zaxpy_, is_wide_, x, y, std::tuple<const void*>(&factor), nothing);
  } else {
    called<void>(daxpy_, is_wide_, x, y, std::tuple<double>(factor.real()), nothing);
  }
}

std::vector<std::string> cblas_names() {
  return {"libmkl_rt.so.2", "libopenblas.so.0", "libblis.so.4", "libcblas.so.3", "libblas.so.3"};
}

namespace {

const KnownLibrary known_cblas({"cblas", cblas_names(), [](const std::vector<std::string>& files) {
                                  return std::make_shared<const Cblas>(files);
                                }});

}  // namespace

}  // namespace op2::libs
