// SPDX-License-Identifier: BSD-3-Clause
#include "cg/library.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace op2::cg {
namespace {

constexpr std::string_view builtin_prefix = "__builtin_";

std::string plain_name(const kernel::KnownFunction& function) {
  return function.name.starts_with(builtin_prefix) ? function.name.substr(builtin_prefix.size())
                                                   : function.name;
}

bool is_memory(std::string_view name) {
  return name == "memcpy" || name == "memmove" || name == "memset" || name == "memcmp";
}

bool is_single(const kernel::KnownFunction& function) {
  const auto is_float = [](const kernel::Type& type) {
    return type.base == kernel::Base::float32 || type.base == kernel::Base::complex64;
  };
  if (is_float(function.result)) return true;
  for (const kernel::Type& type : function.parameters) {
    if (is_float(type)) return true;
  }
  return false;
}

/// Complex numbers are vectors of two, which the language's functions would take item by item.
bool is_complex(const kernel::KnownFunction& function) {
  const auto is_number = [](const kernel::Type& type) { return kernel::is_complex(type.base); };
  return is_number(function.result) || std::ranges::any_of(function.parameters, is_number);
}

/// The name without the letter that says float.
std::string overloaded_name(const kernel::KnownFunction& function) {
  std::string name = plain_name(function);
  if (is_single(function) && name.ends_with('f')) name.pop_back();
  return name;
}

struct Replacement {
  std::string_view from;
  std::string_view to;
  bool cast_result;
};

constexpr std::array opencl_replacements{
    Replacement{"scalbn", "ldexp", false}, Replacement{"nearbyint", "rint", false},
    Replacement{"lround", "round", true},  Replacement{"lrint", "rint", true},
    Replacement{"llround", "round", true}, Replacement{"llrint", "rint", true},
    Replacement{"abs", "abs", true},       Replacement{"labs", "abs", true},
};

}  // namespace

LibraryFunction opencl_library(const kernel::KnownFunction& function) {
  if (is_complex(function)) return {plain_name(function)};
  const std::string name = overloaded_name(function);
  if (is_memory(name)) return {"op2_" + name};
  if (name == "inf") return {"INFINITY", true, true};
  if (name == "nan") return {"NAN", true, true};
  for (const Replacement& entry : opencl_replacements) {
    if (name == entry.from) return {std::string(entry.to), entry.cast_result};
  }
  return {name};
}

LibraryFunction cuda_library(const kernel::KnownFunction& function) {
  const std::string name = plain_name(function);
  if (name == "memmove" || name == "memcmp") return {"op2_" + name};
  if (name == "inf") return {"__longlong_as_double(0x7ff0000000000000LL)", false, true};
  if (name == "inff") return {"__int_as_float(0x7f800000)", false, true};
  if (name == "nan") return {"__longlong_as_double(0x7ff8000000000000LL)", false, true};
  if (name == "nanf") return {"__int_as_float(0x7fc00000)", false, true};
  return {name};
}

}  // namespace op2::cg
