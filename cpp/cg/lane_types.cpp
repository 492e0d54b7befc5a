// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lane_types.hpp"

#include <fmt/format.h>

#include "kernel/lane_functions.hpp"

namespace op2::cg {
namespace {

// Where vectors are wider than the machine's, compilers warn of an ABI that no call here has.
constexpr std::string_view quiet = "#pragma GCC diagnostic ignored \"-Wpsabi\"";

}  // namespace

std::string vector_name(DType dtype, int lanes) {
  return fmt::format("op2_{}x{}", name_of(dtype), lanes);
}

std::string vector_type(Context& context, DType dtype, int lanes) {
  std::string name = vector_name(dtype, lanes);
  if (is_complex(dtype)) {
    context.top_level_once(fmt::format("typedef struct {{\n  {0} re;\n  {0} im;\n}} {1};",
                                       vector_type(context, part_of(dtype), lanes), name));
    return name;
  }
  context.top_level_once(quiet);
  if (context.dialect().has_vectors) {
    context.top_level_once(
        fmt::format("typedef {}{} {};", context.dialect().type_name(dtype), lanes, name));
    return name;
  }
  context.top_level_once(fmt::format("typedef {} {} __attribute__((vector_size({})));",
                                     context.dialect().type_name(dtype), name,
                                     size_of(dtype) * static_cast<std::size_t>(lanes)));
  return name;
}

DType mask_dtype(DType dtype) {
  return *kernel::dtype_of(kernel::mask_base(kernel::base_of(dtype)));
}

DType part_of(DType dtype) {
  if (is_half(dtype)) return dtype;
  return *kernel::dtype_of(kernel::part_base(kernel::base_of(dtype)));
}

std::string row_type(Context& context, DType dtype, int lanes) {
  const std::string name = fmt::format("{}_row", vector_name(dtype, lanes));
  const std::size_t size = size_of(dtype);
  if (context.dialect().has_vectors) {
    context.top_level_once(
        fmt::format("typedef {} {} __attribute__((ext_vector_type({}), aligned({}), may_alias));",
                    context.dialect().type_name(dtype), name, lanes, size));
    return name;
  }
  context.top_level_once(fmt::format(
      "typedef {} {} __attribute__((vector_size({}), aligned({}), may_alias));",
      context.dialect().type_name(dtype), name, size * static_cast<std::size_t>(lanes), size));
  return name;
}

std::string in_global_space(const Context& context, const std::string& type) {
  const std::string_view space = context.dialect().global;
  return space.empty() ? type : fmt::format("{} {}", space, type);
}

std::string bits_as(const Context& context, const std::string& type, const std::string& value) {
  if (context.dialect().has_vectors) return fmt::format("__builtin_astype({}, {})", value, type);
  return fmt::format("({})({})", type, value);
}

std::string complex_value(const Context& context, DType dtype, const std::string& re,
                          const std::string& im) {
  const Dialect& dialect = context.dialect();
  return fmt::format(fmt::runtime(dialect.complex_value), dialect.type_name(dtype), re, im);
}

namespace detail {

std::string joined(const Names& names, std::string_view separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

std::string shuffled(const std::string& left, const std::string& right,
                     const std::vector<int>& picks) {
  return fmt::format("__builtin_shufflevector({}, {}, {})", left, right, fmt::join(picks, ", "));
}

std::vector<int> range(int begin, int end) {
  std::vector<int> numbers;
  for (int i = begin; i < end; ++i) numbers.push_back(i);
  return numbers;
}

}  // namespace detail
}  // namespace op2::cg
