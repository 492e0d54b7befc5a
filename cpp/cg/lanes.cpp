// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cg/atomics.hpp"
#include "ir/kernel_walk.hpp"
#include "ir/lane_functions.hpp"

namespace op2::cg {
namespace {

using ir::LaneOp;
using Names = std::vector<std::string>;

constexpr std::string_view inlined = "static inline __attribute__((always_inline))";
// Where vectors are wider than the machine's, compilers warn of an ABI that no call here has.
constexpr std::string_view quiet = "#pragma GCC diagnostic ignored \"-Wpsabi\"";

DType mask_dtype(DType dtype) {
  return *ir::dtype_of(ir::mask_base(ir::base_of(dtype)));
}

DType part_of(DType dtype) {
  return *ir::dtype_of(ir::part_base(ir::base_of(dtype)));
}

/// A row of a Dat: it may start anywhere, and is an array of scalars to everybody else.
std::string row_type(Context& context, DType dtype, int lanes) {
  const std::string name = fmt::format("{}_row", vector_name(dtype, lanes));
  const std::size_t size = size_of(dtype);
  context.top_level_once(fmt::format(
      "typedef {} {} __attribute__((vector_size({}), aligned({}), may_alias));",
      context.dialect().type_name(dtype), name, size * static_cast<std::size_t>(lanes), size));
  return name;
}

std::string joined(const Names& names, std::string_view separator = ", ") {
  return fmt::format("{}", fmt::join(names, separator));
}

template <class Make>
Names for_lanes(int lanes, const Make& make) {
  Names out;
  for (int lane = 0; lane < lanes; ++lane) out.push_back(make(lane));
  return out;
}

std::string shuffled(const std::string& left, const std::string& right,
                     const std::vector<int>& picks) {
  return fmt::format("__builtin_shufflevector({}, {}, {})", left, right, fmt::join(picks, ", "));
}

/// A constant with a number of its own.
std::string keep(Context& context, const std::string& type, const std::string& value, int& count) {
  std::string name = fmt::format("v{}", count++);
  context.statement(fmt::format("const {} {} = {};", type, name, value));
  return name;
}

/// Transpose each square of the vectors in @p names: component j of row i changes places with
/// component i of row j, by a butterfly of shuffles (Eklundh 1972). It is its own inverse.
void transpose_squares(Context& context, const std::string& type, int lanes, Names& names,
                       int& count) {
  const int size = static_cast<int>(names.size());
  for (int step = 1; step < size; step *= 2) {
    for (int j = 0; j < size; ++j) {
      if ((j & step) != 0) continue;
      std::vector<int> low;
      std::vector<int> high;
      for (int p = 0; p < lanes; ++p) {
        const bool is_upper = (p & step) != 0;
        low.push_back(is_upper ? lanes + p - step : p);
        high.push_back(is_upper ? lanes + p : p + step);
      }
      auto& a = names[static_cast<std::size_t>(j)];
      auto& b = names[static_cast<std::size_t>(j + step)];
      std::string first = keep(context, type, shuffled(a, b, low), count);
      std::string second = keep(context, type, shuffled(a, b, high), count);
      a = std::move(first);
      b = std::move(second);
    }
  }
}

std::vector<int> range(int begin, int end) {
  std::vector<int> numbers;
  for (int i = begin; i < end; ++i) numbers.push_back(i);
  return numbers;
}

/// Rows of one chunk of components become vectors of lanes.
std::string gather_function(Context& context, DType dtype, int lanes, int chunk) {
  const std::string type = vector_type(context, dtype, lanes);
  const std::string name = fmt::format("op2_gather_{}x{}_by{}", name_of(dtype), lanes, chunk);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    Names parameters{fmt::format("{} *out", type)};
    for (int lane = 0; lane < lanes; ++lane) {
      parameters.push_back(fmt::format("const {} *row{}", out.dialect().type_name(dtype), lane));
    }
    if (chunk > 1) {
      (void)row_type(out, dtype, chunk);
      for (int width = chunk; width < lanes; width *= 2) (void)vector_type(out, dtype, width);
    }
    const Scope scope =
        out.function(fmt::format("{} void {}({})", inlined, given, joined(parameters, ",\n    ")));
    if (chunk == 1) {
      const Names items = for_lanes(lanes, [](int lane) { return fmt::format("*row{}", lane); });
      out.statement(fmt::format("out[0] = ({}){{{}}};", type, joined(items)));
      return;
    }
    const std::string narrow = vector_name(dtype, chunk);
    int count = 0;
    const Names rows = for_lanes(lanes, [&](int lane) {
      return keep(out, narrow, fmt::format("*(const {} *)row{}", row_type(out, dtype, chunk), lane),
                  count);
    });
    Names columns;
    for (int j = 0; j < chunk; ++j) {
      Names parts;
      for (int lane = j; lane < lanes; lane += chunk) {
        parts.push_back(rows[static_cast<std::size_t>(lane)]);
      }
      for (int width = chunk; parts.size() > 1; width *= 2) {
        Names wider;
        for (std::size_t i = 0; i < parts.size(); i += 2) {
          wider.push_back(keep(out, vector_name(dtype, 2 * width),
                               shuffled(parts[i], parts[i + 1], range(0, 2 * width)), count));
        }
        parts = std::move(wider);
      }
      columns.push_back(parts.front());
    }
    transpose_squares(out, type, lanes, columns, count);
    for (int j = 0; j < chunk; ++j) {
      out.statement(fmt::format("out[{}] = {};", j, columns[static_cast<std::size_t>(j)]));
    }
  });
}

/// Vectors of lanes become rows: the way back of gather_function().
std::string rows_function(Context& context, DType dtype, int lanes, int chunk) {
  const std::string type = vector_type(context, dtype, lanes);
  const std::string narrow = vector_type(context, dtype, chunk);
  const std::string name = fmt::format("op2_rows_{}x{}_by{}", name_of(dtype), lanes, chunk);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const Scope scope = out.function(
        fmt::format("{} void {}({} *rows, const {} *in)", inlined, given, narrow, type));
    Names columns = for_lanes(chunk, [](int j) { return fmt::format("in[{}]", j); });
    int count = 0;
    transpose_squares(out, type, lanes, columns, count);
    for (int lane = 0; lane < lanes; ++lane) {
      const std::string& from = columns[static_cast<std::size_t>(lane % chunk)];
      const int begin = lane / chunk * chunk;
      out.statement(
          fmt::format("rows[{}] = {};", lane,
                      chunk == lanes ? from : shuffled(from, from, range(begin, begin + chunk))));
    }
  });
}

/// Lanes 0 to n - 1 are on.
std::string first_function(Context& context, DType mask, int lanes) {
  const std::string type = vector_type(context, mask, lanes);
  const std::string name = fmt::format("op2_first_{}x{}", name_of(mask), lanes);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const Scope scope = out.function(fmt::format("{} {} {}(long n)", inlined, type, given));
    const Names numbers = for_lanes(lanes, [](int lane) { return fmt::format("{}", lane); });
    out.statement(fmt::format("return ({0}){{{1}}} < ({2})n - ({0}){{0}};", type, joined(numbers),
                              out.dialect().type_name(mask)));
  });
}

// ---------------------------------------------------------------------- functions of the kernel

struct Spelled {
  std::string type;    ///< of the vectors
  std::string scalar;  ///< of one lane
  std::string mask;    ///< of the mask for such vectors
};

void define_blend(Context& out, const std::string& name, const Spelled& t) {
  const Scope scope = out.function(
      fmt::format("{0} {1} {2}({3} mask, {1} on, {1} off)", inlined, t.type, name, t.mask));
  out.statement(
      fmt::format("return ({0})((({1})on & mask) | (({1})off & ~mask));", t.type, t.mask));
}

void define_any(Context& out, const std::string& name, const Spelled& t, int lanes) {
  const Scope scope = out.function(fmt::format("{} int {}({} mask)", inlined, name, t.type));
  const Names items = for_lanes(lanes, [](int lane) { return fmt::format("mask[{}]", lane); });
  out.statement(fmt::format("return ({}) != 0;", joined(items, " | ")));
}

void define_access(Context& out, const std::string& name, const Spelled& t, LaneOp op, int lanes) {
  const std::string index = vector_type(out, DType::int64, lanes);
  const std::string& from = op == LaneOp::lookup ? t.scalar : t.type;
  const Scope scope = out.function(
      fmt::format("{} {} {}(const {} *from, {} index)", inlined, t.type, name, from, index));
  const std::string_view lane_of =
      op == LaneOp::lookup ? "from[index[{0}]]" : "from[index[{0}]][{0}]";
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

std::string plain_name(std::string name, DType dtype) {
  if (name.starts_with("__builtin_")) name.erase(0, 10);
  if (dtype == DType::float32 && !name.empty() && name.back() == 'f') name.pop_back();
  return name;
}

/// The few library functions that are cheaper as whole vectors than lane by lane.
std::string vector_form(const std::string& function, const Spelled& t, DType dtype, int lanes) {
  const std::string name = plain_name(function, dtype);
  if (name == "fabs") {
    const std::string_view bits = dtype == DType::float32 ? "0x7fffffff" : "0x7fffffffffffffff";
    return fmt::format("({})(({})a & {})", t.type, t.mask, bits);
  }
  if (name != "fmin" && name != "fmax") return "";
  // A NaN loses against any number.
  const std::string blend = ir::name_of({LaneOp::blend, ir::base_of(dtype), lanes, ""});
  return fmt::format("{}((a {} b) | (b != b), a, b)", blend, name == "fmin" ? "<" : ">");
}

/// What glibc's libmvec calls a function for such vectors (x86-64's vector function ABI), and the
/// macro by which a compiler says that the machine has them. The linker finds it behind -lm.
struct VectorMath {
  std::string symbol;
  std::string_view macro;
};

std::optional<VectorMath> vector_math(const std::string& function, DType dtype, int lanes,
                                      std::size_t n_arguments) {
  constexpr std::array<std::string_view, 5> known{"exp", "log", "pow", "sin", "cos"};
  const std::string name = plain_name(function, dtype);
  if (std::ranges::find(known, name) == known.end()) return std::nullopt;
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
      fmt::format("_ZGV{}N{}{}_{}{}", width->letter, lanes, std::string(n_arguments, 'v'), name,
                  dtype == DType::float32 ? "f" : ""),
      width->macro};
}

/// `return symbol(a, b);` where there is such a function.
void call_vector_math(Context& out, const VectorMath& math, const std::string& result,
                      const Names& parameters) {
  out.statement(
      fmt::format("#if defined(__x86_64__) && defined(__GLIBC__) && defined({})", math.macro));
  out.statement(fmt::format("extern {} {}({});", result, math.symbol, joined(parameters)));
  Names arguments;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    arguments.push_back(std::string(1, static_cast<char>('a' + i)));
  }
  out.statement(fmt::format("return {}({});", math.symbol, joined(arguments)));
  out.statement("#else");
}

void define_call(Context& out, const ir::LaneFunction& function, const std::string& result,
                 std::size_t n_arguments, const std::string& name, const Spelled& t) {
  Names parameters;
  for (std::size_t i = 0; i < n_arguments; ++i) {
    parameters.push_back(fmt::format("{} {}", t.type, static_cast<char>('a' + i)));
  }
  const DType dtype = *ir::dtype_of(function.base);
  const std::string whole = vector_form(function.function, t, dtype, function.lanes);
  const Scope scope =
      out.function(fmt::format("{} {} {}({})", inlined, result, name, joined(parameters)));
  if (!whole.empty()) {
    out.statement(fmt::format("return {};", whole));
    return;
  }
  const auto math = vector_math(function.function, dtype, function.lanes, n_arguments);
  if (math) call_vector_math(out, *math, result, parameters);
  // The builtin needs no prototype. Compilers turn the lanes into one instruction if there is one.
  const std::string builtin = function.function.starts_with("__builtin_")
                                  ? function.function
                                  : "__builtin_" + function.function;
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
std::string complex_form(const ir::LaneFunction& function, const std::string& type) {
  const auto made = [&type](const std::string& re, const std::string& im) {
    return fmt::format("({}){{{}, {}}}", type, re, im);
  };
  const std::string blend =
      ir::name_of({LaneOp::blend, ir::part_base(function.base), function.lanes, ""});
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
  const std::string name = plain_name(function.function, DType::float64);
  if (name == "complex") return made("a", "b");
  if (name == "creal" || name == "crealf") return "a.re";
  if (name == "cimag" || name == "cimagf") return "a.im";
  if (name == "conj" || name == "conjf") return made("a.re", "-a.im");
  return "";
}

/// Names for complex_form() of a quotient, which scales by the larger part of the divisor (Smith
/// 1962): squares of large or small numbers would leave the range.
void declare_quotient(Context& out, const ir::LaneFunction& function, const std::string& part,
                      const std::string& mask) {
  const std::string blend =
      ir::name_of({LaneOp::blend, ir::part_base(function.base), function.lanes, ""});
  const bool is_single = ir::part_base(function.base) == ir::Base::float32;
  const std::string_view bits = is_single ? "0x7fffffff" : "0x7fffffffffffffff";
  const auto magnitude = [&](const char* of) {
    return fmt::format("({})(({})b.{} & {})", part, mask, of, bits);
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
void complex_by_lane(Context& out, const ir::LaneFunction& function, std::size_t n_arguments,
                     bool gives_complex, const std::string& result) {
  const auto both = [&out](const std::string& to, const std::string& value) {
    out.statement(fmt::format("result.re[lane] = __real__ {}{};", to, value));
    out.statement(fmt::format("result.im[lane] = __imag__ {}{};", to, value));
  };
  out.statement(fmt::format("{} result;", result));
  out.begin_branch(fmt::format("for (int lane = 0; lane < {}; ++lane)", function.lanes));
  if (function.op == LaneOp::lookup) {
    both("", "from[index[lane]]");
  } else if (function.op == LaneOp::pick) {
    out.statement("result.re[lane] = from[index[lane]].re[lane];");
    out.statement("result.im[lane] = from[index[lane]].im[lane];");
  } else if (function.op == LaneOp::spread) {
    both("", "a");
  } else {
    Names arguments;
    for (std::size_t i = 0; i < n_arguments; ++i) {
      const char of = static_cast<char>('a' + i);
      arguments.push_back(fmt::format("__builtin_complex({0}.re[lane], {0}.im[lane])", of));
    }
    const std::string builtin = function.function.starts_with("__builtin_")
                                    ? function.function
                                    : "__builtin_" + function.function;
    const std::string call = fmt::format("{}({})", builtin, joined(arguments));
    if (gives_complex) {
      const std::string_view scalar =
          function.base == ir::Base::complex64 ? "float _Complex" : "double _Complex";
      out.statement(fmt::format("const {} value = {};", scalar, call));
      both("", "value");
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

struct Use {
  ir::LaneFunction function;
  std::size_t n_arguments;
  DType result;  ///< of a call; else that of T
};

void define_use(Context& context, const Use& use);

void define_complex(Context& context, const Use& use) {
  const ir::LaneFunction& function = use.function;
  const DType dtype = *ir::dtype_of(function.base);
  const int lanes = function.lanes;
  const std::string type = vector_type(context, dtype, lanes);
  const std::string part = vector_type(context, part_of(dtype), lanes);
  const std::string mask = vector_type(context, mask_dtype(dtype), lanes);
  const std::string index = vector_type(context, DType::int64, lanes);
  const std::string scalar(context.dialect().type_name(dtype));
  const bool gives_nothing = function.op == LaneOp::put;
  const std::string result = gives_nothing ? "void" : vector_type(context, use.result, lanes);
  if (function.op == LaneOp::blend || function.op == LaneOp::divide) {
    define_use(context,
               {{LaneOp::blend, ir::part_base(function.base), lanes, ""}, 3, part_of(dtype)});
  }
  const auto parameters = [&]() -> std::string {
    switch (function.op) {
      case LaneOp::blend:
        return fmt::format("{0} mask, {1} on, {1} off", mask, type);
      case LaneOp::lookup:
        return fmt::format("const {} *from, {} index", scalar, index);
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
  const std::string name = ir::name_of(function);
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
  const ir::LaneFunction& function = use.function;
  const DType dtype = *ir::dtype_of(function.base);
  const Spelled spelled{vector_type(context, dtype, function.lanes),
                        std::string(context.dialect().type_name(dtype)),
                        vector_type(context, mask_dtype(dtype), function.lanes)};
  const std::string result = vector_type(context, use.result, function.lanes);
  const std::string name = ir::name_of(function);
  if (vector_math(function.function, dtype, function.lanes, use.n_arguments)) {
    context.top_level_once("#include <features.h>");
  }
  const std::string form = vector_form(function.function, spelled, dtype, function.lanes);
  if (form.starts_with("op2_blend")) {
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
      case LaneOp::call:
        return define_call(out, function, result, use.n_arguments, given, spelled);
    }
    throw InternalError("lanes: unknown function");
  });
}

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
  context.top_level_once(fmt::format("typedef {} {} __attribute__((vector_size({})));",
                                     context.dialect().type_name(dtype), name,
                                     size_of(dtype) * static_cast<std::size_t>(lanes)));
  return name;
}

void define_lanes(Context& context, const ir::KernelBody& body) {
  const auto define_type = [&context](const ir::Type& type) {
    if (type.lanes > 0) (void)vector_type(context, *ir::dtype_of(type.base), type.lanes);
  };
  struct Visitor {
    Context& context;
    const decltype(define_type)& type;
    void enter() {}
    void leave() {}
    void declare(const ir::Variable& variable) { type(variable.type); }
    void expression(const ir::Expr& whole) {
      ir::for_each_expr(whole, [this](const ir::Expr& expr) {
        type(expr.type);
        const auto* call = std::get_if<ir::Call>(&expr.node);
        const auto function = call == nullptr ? std::nullopt : ir::lane_function(call->function);
        if (!function) return;
        const DType result =
            expr.type.lanes > 0 ? *ir::dtype_of(expr.type.base) : *ir::dtype_of(function->base);
        define_use(context, {*function, expr.operands.size(), result});
      });
    }
  };
  for (const ir::FunctionDef& function : body.functions) {
    define_type(function.result);
    for (const ir::Parameter& parameter : function.parameters) define_type(parameter.type);
    Visitor visitor{context, define_type};
    ir::walk_scoped(function.body, visitor);
  }
}

// --------------------------------------------------------------------- statements of the wrapper

namespace {

/// `(type *)(address) + first`: complex numbers as the two parts that they lie in memory as.
std::string parts_at(const std::string& type, const std::string& address,
                     const std::string& first) {
  const std::string plus = first == "0" ? "" : " + " + first;
  return fmt::format("({} *)({}){}", type, address, plus);
}

void print_complex_gather(Context& context, const kir::LaneRows& rows,
                          const LaneSpelling& spelling) {
  const DType part = part_of(rows.dtype);
  const int lanes = static_cast<int>(rows.starts.size());
  const std::string type = vector_type(context, part, lanes);
  const std::string scalar = fmt::format("const {}", context.dialect().type_name(part));
  for (const kir::RowPiece& chunk : kir::row_pieces(2 * rows.dim, lanes)) {
    const std::string first = fmt::format("{}", chunk.begin);
    Names arguments{parts_at(type, spelling(kir::offset(rows.pack, rows.at)), first)};
    for (const kir::Expr& start : rows.starts) {
      arguments.push_back(parts_at(scalar, spelling(kir::offset(rows.data, start)), first));
    }
    const std::string function = gather_function(context, part, lanes, chunk.size);
    context.statement(fmt::format("{}({});", function, joined(arguments, ",\n    ")));
  }
}

}  // namespace

void print_lane_gather(Context& context, const kir::LaneGather& gather,
                       const LaneSpelling& spelling) {
  const kir::LaneRows& rows = gather.rows;
  const int lanes = static_cast<int>(rows.starts.size());
  if (is_complex(rows.dtype)) return print_complex_gather(context, rows, spelling);
  for (const kir::RowPiece& chunk : kir::row_pieces(rows.dim, lanes)) {
    const kir::Expr first = kir::integer(chunk.begin);
    Names arguments{spelling(kir::offset(rows.pack, rows.at + first))};
    for (const kir::Expr& start : rows.starts) {
      arguments.push_back(spelling(kir::offset(rows.data, start + first)));
    }
    const std::string function = gather_function(context, rows.dtype, lanes, chunk.size);
    context.statement(fmt::format("{}({});", function, joined(arguments, ",\n    ")));
  }
}

void print_lane_turn(Context& context, const kir::LaneTurn& turn, const LaneSpelling& spelling) {
  const DType part = part_of(turn.type.dtype);
  const std::string function = rows_function(context, part, turn.type.lanes, turn.width);
  std::string from = spelling(kir::offset(turn.pack, turn.at));
  if (is_complex(turn.type.dtype)) {
    const std::string type = vector_type(context, part, turn.type.lanes);
    from = parts_at("const " + type, spelling(kir::name(turn.pack)), spelling(turn.at));
  }
  context.statement(fmt::format("{}({}, {});", function, turn.rows, from));
}

void print_lane_store(Context& context, const kir::LaneStore& store, const LaneSpelling& spelling) {
  const DType part = part_of(store.dtype);
  std::string to = spelling(kir::offset(store.data, store.start));
  if (is_complex(store.dtype)) {
    to = parts_at(std::string(context.dialect().type_name(part)), spelling(kir::name(store.data)),
                  spelling(store.start));
  }
  context.statement(fmt::format("*({} *)({}) {} {}[{}];", row_type(context, part, store.width), to,
                                store.update == kir::Update::set ? "=" : "+=", store.rows,
                                spelling(store.lane)));
}

void print_lane_add(Context& context, const kir::LaneAdd& add, const LaneSpelling& spelling) {
  const DType mask = mask_dtype(add.type.dtype);
  const std::string type = vector_type(context, part_of(add.type.dtype), add.type.lanes);
  const std::string mask_type = vector_type(context, mask, add.type.lanes);
  const std::string first = first_function(context, mask, add.type.lanes);
  const Names parts = is_complex(add.type.dtype) ? Names{".re", ".im"} : Names{""};
  for (int c = 0; c < add.extent; ++c) {
    for (const std::string& part : parts) {
      context.statement(fmt::format("{0}[{1}]{7} += ({2})(({3}){4}[{1}]{7} & {5}({6}));", add.sum,
                                    c, type, mask_type, add.pack, first, spelling(add.n_live),
                                    part));
    }
  }
}

void print_lane_fold(Context& context, const kir::LaneFold& fold) {
  context.begin_branch(fmt::format("for (int c = 0; c < {}; ++c)", fold.extent));
  context.begin_branch(fmt::format("for (int i = 0; i < {}; ++i)", fold.type.lanes));
  std::string value = fmt::format("{}[c][i]", fold.pack);
  if (is_complex(fold.type.dtype)) {
    value = fmt::format("__builtin_complex({0}[c].re[i], {0}[c].im[i])", fold.pack);
  }
  const std::string target = fmt::format("{}[c]", fold.data);
  switch (fold.update) {
    case kir::Update::add:
      context.statement(fmt::format("{} += {};", target, value));
      break;
    case kir::Update::min:
      context.statement(fmt::format("if ({1} < {0}) {0} = {1};", target, value));
      break;
    case kir::Update::max:
      context.statement(fmt::format("if ({0} < {1}) {0} = {1};", target, value));
      break;
    case kir::Update::set:
      throw InternalError("lanes: a fold that only stores");
  }
  context.end_branch();
  context.end_branch();
}

}  // namespace op2::cg
