// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lane_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "cg/lane_texts.hpp"
#include "cg/lane_types.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/lane_functions.hpp"
#include "kernel/walk.hpp"

namespace op2::cg {
namespace {

using namespace detail;
using kernel::LaneOp;

struct Spelled {
  std::string type;    ///< of the vectors
  std::string scalar;  ///< of one lane
  std::string mask;    ///< of the mask for such vectors
};

void define_blend(Context& out, const std::string& name, const Spelled& t) {
  const Scope scope = out.function(
      fmt::format("{0} {1} {2}({3} mask, {1} on, {1} off)", inlined, t.type, name, t.mask));
  const std::string chosen = fmt::format("({} & mask) | ({} & ~mask)", bits_as(out, t.mask, "on"),
                                         bits_as(out, t.mask, "off"));
  out.statement(fmt::format("return {};", bits_as(out, t.type, chosen)));
}

/// A product of the fewest factors; with functions for scalars the power of each lane.
void define_power(Context& out, const std::string& name, const Spelled& t,
                  const kernel::LaneFunction& function, kernel::Elementary elementary) {
  const Scope scope = out.function(fmt::format("{0} {1} {2}({1} a)", inlined, t.type, name));
  if (elementary != kernel::Elementary::scalars) {
    if (function.function == "4") out.statement(fmt::format("const {} b = a * a;", t.type));
    const std::map<std::string_view, std::string_view> products{
        {"2", "a * a"}, {"3", "a * a * a"}, {"4", "b * b"}};
    return out.statement(fmt::format("return {};", products.at(function.function)));
  }
  const bool is_single = function.base == kernel::Base::float32;
  const std::string_view scalar =
      out.dialect().has_vectors ? "pow" : (is_single ? "__builtin_powf" : "__builtin_pow");
  const Names items = for_lanes(function.lanes, [&](int lane) {
    return fmt::format("{}(a[{}], ({}){})", scalar, lane, t.scalar, function.function);
  });
  out.statement(fmt::format("return ({}){{{}}};", t.type, joined(items)));
}

void define_any(Context& out, const std::string& name, const Spelled& t, int lanes) {
  const Scope scope = out.function(fmt::format("{} int {}({} mask)", inlined, name, t.type));
  const Names items = for_lanes(lanes, [](int lane) { return fmt::format("mask[{}]", lane); });
  out.statement(fmt::format("return ({}) != 0;", joined(items, " | ")));
}

void define_access(Context& out, const std::string& name, const Spelled& t, LaneOp op, int lanes) {
  const std::string index = vector_type(out, DType::int64, lanes);
  const bool is_of_lanes = op == LaneOp::pick;
  std::string from = is_of_lanes ? t.type : t.scalar;
  if (op == LaneOp::table) from = fmt::format("{} {}", out.dialect().table, from);
  const Scope scope = out.function(
      fmt::format("{} {} {}(const {} *from, {} index)", inlined, t.type, name, from, index));
  const std::string_view lane_of = is_of_lanes ? "from[index[{0}]][{0}]" : "from[index[{0}]]";
  const Names items =
      for_lanes(lanes, [lane_of](int lane) { return fmt::format(fmt::runtime(lane_of), lane); });
  out.statement(fmt::format("return ({}){{{}}};", t.type, joined(items)));
}

void define_put(Context& out, const std::string& name, const Spelled& t, int lanes) {
  const std::string index = vector_type(out, DType::int64, lanes);
  const Scope scope =
      out.function(fmt::format("{0} void {1}({2} *to, {3} index, {4} mask, {2} value)", inlined,
                               name, t.type, index, t.mask));
  for (int lane = 0; lane < lanes; ++lane) {
    out.statement(fmt::format("if (mask[{0}]) to[index[{0}]][{0}] = value[{0}];", lane));
  }
}

std::string lane_name(std::string name, DType dtype) {
  if (name.starts_with("__builtin_")) name.erase(0, 10);
  if (dtype == DType::float32 && !name.empty() && name.back() == 'f') name.pop_back();
  return name;
}

/// The few library functions that are cheaper as whole vectors than lane by lane.
std::string vector_form(const std::string& function, const Spelled& t, DType dtype, int lanes) {
  const std::string name = lane_name(function, dtype);
  if (name == "fabs") {
    const std::string_view bits = dtype == DType::float32 ? "0x7fffffff" : "0x7fffffffffffffff";
    return fmt::format("({})(({})a & {})", t.type, t.mask, bits);
  }
  if (name != "fmin" && name != "fmax") return "";
  // A NaN loses against any number.
  const std::string blend = kernel::name_of({LaneOp::blend, kernel::base_of(dtype), lanes, ""});
  return fmt::format("{}((a {} b) | (b != b), a, b)", blend, name == "fmin" ? "<" : ">");
}

/// Functions of one argument that are an instruction of vectors on any processor. Lanes are listed
/// then: GCC passes the result of a loop over 64 bytes through memory, in halves, and waits for it.
bool is_one_instruction(const std::string& function, DType dtype) {
  constexpr std::array<std::string_view, 3> names{"sqrt", "rint", "nearbyint"};
  return std::ranges::find(names, lane_name(function, dtype)) != names.end();
}

/// Vector form of a function in glibc's libmvec, named by the vector function ABI of x86-64. The
/// linker finds the library behind -lm. Errors measured below 4 ulp: docs/notebook, 2026-11-29.
struct VectorMath {
  std::string symbol;
  std::string_view macro;  ///< defined by compilers where the machine has vectors of this width
  int minor;               ///< glibc 2.`minor` is the first release with the function
};

std::optional<VectorMath> vector_math(const std::string& function, DType dtype, int lanes,
                                      std::size_t n_arguments) {
  const kernel::KnownFunction* known = kernel::known_function(function);
  if (known == nullptr || known->vectors_since == 0) return std::nullopt;
  struct Width {
    std::size_t bytes;
    char letter;
    std::string_view macro;
  };
  constexpr std::array<Width, 3> widths{Width{16, 'b', "__SSE2__"}, Width{32, 'd', "__AVX2__"},
                                        Width{64, 'e', "__AVX512F__"}};
  const std::size_t bytes = size_of(dtype) * static_cast<std::size_t>(lanes);
  const auto width = std::ranges::find(widths, bytes, &Width::bytes);
  if (width == widths.end()) return std::nullopt;
  return VectorMath{
      fmt::format("_ZGV{}N{}{}_{}{}", width->letter, lanes, std::string(n_arguments, 'v'),
                  lane_name(function, dtype), dtype == DType::float32 ? "f" : ""),
      width->macro, known->vectors_since};
}

/// `return symbol(a, b);` where there is such a function.
void call_vector_math(Context& out, const VectorMath& math, const std::string& result,
                      const Names& parameters) {
  out.statement(
      fmt::format("#if defined(__x86_64__) && defined({}) && defined(__GLIBC__) && "
                  "(__GLIBC__ > 2 || __GLIBC_MINOR__ >= {})",
                  math.macro, math.minor));
  out.statement(fmt::format("extern {} {}({});", result, math.symbol, joined(parameters)));
  Names arguments;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    arguments.push_back(std::string(1, static_cast<char>('a' + i)));
  }
  out.statement(fmt::format("return {}({});", math.symbol, joined(arguments)));
  out.statement("#else");
}

/// Vectors of what the library function takes, which may be integers: `ldexp(double, int)`.
Names parameters_of(Context& out, const kernel::LaneFunction& function, std::size_t n_arguments) {
  const kernel::KnownFunction& known = *kernel::known_function(function.function);
  Names parameters;
  for (std::size_t i = 0; i < n_arguments; ++i) {
    const DType dtype = *kernel::dtype_of(known.parameters[i].base);
    parameters.push_back(
        fmt::format("{} {}", vector_type(out, dtype, function.lanes), static_cast<char>('a' + i)));
  }
  return parameters;
}

/// Functions of vectors that PoCL 3.1 computes wrongly: it decides for all lanes by what one of
/// them needs, so that a large number beside a small one spoils its sine. They are called lane by
/// lane.
bool is_spoilt_by_others(const std::string& function, DType dtype) {
  constexpr std::array<std::string_view, 3> always{"pow", "fmod", "remainder"};
  constexpr std::array<std::string_view, 3> of_floats{"sin", "cos", "tan"};
  const std::string name = lane_name(function, dtype);
  return std::ranges::find(always, name) != always.end() ||
         (dtype == DType::float32 && std::ranges::find(of_floats, name) != of_floats.end());
}

struct Use {
  kernel::LaneFunction function;
  std::size_t n_arguments;
  DType result;  ///< of a call; else that of T
  kernel::Elementary elementary = {};
};

void define_use(Context& context, const Use& use);

/// A call of the function of vectors that `templates/lanes` has; empty if there is none.
std::string call_of_text(Context& out, const Use& use) {
  const DType dtype = *kernel::dtype_of(use.function.base);
  const std::string name = lane_name(use.function.function, dtype);
  if (use.elementary == kernel::Elementary::scalars || !has_lane_text(name, dtype)) return "";
  const std::string scalar =
      out.dialect().has_vectors
          ? out.dialect().library(*kernel::known_function(use.function.function)).name
          : fmt::format("__builtin_{}{}", name, dtype == DType::float32 ? "f" : "");
  const auto basic = [&](LaneOp op) {
    const bool is_any = op == LaneOp::any;
    const kernel::Base base = is_any ? kernel::mask_base(use.function.base) : use.function.base;
    const kernel::LaneFunction function{op, base, use.function.lanes, ""};
    define_use(out, {function, is_any ? 1U : 3U, *kernel::dtype_of(base)});
    return kernel::name_of(function);
  };
  return define_lane_text(out, name, dtype, use.function.lanes, scalar, basic) +
         (use.n_arguments == 1 ? "(a)" : "(a, b)");
}

/// A function of a language that has vectors: most take them as they take scalars.
void define_native_call(Context& out, const Use& use, const std::string& result,
                        const Names& parameters, const std::string& name, const Spelled& t) {
  const kernel::LaneFunction& function = use.function;
  const kernel::KnownFunction& known = *kernel::known_function(function.function);
  const bool is_spoilt = is_spoilt_by_others(function.function, *kernel::dtype_of(function.base));
  const bool may_be_native = use.elementary == kernel::Elementary::library && !is_spoilt;
  const std::string text = may_be_native ? "" : call_of_text(out, use);
  const LibraryFunction native = out.dialect().library(known);
  const Scope scope =
      out.function(fmt::format("{} {} {}({})", inlined, result, name, joined(parameters)));
  const auto arguments = [&parameters](std::string_view lane) {
    Names list;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      list.push_back(fmt::format("{}{}", static_cast<char>('a' + i), lane));
    }
    return joined(list);
  };
  if (!text.empty()) return out.statement(fmt::format("return {};", text));
  if (result == t.type && !native.cast_result && !is_spoilt) {
    out.statement(fmt::format("return {}({});", native.name, arguments("")));
    return;
  }
  out.statement(fmt::format("{} result;", result));
  out.begin_branch(fmt::format("for (int lane = 0; lane < {}; ++lane)", function.lanes));
  out.statement(fmt::format("result[lane] = {}({});", native.name, arguments("[lane]")));
  out.end_branch();
  out.statement("return result;");
}

void define_call(Context& out, const Use& use, const std::string& result, const std::string& name,
                 const Spelled& t) {
  const auto& [function, n_arguments, result_dtype, elementary] = use;
  const Names parameters = parameters_of(out, function, n_arguments);
  const DType dtype = *kernel::dtype_of(function.base);
  if (out.dialect().has_vectors) return define_native_call(out, use, result, parameters, name, t);
  const std::string whole = vector_form(function.function, t, dtype, function.lanes);
  const std::string text = call_of_text(out, use);
  const Scope scope =
      out.function(fmt::format("{} {} {}({})", inlined, result, name, joined(parameters)));
  if (!whole.empty()) {
    out.statement(fmt::format("return {};", whole));
    return;
  }
  const auto math = elementary == kernel::Elementary::library
                        ? vector_math(function.function, dtype, function.lanes, n_arguments)
                        : std::nullopt;
  if (math) call_vector_math(out, *math, result, parameters);
  if (!text.empty()) {
    out.statement(fmt::format("return {};", text));
    return math ? out.statement("#endif") : void();
  }
  // The builtin needs no prototype. Compilers turn the lanes into one instruction if there is one.
  const std::string builtin = function.function.starts_with("__builtin_")
                                  ? function.function
                                  : "__builtin_" + function.function;
  if (is_one_instruction(function.function, dtype)) {
    const Names values = for_lanes(
        function.lanes, [&](int lane) { return fmt::format("{}(a[{}])", builtin, lane); });
    return out.statement(fmt::format("return ({}){{{}}};", result, joined(values)));
  }
  Names arguments;
  for (std::size_t i = 0; i < n_arguments; ++i) {
    arguments.push_back(fmt::format("{}[lane]", static_cast<char>('a' + i)));
  }
  out.statement(fmt::format("{} result;", result));
  out.begin_branch(fmt::format("for (int lane = 0; lane < {}; ++lane)", function.lanes));
  out.statement(fmt::format("result[lane] = {}({});", builtin, joined(arguments)));
  out.end_branch();
  out.statement("return result;");
  if (math) out.statement("#endif");
}

/// What a function over complex lanes returns, made of the parts of its arguments.
std::string complex_form(const kernel::LaneFunction& function, const std::string& type) {
  const auto made = [&type](const std::string& re, const std::string& im) {
    return fmt::format("({}){{{}, {}}}", type, re, im);
  };
  const std::string blend =
      kernel::name_of({LaneOp::blend, kernel::part_base(function.base), function.lanes, ""});
  switch (function.op) {
    case LaneOp::blend:
      return made(blend + "(mask, on.re, off.re)", blend + "(mask, on.im, off.im)");
    case LaneOp::add:
      return made("a.re + b.re", "a.im + b.im");
    case LaneOp::subtract:
      return made("a.re - b.re", "a.im - b.im");
    case LaneOp::multiply:
      return made("a.re * b.re - a.im * b.im", "a.re * b.im + a.im * b.re");
    case LaneOp::divide:
      return made("(s + t * r) / d", blend + "(m, u, -u) / d");
    case LaneOp::negate:
      return made("-a.re", "-a.im");
    case LaneOp::equal:
      return "(a.re == b.re) & (a.im == b.im)";
    case LaneOp::join:
      return made("a", "b");
    case LaneOp::call:
      break;
    default:
      return "";
  }
  const std::string name = lane_name(function.function, DType::float64);
  if (name == "complex") return made("a", "b");
  if (name == "creal" || name == "crealf") return "a.re";
  if (name == "cimag" || name == "cimagf") return "a.im";
  if (name == "conj" || name == "conjf") return made("a.re", "-a.im");
  return "";
}

/// Names for complex_form() of a quotient, which scales by the larger part of the divisor (Smith
/// 1962): squares of large or small numbers would leave the range.
void declare_quotient(Context& out, const kernel::LaneFunction& function, const std::string& part,
                      const std::string& mask) {
  const std::string blend =
      kernel::name_of({LaneOp::blend, kernel::part_base(function.base), function.lanes, ""});
  const bool is_single = kernel::part_base(function.base) == kernel::Base::float32;
  const std::string_view bits = is_single ? "0x7fffffff" : "0x7fffffffffffffff";
  const auto magnitude = [&](const char* of) {
    const std::string kept =
        fmt::format("{} & {}", bits_as(out, mask, fmt::format("b.{}", of)), bits);
    return bits_as(out, part, kept);
  };
  out.statement(fmt::format("const {} m = {} >= {};", mask, magnitude("re"), magnitude("im")));
  out.statement(fmt::format("const {} p = {}(m, b.re, b.im);", part, blend));
  out.statement(fmt::format("const {} r = {}(m, b.im, b.re) / p;", part, blend));
  out.statement(fmt::format("const {} s = {}(m, a.re, a.im);", part, blend));
  out.statement(fmt::format("const {} t = {}(m, a.im, a.re);", part, blend));
  out.statement(fmt::format("const {0} d = p + {1}(m, b.im, b.re) * r;", part, blend));
  out.statement(fmt::format("const {} u = t - s * r;", part));
}

/// Lane by lane: what no form on whole vectors serves.
void complex_by_lane(Context& out, const kernel::LaneFunction& function, std::size_t n_arguments,
                     bool gives_complex, const std::string& result) {
  const auto both = [&out](const std::string& value) {
    const Dialect& dialect = out.dialect();
    out.statement(
        fmt::format("result.re[lane] = {};", fmt::format(fmt::runtime(dialect.real_part), value)));
    out.statement(fmt::format("result.im[lane] = {};",
                              fmt::format(fmt::runtime(dialect.imaginary_part), value)));
  };
  const DType dtype = *kernel::dtype_of(function.base);
  out.statement(fmt::format("{} result;", result));
  out.begin_branch(fmt::format("for (int lane = 0; lane < {}; ++lane)", function.lanes));
  if (function.op == LaneOp::lookup || function.op == LaneOp::table) {
    both("from[index[lane]]");
  } else if (function.op == LaneOp::pick) {
    out.statement("result.re[lane] = from[index[lane]].re[lane];");
    out.statement("result.im[lane] = from[index[lane]].im[lane];");
  } else if (function.op == LaneOp::spread) {
    both("a");
  } else {
    Names arguments;
    for (std::size_t i = 0; i < n_arguments; ++i) {
      const char of = static_cast<char>('a' + i);
      arguments.push_back(complex_value(out, dtype, fmt::format("{}.re[lane]", of),
                                        fmt::format("{}.im[lane]", of)));
    }
    // the builtin needs no prototype
    const bool is_known =
        out.dialect().library != nullptr || function.function.starts_with("__builtin_");
    const std::string name = is_known ? function.function : "__builtin_" + function.function;
    const std::string call = fmt::format("{}({})", name, joined(arguments));
    if (gives_complex) {
      const std::string_view scalar = out.dialect().type_name(dtype);
      out.statement(fmt::format("const {} value = {};", scalar, call));
      both("value");
    } else {
      out.statement(fmt::format("result[lane] = {};", call));
    }
  }
  out.end_branch();
  out.statement("return result;");
}

void complex_put(Context& out, int lanes) {
  for (int lane = 0; lane < lanes; ++lane) {
    out.begin_branch(fmt::format("if (mask[{}])", lane));
    for (const char* part : {"re", "im"}) {
      out.statement(fmt::format("to[index[{0}]].{1}[{0}] = value.{1}[{0}];", lane, part));
    }
    out.end_branch();
  }
}

void define_complex(Context& context, const Use& use) {
  const kernel::LaneFunction& function = use.function;
  const DType dtype = *kernel::dtype_of(function.base);
  const int lanes = function.lanes;
  const std::string type = vector_type(context, dtype, lanes);
  const std::string part = vector_type(context, part_of(dtype), lanes);
  const std::string mask = vector_type(context, mask_dtype(dtype), lanes);
  const std::string index = vector_type(context, DType::int64, lanes);
  const std::string scalar(context.dialect().type_name(dtype));
  const bool gives_nothing = function.op == LaneOp::put;
  const std::string result = gives_nothing ? "void" : vector_type(context, use.result, lanes);
  if (function.op == LaneOp::blend || function.op == LaneOp::divide) {
    Use of_parts{function, 3, part_of(dtype)};
    of_parts.function.op = LaneOp::blend;
    of_parts.function.base = kernel::part_base(function.base);
    of_parts.function.function.clear();
    define_use(context, of_parts);
  }
  const auto parameters = [&]() -> std::string {
    switch (function.op) {
      case LaneOp::blend:
        return fmt::format("{0} mask, {1} on, {1} off", mask, type);
      case LaneOp::lookup:
        return fmt::format("const {} *from, {} index", scalar, index);
      case LaneOp::table:
        return fmt::format("const {} {} *from, {} index", context.dialect().table, scalar, index);
      case LaneOp::pick:
        return fmt::format("const {} *from, {} index", type, index);
      case LaneOp::put:
        return fmt::format("{0} *to, {1} index, {2} mask, {0} value", type, index, mask);
      case LaneOp::join:
        return fmt::format("{0} a, {0} b", part);
      case LaneOp::spread:
        return fmt::format("{} a", scalar);
      default:
        break;
    }
    Names list;
    for (std::size_t i = 0; i < use.n_arguments; ++i) {
      list.push_back(fmt::format("{} {}", type, static_cast<char>('a' + i)));
    }
    return joined(list);
  };
  const std::string name = kernel::name_of(function);
  (void)context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const Scope scope =
        out.function(fmt::format("{} {} {}({})", inlined, result, given, parameters()));
    if (function.op == LaneOp::put) return complex_put(out, lanes);
    if (function.op == LaneOp::divide) declare_quotient(out, function, part, mask);
    const std::string form = complex_form(function, result);
    if (!form.empty()) return out.statement(fmt::format("return {};", form));
    complex_by_lane(out, function, use.n_arguments, is_complex(use.result), result);
  });
}

void define_use(Context& context, const Use& use) {
  const kernel::LaneFunction& function = use.function;
  const DType dtype = *kernel::dtype_of(function.base);
  const Spelled spelled{vector_type(context, dtype, function.lanes),
                        std::string(context.dialect().type_name(dtype)),
                        vector_type(context, mask_dtype(dtype), function.lanes)};
  const std::string result = vector_type(context, use.result, function.lanes);
  const std::string name = kernel::name_of(function);
  const bool is_c = !context.dialect().has_vectors;
  if (is_c && use.elementary == kernel::Elementary::library &&
      vector_math(function.function, dtype, function.lanes, use.n_arguments)) {
    context.top_level_once("#include <features.h>");
  }
  const std::string form = vector_form(function.function, spelled, dtype, function.lanes);
  if (is_c && form.starts_with("op2_blend")) {
    define_use(context, {{LaneOp::blend, function.base, function.lanes, ""}, 3, dtype});
  }
  if (is_complex(dtype) || is_complex(use.result)) return define_complex(context, use);
  (void)context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    switch (function.op) {
      case LaneOp::blend:
        return define_blend(out, given, spelled);
      case LaneOp::any:
        return define_any(out, given, spelled, function.lanes);
      case LaneOp::lookup:
      case LaneOp::table:
      case LaneOp::pick:
        return define_access(out, given, spelled, function.op, function.lanes);
      case LaneOp::put:
        return define_put(out, given, spelled, function.lanes);
      case LaneOp::add:
      case LaneOp::subtract:
      case LaneOp::multiply:
      case LaneOp::divide:
      case LaneOp::negate:
      case LaneOp::equal:
      case LaneOp::join:
      case LaneOp::spread:
        throw InternalError("lanes: a function of complex numbers for real ones");
      case LaneOp::power:
        return define_power(out, given, spelled, function, use.elementary);
      case LaneOp::call:
        return define_call(out, use, result, given, spelled);
    }
    throw InternalError("lanes: unknown function");
  });
}

}  // namespace

void define_lanes(Context& context, const kernel::KernelBody& body, kernel::Elementary elementary) {
  const auto define_type = [&context](const kernel::Type& type) {
    if (type.lanes > 0) (void)vector_type(context, *kernel::dtype_of(type.base), type.lanes);
  };
  struct Visitor {
    Context& context;
    const decltype(define_type)& type;
    kernel::Elementary elementary;
    void enter() {}
    void leave() {}
    void declare(const kernel::Variable& variable) { type(variable.type); }
    void expression(const kernel::Expr& whole) {
      kernel::for_each_expr(whole, [this](const kernel::Expr& expr) {
        type(expr.type);
        const auto* call = std::get_if<kernel::Call>(&expr.node);
        const auto function =
            call == nullptr ? std::nullopt : kernel::lane_function(call->function);
        if (!function) return;
        const DType result = expr.type.lanes > 0 ? *kernel::dtype_of(expr.type.base)
                                                 : *kernel::dtype_of(function->base);
        define_use(context, {*function, expr.operands.size(), result, elementary});
      });
    }
  };
  for (const kernel::FunctionDef& function : body.functions) {
    define_type(function.result);
    for (const kernel::Parameter& parameter : function.parameters) define_type(parameter.type);
    Visitor visitor{context, define_type, elementary};
    kernel::walk_scoped(function.body, visitor);
  }
}

std::vector<ElementarySource> elementary_sources(const kernel::KernelBody& body, int lanes,
                                                 kernel::Elementary elementary) {
  std::map<std::string, ElementarySource> found;
  for (const kernel::FunctionDef& function : body.functions) {
    kernel::for_each_expr_in(function.body, [&](const kernel::Expr& expr) {
      const auto* call = std::get_if<kernel::Call>(&expr.node);
      const auto* known = call == nullptr ? nullptr : kernel::known_function(call->function);
      if (known == nullptr || known->vectors_since == 0) return;
      if (lanes > 0 && !kernel::power_of_call(expr).empty()) return;
      const DType dtype = *kernel::dtype_of(known->result.base);
      const std::string name = lane_name(call->function, dtype);
      ElementarySource source;
      source.name = call->function;
      source.has_text = elementary != kernel::Elementary::scalars && has_lane_text(name, dtype);
      const auto math = vector_math(call->function, dtype, lanes, known->parameters.size());
      if (math && elementary == kernel::Elementary::library) {
        source.symbol = math->symbol;
        source.minor = math->minor;
        source.bytes = lanes * static_cast<int>(size_of(dtype));
      }
      found.emplace(call->function, std::move(source));
    });
  }
  std::vector<ElementarySource> out;
  for (auto& [name, source] : found) out.push_back(std::move(source));
  return out;
}

}  // namespace op2::cg
