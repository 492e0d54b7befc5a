// SPDX-License-Identifier: BSD-3-Clause
#include "cg/conversions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "cg/lane_types.hpp"

namespace op2::cg {
namespace {

using namespace detail;

/// Vectors of another type of numbers. GCC 12 breaks down over vectors wider than the machine's,
/// so that these are converted in halves.
std::string convert_function(Context& context, DType from, DType to, int lanes) {
  const std::string name = fmt::format("op2_convert_{}x{}_{}", name_of(from), lanes, name_of(to));
  const std::string source = vector_type(context, from, lanes);
  const std::string type = vector_type(context, to, lanes);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    constexpr int widest = 64;  // bytes
    const auto bytes = static_cast<int>(std::max(size_of(from), size_of(to))) * lanes;
    const int half = lanes / 2;
    const std::string half_function =
        bytes > widest ? convert_function(out, from, to, half) : std::string();
    const Scope scope = out.function(fmt::format("{} {} {}({} x)", inlined, type, given, source));
    if (bytes <= widest) {
      out.statement(fmt::format("return __builtin_convertvector(x, {});", type));
      return;
    }
    const auto of_half = [&](int begin) {
      return fmt::format("{}({})", half_function, shuffled("x", "x", range(begin, begin + half)));
    };
    out.statement(fmt::format("return {};", shuffled(of_half(0), of_half(half), range(0, lanes))));
  });
}

/// The spelling of numbers, or of vectors of them, and of their bits.
class Bits {
 public:
  Bits(Context& context, DType real, int lanes)
      : context_(context),
        real_(real),
        word_(size_of(real) == 4 ? DType::uint32 : DType::uint64),
        lanes_(lanes) {}

  [[nodiscard]] std::string type(DType dtype) const {
    if (lanes_ > 0) return vector_type(context_, dtype, lanes_);
    return std::string(context_.dialect().type_name(dtype));
  }
  [[nodiscard]] std::string words() const { return type(word_); }

  /// The number with these bits.
  [[nodiscard]] std::string real(const std::string& bits) const {
    return renamed(context_.dialect().from_bits, "real", real_, word_, bits);
  }
  [[nodiscard]] std::string bits(const std::string& real) const {
    return renamed(context_.dialect().to_bits, "bits", word_, real_, real);
  }
  /// `r` is @p other where a condition is true, on vectors without branches.
  [[nodiscard]] std::string chosen(const std::string& condition, const std::string& other) const {
    if (lanes_ == 0) return fmt::format("r = {} ? {} : r;\n", condition, other);
    return fmt::format("on = {};\nr = (r & ~on) | ({} & on);\n",
                       bits_as(context_, words(), "(" + condition + ")"), other);
  }
  [[nodiscard]] std::string declared(const std::string& value) const {
    const std::string on = lanes_ > 0 ? fmt::format("{} on;\n", words()) : "";
    return fmt::format("{}{} r = {};\n", on, words(), value);
  }
  /// A function with one parameter, which is inlined.
  template <class Body>
  [[nodiscard]] std::string function(const std::string& key, DType to, DType from,
                                     const Body& body) const {
    const std::string name = lanes_ > 0 ? fmt::format("{}_x{}", key, lanes_) : key;
    const std::string head =
        fmt::format("{} {{}}({} x)",
                    lanes_ > 0 ? fmt::format("{} {}", inlined, type(to))
                               : fmt::format("{} {}", context_.dialect().function, type(to)),
                    type(from));
    return context_.find_or_generate(name, name, [&](Context& out, const std::string& given) {
      const std::string text = body();
      const Scope scope = out.function(fmt::format(fmt::runtime(head), given));
      out.statement(text);
    });
  }

 private:
  [[nodiscard]] std::string renamed(const std::array<std::string_view, 2>& instruction,
                                    std::string_view what, DType to, DType from,
                                    const std::string& value) const {
    if (lanes_ > 0) return bits_as(context_, type(to), "(" + value + ")");
    const std::size_t width = size_of(real_) == 4 ? 0 : 1;
    if (!instruction[width].empty()) return fmt::format(fmt::runtime(instruction[width]), value);
    const std::string name =
        function(fmt::format("op2_{}_{}", what, name_of(real_)), to, from, [&] {
          return fmt::format("{} y;\n__builtin_memcpy(&y, &x, sizeof y);\nreturn y;", type(to));
        });
    return fmt::format("{}({})", name, value);
  }

  Context& context_;
  DType real_;
  DType word_;
  int lanes_;
};

/// The machine's own instructions for what a function does with `x`.
struct Machine {
  std::string_view x86;  ///< Of 4 or 8 numbers; empty: none.
  std::string_view ptx;
  std::string_view to;  ///< PTX's names of types.
  std::string_view from;
};

/// Statements with the machine's instruction where there is one, in vectors of up to 8.
/// @param[in] half_of The function for half of the lanes.
template <class HalfOf>
std::string by_machine(const Context& context, const Machine& machine, DType to, int lanes,
                       const std::string& others, const HalfOf& half_of) {
  const Dialect& dialect = context.dialect();
  std::string text;
  if (lanes == 0 && dialect.is_cxx && !machine.ptx.empty()) {
    text = fmt::format(
        "#if defined(__CUDA_ARCH__)\n{} y;\nasm(\"{} %0, %1;\" : \"={}\"(y) : \"{}\"(x));\n"
        "return y;\n",
        dialect.type_name(to), machine.ptx, machine.to, machine.from);
  } else if (lanes > 8 && !dialect.has_vectors) {
    const int half = lanes / 2;
    const auto part = [&](int begin) {
      return half_of(half, shuffled("x", "x", range(begin, begin + half)));
    };
    return fmt::format("return {};", shuffled(part(0), part(half), range(0, lanes)));
  } else if ((lanes == 8 || lanes == 4) && !dialect.has_vectors && !machine.x86.empty()) {
    const std::string call = fmt::format("{}{}", machine.x86, lanes == 8 ? "256" : "");
    const std::string all = lanes == 8 ? "x" : shuffled("x", "x", {0, 1, 2, 3, 0, 1, 2, 3});
    std::string y = fmt::format("{}((short __attribute__((vector_size(16))))({}))", call, all);
    if (is_half(to)) {
      y = fmt::format("{}(x, 0)", call);
      if (lanes == 4) y = shuffled(y, y, {0, 1, 2, 3});
    }
    text = fmt::format("#if defined(__F16C__)\nreturn ({})({});\n", vector_name(to, lanes), y);
  }
  return text.empty() ? others : fmt::format("{}#else\n{}\n#endif", text, others);
}

/// Numbers of 16 bits as floats. All exponents are raised; those of subnormal numbers by a
/// subtraction.
std::string widened(Context& context, DType half, int lanes, const std::string& value) {
  const Bits as(context, DType::float32, lanes);
  const auto body = [&] {
    const std::string whole = converted(context, DType::uint16, DType::uint32, lanes, "x");
    Machine machine{};
    std::string text = fmt::format("return {};", as.real(whole + " << 16"));
    if (half == DType::float16) {
      machine = {"__builtin_ia32_vcvtph2ps", "cvt.f32.f16", "f", "h"};
      const std::string tiny = as.bits(as.real("size + 0x38800000u") + " - 6.103515625e-05f");
      text = fmt::format("const {0} all = {1};\nconst {0} size = (all & 0x7fffu) << 13;\n",
                         as.words(), whole) +
             as.declared("size + 0x38000000u") +
             as.chosen("size >= 0xf800000u", "(r + 0x38000000u)") +
             as.chosen("size < 0x800000u", tiny) +
             fmt::format("return {};", as.real("r | (all & 0x8000u) << 16"));
    }
    return by_machine(context, machine, DType::float32, lanes, text,
                      [&](int n, const std::string& x) { return widened(context, half, n, x); });
  };
  const std::string name =
      as.function(fmt::format("op2_widen_{}", name_of(half)), DType::float32, half, body);
  return fmt::format("{}({})", name, value);
}

/// Floats in 16 bits, rounded to nearest; subnormal numbers by adding a power of two whose last
/// digit is that of the least one.
std::string narrowed(Context& context, DType half, int lanes, const std::string& value) {
  const Bits as(context, DType::float32, lanes);
  const auto body = [&] {
    const bool is_brain = half == DType::bfloat16;
    std::string text = fmt::format("const {0} all = {1};\nconst {0} size = all & 0x7fffffffu;\n",
                                   as.words(), as.bits("x"));
    Machine machine{};
    if (is_brain) {
      text += as.declared("(size + 0x7fffu + ((size >> 16) & 1u)) >> 16");
    } else {
      machine = {"__builtin_ia32_vcvtps2ph", "cvt.rn.f16.f32", "h", "f"};
      text += as.declared("((size + 0xfffu + ((size >> 13) & 1u)) >> 13) - 0x1c000u") +
              as.chosen("size < 0x38800000u",
                        fmt::format("({} - 0x3f000000u)", as.bits(as.real("size") + " + 0.5f"))) +
              as.chosen("size >= 0x47800000u", "0x7c00u");
    }
    text += as.chosen("size > 0x7f800000u", is_brain ? "0x7fc0u" : "0x7e00u") +
            fmt::format("r |= (all >> 16) & 0x8000u;\nreturn {};",
                        converted(context, DType::uint32, DType::uint16, lanes, "r"));
    return by_machine(context, machine, half, lanes, text,
                      [&](int n, const std::string& x) { return narrowed(context, half, n, x); });
  };
  const std::string name =
      as.function(fmt::format("op2_narrow_float32_{}", name_of(half)), half, DType::float32, body);
  return fmt::format("{}({})", name, value);
}

/// Doubles in 16 bits. The last of the bits that floats keep is set if any behind it is: so the way
/// by floats rounds once. Two bits more than those of the result are enough for that, and are there
/// in subnormal floats, too.
std::string narrowed_double(Context& context, DType half, int lanes, const std::string& value) {
  const Bits as(context, DType::float64, lanes);
  const auto body = [&] {
    const bool is_brain = half == DType::bfloat16;
    const std::string gone = is_brain ? "0x7fffffffffful" : "0xfffffffffful";  // 43 or 40 bits
    const std::string odd = as.real(fmt::format("(all | ((all & {0}) + {0})) & ~{0}", gone));
    const std::string text =
        fmt::format("const {} all = {};\nreturn {};", as.words(), as.bits("x"),
                    narrowed(context, half, lanes,
                             converted(context, DType::float64, DType::float32, lanes, odd)));
    const Machine machine{"", is_brain ? "" : "cvt.rn.f16.f64", "h", "d"};
    return by_machine(context, machine, half, lanes, text, [&](int n, const std::string& x) {
      return narrowed_double(context, half, n, x);
    });
  };
  const std::string name =
      as.function(fmt::format("op2_narrow_float64_{}", name_of(half)), half, DType::float64, body);
  return fmt::format("{}({})", name, value);
}

}  // namespace

std::string converted(Context& context, DType from, DType to, int lanes, const std::string& value) {
  if (from == to) return value;
  if (is_half(from)) {
    return converted(context, DType::float32, to, lanes, widened(context, from, lanes, value));
  }
  if (is_half(to)) {
    return from == DType::float32 ? narrowed(context, to, lanes, value)
                                  : narrowed_double(context, to, lanes, value);
  }
  const std::string_view type = context.dialect().type_name(to);
  if (lanes == 0) return fmt::format("({})({})", type, value);
  if (context.dialect().has_vectors) return fmt::format("convert_{}{}({})", type, lanes, value);
  return fmt::format("{}({})", convert_function(context, from, to, lanes), value);
}

}  // namespace op2::cg
