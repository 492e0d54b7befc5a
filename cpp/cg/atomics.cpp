// SPDX-License-Identifier: BSD-3-Clause
#include "cg/atomics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/error.hpp"

namespace op2::cg {
namespace {

std::string_view name_of(kir::Update update) {
  switch (update) {
    case kir::Update::add:
      return "add";
    case kir::Update::min:
      return "min";
    case kir::Update::max:
      return "max";
    case kir::Update::set:
      break;
  }
  throw InternalError("an atomic update that sets");
}

std::string combined(kir::Update update, const std::string& seen) {
  if (update == kir::Update::add) return seen + " + value";
  return update == kir::Update::min ? fmt::format("value < {0} ? value : {0}", seen)
                                    : fmt::format("{0} < value ? value : {0}", seen);
}

bool is_real(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64;
}

/// What a function does to `*target`. Names of its own are those of templates.
std::string body_of(const Dialect& dialect, DType dtype, kir::Update update) {
  const std::string_view type = dialect.type_name(dtype);
  if (!dialect.exchange_any.empty()) {
    return fmt::format(fmt::runtime(dialect.exchange_any), type, combined(update, "seen"));
  }
  const std::size_t width = size_of(dtype) == 8 ? 1 : 0;
  const std::string_view word = dialect.word[width];
  const std::string words = fmt::format(fmt::runtime(dialect.words), word);
  std::string place = "target";
  std::string old = fmt::format("({})before", type);
  std::string wanted = combined(update, "old");
  std::string bits = fmt::format("({})wanted", word);
  if (size_of(dtype) < 4) {  // of the word around it; devices count bytes from the low end
    const std::string address = fmt::format("({})", dialect.type_name(DType::uint64));
    const bool is_byte = size_of(dtype) == 1;
    place = fmt::format("({0}target & ~{0}3);\nconst {1} shift = ({1})({0}target & 3) * 8", address,
                        word);
    old = fmt::format("({})(before >> shift)", type);
    wanted = fmt::format("({})({})", type, wanted);
    bits = fmt::format("(before & ~({} << shift)) | (({})({})wanted << shift)",
                       is_byte ? "0xffu" : "0xffffu", word,
                       dialect.type_name(is_byte ? DType::uint8 : DType::uint16));
  } else if (is_real(dtype)) {
    old = fmt::format(fmt::runtime(dialect.from_bits[width]), "before");
    bits = fmt::format(fmt::runtime(dialect.to_bits[width]), "wanted");
  }
  return fmt::format(
      "{0}word = ({0}){1};\n{2} before;\n{2} seen = *word;\ndo {{\n  before = seen;\n"
      "  const {3} old = {4};\n  const {3} wanted = {5};\n  seen = {6};\n}} while (seen != "
      "before);",
      words, place, word, type, old, wanted,
      fmt::format(fmt::runtime(dialect.exchange[width]), bits));
}

/// The function `name(target, value)`, which is written once.
std::string helper(Context& context, DType dtype, kir::Update update) {
  const std::string name = fmt::format("op2_atomic_{}_{}", name_of(update), op2::name_of(dtype));
  return context.find_or_generate(
      name, name, [dtype, update](Context& out, const std::string& given) {
        const Dialect& dialect = out.dialect();
        const std::string_view space = dialect.global.empty() ? "" : " ";
        const Scope scope =
            out.function(fmt::format("{0} void {1}({2}{3}{4} *target, {4} value)", dialect.function,
                                     given, dialect.global, space, dialect.type_name(dtype)));
        out.statement(body_of(dialect, dtype, update));
      });
}

/// The dialect's own instruction, as a call; empty if it has none.
std::string instruction(const Dialect& dialect, DType dtype, kir::Update update,
                        const std::string& address, const std::string& value) {
  const std::string wanted = fmt::format(" {} ", op2::name_of(dtype));
  std::string_view rest = dialect.atomics;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t colon = line.find(": ");
    const std::string dtypes(line.substr(0, colon));
    if (!dtypes.starts_with(name_of(update)) || (dtypes + " ").find(wanted) == std::string::npos)
      continue;
    return fmt::format(fmt::runtime(line.substr(colon + 2)), address, value);
  }
  return "";
}

std::string real_update(Context& context, DType dtype, kir::Update update,
                        const std::string& address, const std::string& value) {
  const std::string call = instruction(context.dialect(), dtype, update, address, value);
  if (!call.empty()) return call;
  return fmt::format("{}({}, {});", helper(context, dtype, update), address, value);
}

}  // namespace

std::string atomic_update(Context& context, DType dtype, kir::Update update,
                          const std::string& address, const std::string& value) {
  if (!is_complex(dtype)) return real_update(context, dtype, update, address, value);
  const DType part = dtype == DType::complex64 ? DType::float32 : DType::float64;
  const Dialect& dialect = context.dialect();
  const std::string memory = dialect.global.empty() ? "" : fmt::format("{} ", dialect.global);
  const std::string parts = fmt::format("({}{} *){}", memory, dialect.type_name(part), address);
  return real_update(context, part, update, parts,
                     fmt::format(fmt::runtime(dialect.real_part), value)) +
         "\n" +
         real_update(context, part, update, parts + " + 1",
                     fmt::format(fmt::runtime(dialect.imaginary_part), value));
}

}  // namespace op2::cg
