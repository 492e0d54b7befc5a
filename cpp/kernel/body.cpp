// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/canonical.hpp"
#include "base/error.hpp"

namespace op2::kernel {
namespace {

constexpr auto first_dtype = static_cast<std::uint8_t>(Base::int8);

constexpr std::array<std::string_view, 10> unary_spelling{"+", "-",  "~",  "!",  "*",
                                                          "&", "++", "--", "++", "--"};
constexpr std::array<std::string_view, 19> binary_spelling{"*", "/", "%",  "+",  "-",  "<<", ">>",
                                                           "<", ">", "<=", ">=", "==", "!=", "&",
                                                           "^", "|", "&&", "||", ","};

}  // namespace

Base base_of(DType dtype) {
  if (is_half(dtype)) return Base::uint16;  // what the text of memory has
  return static_cast<Base>(first_dtype + static_cast<std::uint8_t>(dtype));
}

std::optional<DType> dtype_of(Base base) {
  if (base == Base::boolean) return DType::uint8;
  if (base == Base::unknown || base == Base::none || base == Base::structure) return std::nullopt;
  return static_cast<DType>(static_cast<std::uint8_t>(base) - first_dtype);
}

std::string_view name_of(Base base) {
  if (base == Base::unknown) return "unknown";
  if (base == Base::none) return "void";
  if (base == Base::structure) return "struct";
  if (base == Base::boolean) return "bool";
  return op2::name_of(*dtype_of(base));
}

std::string_view c_name_of(Base base) {
  if (base == Base::unknown || base == Base::none) return "void";
  if (base == Base::structure) return "struct";
  if (base == Base::boolean) return "_Bool";
  return op2::c_name_of(*dtype_of(base));
}

Base base_from_name(std::string_view name) {
  for (auto i = static_cast<int>(Base::none); i <= static_cast<int>(Base::complex128); ++i) {
    const auto base = static_cast<Base>(i);
    if (name_of(base) == name) return base;
  }
  throw InternalError(fmt::format("kernel: '{}' is not a scalar type", name));
}

bool is_complex(Base base) {
  return base == Base::complex64 || base == Base::complex128;
}
bool is_floating(Base base) {
  return base == Base::float32 || base == Base::float64 || is_complex(base);
}
bool is_integer(Base base) {
  return base >= Base::boolean && base <= Base::uint64;
}

std::int64_t bytes_of(const Type& type) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const auto times = [](std::int64_t n, std::int64_t factor) {
    return factor > most / n ? most : n * factor;
  };
  std::int64_t n = 1;
  for (const Derivation& step : type.derivation) {
    if (step.kind == Derivation::Kind::pointer) return times(n, 8);
    n = times(n, std::max<std::int64_t>(step.extent, 1));
  }
  const auto dtype = dtype_of(type.base);
  const std::int64_t scalar = dtype ? static_cast<std::int64_t>(size_of(*dtype)) : 8;
  return times(n, scalar * std::max(type.lanes, 1));
}

bool Type::is_array() const {
  return !derivation.empty() && derivation.front().kind == Derivation::Kind::array;
}
bool Type::is_pointer() const {
  return !derivation.empty() && derivation.front().kind == Derivation::Kind::pointer;
}

Type scalar(Base base) {
  return Type{.base = base, .is_const = false, .derivation = {}};
}

Type on_lanes(Base base, int lanes) {
  Type type = scalar(base);
  type.lanes = lanes;
  return type;
}

Type pointer_to(Type target, bool is_const) {
  target.derivation.insert(
      target.derivation.begin(),
      Derivation{.kind = Derivation::Kind::pointer, .extent = 0, .is_const = is_const});
  return target;
}

Type element_of(const Type& type) {
  if (type.derivation.empty()) return Type{};
  Type element = type;
  element.derivation.erase(element.derivation.begin());
  return element;
}

Type decayed(Type type) {
  if (type.is_array()) type.derivation.front() = Derivation{};
  return type;
}

std::int64_t n_scalars(const Type& type) {
  std::int64_t count = 1;
  for (const Derivation& step : type.derivation) {
    if (step.kind == Derivation::Kind::pointer) break;
    count *= step.extent;
  }
  return count;
}

std::string_view spelling_of(UnaryOp op) {
  return unary_spelling[static_cast<std::size_t>(op)];
}
std::string_view spelling_of(BinaryOp op) {
  return binary_spelling[static_cast<std::size_t>(op)];
}

UnaryOp unary_from(std::string_view spelling, bool is_postfix) {
  if (is_postfix) return spelling == "++" ? UnaryOp::post_increment : UnaryOp::post_decrement;
  const auto found = std::ranges::find(unary_spelling, spelling);
  if (found == unary_spelling.end()) {
    throw InternalError(fmt::format("kernel: '{}' is not a unary operator", spelling));
  }
  return static_cast<UnaryOp>(found - unary_spelling.begin());
}

BinaryOp binary_from(std::string_view spelling) {
  const auto found = std::ranges::find(binary_spelling, spelling);
  if (found == binary_spelling.end()) {
    throw InternalError(fmt::format("kernel: '{}' is not a binary operator", spelling));
  }
  return static_cast<BinaryOp>(found - binary_spelling.begin());
}

bool Expr::operator==(const Expr& other) const {
  return node == other.node && type == other.type && operands == other.operands;
}

bool Variable::operator==(const Variable& other) const {
  return name == other.name && type == other.type && value == other.value;
}

bool Stmt::operator==(const Stmt& other) const {
  return node == other.node;
}

bool Parameter::operator==(const Parameter& other) const {
  return name == other.name && type == other.type;
}

bool FunctionDef::operator==(const FunctionDef& other) const {
  return name == other.name && result == other.result && parameters == other.parameters &&
         body == other.body && vector_text == other.vector_text;
}

bool Structure::operator==(const Structure& other) const {
  return name == other.name && members == other.members;
}

const Structure* KernelBody::structure(std::string_view name) const {
  const auto found = std::ranges::find(structures, name, &Structure::name);
  return found == structures.end() ? nullptr : &*found;
}

const FunctionDef* KernelBody::function(std::string_view name) const {
  const auto found = std::ranges::find(functions, name, &FunctionDef::name);
  return found == functions.end() ? nullptr : &*found;
}

std::string kernel_key(const Kernel& kernel, std::span<const std::string> tokens,
                       std::span<const std::string> header_contents, std::string_view abi) {
  Canonical key;
  const auto list = [&key](std::string_view name, std::span<const std::string> items) {
    key.open(name);
    for (const std::string& item : items) key.text(item);
    key.close();
  };
  key.open("kernel").text(kernel.name).text(abi).flag(kernel.cpp);
  key.flag(kernel.requires_zeroed_output_arguments);
  list("tokens", tokens);
  list("headers", kernel.headers);
  list("contents", header_contents);
  list("include_dirs", kernel.include_dirs);
  list("options", kernel.options);
  list("ldargs", kernel.ldargs);
  key.close();
  return key.str();
}

}  // namespace op2::kernel
