// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/known_functions.hpp"

#include <array>
#include <map>
#include <utility>

#include "base/error.hpp"

namespace op2::kernel {
namespace {

// Signatures, one letter a type, the result first:
//   d double  z double _Complex  i int  l long  u unsigned long  v void
//   D double *  I int *  P void *  Q const void *  S const char *
// A row with `d`, `z` or `D` also has a float variant, its name ending in `f`.
struct Row {
  std::string_view name;
  std::string_view signature;
  int n_operations;
  int vectors_since = 0;
};

constexpr std::array rows{
    Row{"acos", "dd", 1, 35},   Row{"asin", "dd", 1, 35},   Row{"atan", "dd", 1, 35},
    Row{"cos", "dd", 1, 22},    Row{"sin", "dd", 1, 22},    Row{"tan", "dd", 1, 35},
    Row{"acosh", "dd", 1, 35},  Row{"asinh", "dd", 1, 35},  Row{"atanh", "dd", 1, 35},
    Row{"cosh", "dd", 1, 35},   Row{"sinh", "dd", 1, 35},   Row{"tanh", "dd", 1, 35},
    Row{"exp", "dd", 1, 22},    Row{"exp2", "dd", 1, 35},   Row{"expm1", "dd", 1, 35},
    Row{"log", "dd", 1, 22},    Row{"log10", "dd", 1, 35},  Row{"log1p", "dd", 1, 35},
    Row{"log2", "dd", 1, 35},   Row{"logb", "dd", 1},       Row{"sqrt", "dd", 1},
    Row{"cbrt", "dd", 1, 35},   Row{"fabs", "dd", 1},       Row{"erf", "dd", 1, 35},
    Row{"erfc", "dd", 1, 35},   Row{"tgamma", "dd", 1},     Row{"lgamma", "dd", 1},
    Row{"ceil", "dd", 1},       Row{"floor", "dd", 1},      Row{"trunc", "dd", 1},
    Row{"round", "dd", 1},      Row{"rint", "dd", 1},       Row{"nearbyint", "dd", 1},
    Row{"atan2", "ddd", 1, 35}, Row{"pow", "ddd", 1, 22},   Row{"hypot", "ddd", 1, 35},
    Row{"fmod", "ddd", 1},      Row{"remainder", "ddd", 1}, Row{"fmin", "ddd", 1},
    Row{"fmax", "ddd", 1},      Row{"fdim", "ddd", 1},      Row{"copysign", "ddd", 1},
    Row{"nextafter", "ddd", 1}, Row{"fma", "dddd", 2},      Row{"ldexp", "ddi", 1},
    Row{"scalbn", "ddi", 1},    Row{"frexp", "ddI", 1},     Row{"modf", "ddD", 1},
    Row{"ilogb", "id", 1},      Row{"lround", "ld", 1},     Row{"lrint", "ld", 1},
    Row{"llround", "ld", 1},    Row{"llrint", "ld", 1},     Row{"creal", "dz", 0},
    Row{"cimag", "dz", 0},      Row{"cabs", "dz", 1},       Row{"carg", "dz", 1},
    Row{"conj", "zz", 0},       Row{"cproj", "zz", 0},      Row{"cexp", "zz", 1},
    Row{"clog", "zz", 1},       Row{"csqrt", "zz", 1},      Row{"cpow", "zzz", 1},
    Row{"csin", "zz", 1},       Row{"ccos", "zz", 1},       Row{"ctan", "zz", 1},
    Row{"csinh", "zz", 1},      Row{"ccosh", "zz", 1},      Row{"ctanh", "zz", 1},
    Row{"abs", "ii", 0},        Row{"labs", "ll", 0},       Row{"memcpy", "PPQu", 0},
    Row{"memmove", "PPQu", 0},  Row{"memset", "PPiu", 0},   Row{"memcmp", "iQQu", 0},
};

// Only as builtins: what the macros isnan, INFINITY, NAN and I become.
constexpr std::array builtins{
    Row{"__builtin_isnan", "id", 0},    Row{"__builtin_isinf", "id", 0},
    Row{"__builtin_isfinite", "id", 0}, Row{"__builtin_signbit", "id", 0},
    Row{"__builtin_inf", "d", 0},       Row{"__builtin_nan", "dS", 0},
    Row{"__builtin_complex", "zdd", 0},
};

Type type_of(char letter, bool is_single) {
  const Base real = is_single ? Base::float32 : Base::float64;
  switch (letter) {
    case 'd':
      return scalar(real);
    case 'z':
      return scalar(is_single ? Base::complex64 : Base::complex128);
    case 'i':
      return scalar(Base::int32);
    case 'l':
      return scalar(Base::int64);
    case 'u':
      return scalar(Base::uint64);
    case 'D':
      return pointer_to(scalar(real));
    case 'I':
      return pointer_to(scalar(Base::int32));
    case 'P':
      return pointer_to(scalar(Base::none));
    case 'Q':
      return pointer_to(Type{.base = Base::none, .is_const = true, .derivation = {}});
    case 'S':
      return pointer_to(Type{.base = Base::int8, .is_const = true, .derivation = {}});
    default:
      throw InternalError("known_functions: unknown letter in a signature");
  }
}

KnownFunction function_of(const Row& row, bool is_single) {
  KnownFunction function;
  function.name = row.name;
  if (is_single) function.name += 'f';
  function.result = type_of(row.signature.front(), is_single);
  for (const char letter : row.signature.substr(1)) {
    function.parameters.push_back(type_of(letter, is_single));
  }
  function.n_operations = row.n_operations;
  function.vectors_since = row.vectors_since;
  return function;
}

using Table = std::map<std::string, KnownFunction, std::less<>>;

void insert(Table& table, KnownFunction function, bool needs_prototype) {
  function.needs_prototype = needs_prototype;
  const std::string name = function.name;
  table.emplace(name, std::move(function));
}

Table build() {
  Table table;
  for (const Row& row : rows) {
    const bool has_single = row.signature.find_first_of("dzD") != std::string_view::npos;
    for (const bool is_single : {false, true}) {
      if (is_single && !has_single) continue;
      KnownFunction function = function_of(row, is_single);
      insert(table, function, true);
      function.name.insert(0, "__builtin_");
      insert(table, std::move(function), false);
    }
  }
  for (const Row& row : builtins) insert(table, function_of(row, false), false);
  for (const std::string_view name : {"inf", "nan"}) {
    for (const Row& row : builtins) {
      if (row.name.substr(10) == name) insert(table, function_of(row, true), false);
    }
  }
  return table;
}

}  // namespace

bool KnownFunction::writes(std::size_t i) const {
  return parameters[i].is_pointer() && !parameters[i].is_const;
}

const KnownFunction* known_function(std::string_view name) {
  static const Table table = build();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace op2::kernel
