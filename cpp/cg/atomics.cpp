// SPDX-License-Identifier: BSD-3-Clause
#include "cg/atomics.hpp"

#include <fmt/format.h>

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

/// Writes the function `name(target, value)`.
class Helper {
 public:
  Helper(Context& out, const std::string& name, DType dtype, kir::Update update)
      : out_(out), dialect_(out.dialect()), dtype_(dtype), update_(update), name_(name) {}

  void write() {
    const std::string memory = dialect_.global.empty() ? "" : fmt::format("{} ", dialect_.global);
    const Scope scope = out_.function(fmt::format(
        "{} void {}({}{} *target, {} value)", dialect_.function, name_, memory, type(), type()));
    switch (dialect_.exchange) {
      case Exchange::gcc:
        return by_builtin();
      case Exchange::opencl:
      case Exchange::cuda:
        return size_of(dtype_) < 4 ? in_a_word() : by_bits();
    }
  }

 private:
  [[nodiscard]] std::string_view type() const { return dialect_.type_name(dtype_); }

  void by_builtin() {
    const std::string seen = out_.declare(std::string(type()), "seen");
    const std::string wanted = out_.declare(std::string(type()), "wanted");
    out_.statement(fmt::format("__atomic_load(target, &{}, __ATOMIC_RELAXED);", seen));
    out_.begin_branch("do");
    out_.statement(fmt::format("{} = ({})({});", wanted, type(), combined(update_, seen)));
    out_.end_branch(
        fmt::format("while (!__atomic_compare_exchange(target, &{}, &{}, 1, __ATOMIC_RELAXED,\n"
                    "                                  __ATOMIC_RELAXED));",
                    seen, wanted));
  }

  /// An unsigned integer as wide as the value, as the exchange wants it.
  [[nodiscard]] std::string_view word() const {
    const bool is_wide = size_of(dtype_) == 8;
    if (dialect_.exchange == Exchange::cuda) return is_wide ? "unsigned long long" : "unsigned int";
    return is_wide ? "ulong" : "uint";
  }

  [[nodiscard]] std::string exchange(std::string_view wanted) const {
    if (dialect_.exchange == Exchange::cuda)
      return fmt::format("atomicCAS(word, before, {})", wanted);
    return fmt::format("{}(word, before, {})",
                       size_of(dtype_) == 8 ? "atom_cmpxchg" : "atomic_cmpxchg", wanted);
  }

  [[nodiscard]] std::string pointer_type() const {
    if (dialect_.exchange == Exchange::cuda) return fmt::format("{} *", word());
    return fmt::format("volatile {} {} *", dialect_.global, word());
  }

  [[nodiscard]] std::string from_bits(std::string_view bits) const {
    if (!is_real(dtype_)) return fmt::format("({}){}", type(), bits);
    if (dialect_.exchange == Exchange::opencl) return fmt::format("as_{}({})", type(), bits);
    return fmt::format("{}({})",
                       dtype_ == DType::float64 ? "__longlong_as_double" : "__int_as_float", bits);
  }

  [[nodiscard]] std::string to_bits(std::string_view value) const {
    if (!is_real(dtype_)) return fmt::format("({}){}", word(), value);
    if (dialect_.exchange == Exchange::opencl) return fmt::format("as_{}({})", word(), value);
    return fmt::format("({}){}({})", word(),
                       dtype_ == DType::float64 ? "__double_as_longlong" : "__float_as_int", value);
  }

  void by_bits() {
    out_.statement(fmt::format("{}word = ({})target;", pointer_type(), pointer_type()));
    out_.statement(fmt::format("{} before;\n{} seen = *word;", word(), word()));
    out_.begin_branch("do");
    out_.statement("before = seen;");
    out_.statement(fmt::format("const {} old = {};", type(), from_bits("before")));
    out_.statement(fmt::format("const {} wanted = {};", type(), combined(update_, "old")));
    out_.statement(fmt::format("seen = {};", exchange(to_bits("wanted"))));
    out_.end_branch("while (seen != before);");
  }

  /// The word that holds a narrow value; devices count bytes from the low end.
  void in_a_word() {
    const std::string_view address = dialect_.type_name(DType::uint64);
    const std::string_view bits = dialect_.type_name(DType::uint32);
    const std::string_view narrow =
        dialect_.type_name(size_of(dtype_) == 1 ? DType::uint8 : DType::uint16);
    const std::string_view mask = size_of(dtype_) == 1 ? "0xffu" : "0xffffu";
    out_.statement(fmt::format("{0}word = ({0})(({1})target & ~({1})3);", pointer_type(), address));
    out_.statement(fmt::format("const {} shift = ({})(({})target & 3) * 8;", bits, bits, address));
    out_.statement(fmt::format("{} before;\n{} seen = *word;", bits, bits));
    out_.begin_branch("do");
    out_.statement("before = seen;");
    out_.statement(fmt::format("const {0} old = ({0})(before >> shift);", type()));
    out_.statement(fmt::format("const {0} wanted = ({0})({1});", type(), combined(update_, "old")));
    out_.statement(fmt::format(
        "seen = {};", exchange(fmt::format("(before & ~({} << shift)) | (({})({})wanted << shift)",
                                           mask, bits, narrow))));
    out_.end_branch("while (seen != before);");
  }

  Context& out_;
  const Dialect& dialect_;
  DType dtype_;
  kir::Update update_;
  const std::string& name_;
};

std::string helper(Context& context, DType dtype, kir::Update update) {
  const std::string name = fmt::format("op2_atomic_{}_{}", name_of(update), op2::name_of(dtype));
  return context.find_or_generate(name, name,
                                  [dtype, update](Context& out, const std::string& given) {
                                    Helper(out, given, dtype, update).write();
                                  });
}

bool is_signed(DType dtype) {
  return dtype == DType::int32 || dtype == DType::int64;
}

/// The dialect's own instruction, as a call; empty if it has none.
std::string instruction(const Dialect& dialect, DType dtype, kir::Update update,
                        const std::string& address, const std::string& value) {
  const bool is_wide = size_of(dtype) == 8;
  if (dialect.exchange == Exchange::gcc || size_of(dtype) < 4) return "";
  if (dialect.exchange == Exchange::opencl) {
    if (is_real(dtype)) return "";
    if (is_wide && update != kir::Update::add) return "";  // an extension of its own
    return fmt::format("{}_{}({}, {});", is_wide ? "atom" : "atomic", name_of(update), address,
                       value);
  }
  if (update == kir::Update::add) {
    if (!is_wide || is_real(dtype)) return fmt::format("atomicAdd({}, {});", address, value);
    return fmt::format("atomicAdd((unsigned long long *)({}), (unsigned long long){});", address,
                       value);
  }
  if (is_real(dtype)) return "";
  const std::string_view word = is_signed(dtype) ? "long long" : "unsigned long long";
  const std::string_view call = update == kir::Update::min ? "atomicMin" : "atomicMax";
  if (!is_wide) return fmt::format("{}({}, {});", call, address, value);
  return fmt::format("{0}(({1} *)({2}), ({1}){3});", call, word, address, value);
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
