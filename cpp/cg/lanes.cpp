// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// The few library functions that are cheaper as whole vectors than lane by lane.
std::string vector_form(const std::string& function, const Spelled& t, DType dtype, int lanes) {
  std::string name = function;
  if (name.starts_with("__builtin_")) name.erase(0, 10);
  if (!name.empty() && name.back() == 'f') name.pop_back();
  if (name == "fabs") {
    const std::string_view bits = dtype == DType::float32 ? "0x7fffffff" : "0x7fffffffffffffff";
    return fmt::format("({})(({})a & {})", t.type, t.mask, bits);
  }
  if (name != "fmin" && name != "fmax") return "";
  // A NaN loses against any number.
  const std::string blend = ir::name_of({LaneOp::blend, ir::base_of(dtype), lanes, ""});
  return fmt::format("{}((a {} b) | (b != b), a, b)", blend, name == "fmin" ? "<" : ">");
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
}

struct Use {
  ir::LaneFunction function;
  std::size_t n_arguments;
  DType result;  ///< of a call; else that of T
};

void define_use(Context& context, const Use& use) {
  const ir::LaneFunction& function = use.function;
  const DType dtype = *ir::dtype_of(function.base);
  const Spelled spelled{vector_type(context, dtype, function.lanes),
                        std::string(context.dialect().type_name(dtype)),
                        vector_type(context, mask_dtype(dtype), function.lanes)};
  const std::string result = vector_type(context, use.result, function.lanes);
  const std::string name = ir::name_of(function);
  const std::string form = vector_form(function.function, spelled, dtype, function.lanes);
  if (form.starts_with("op2_blend")) {
    define_use(context, {{LaneOp::blend, function.base, function.lanes, ""}, 3, dtype});
  }
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

void print_lane_gather(Context& context, const kir::LaneGather& gather,
                       const LaneSpelling& spelling) {
  const kir::LaneRows& rows = gather.rows;
  const int lanes = static_cast<int>(rows.starts.size());
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
  const std::string function = rows_function(context, turn.type.dtype, turn.type.lanes, turn.width);
  context.statement(
      fmt::format("{}({}, {});", function, turn.rows, spelling(kir::offset(turn.pack, turn.at))));
}

void print_lane_store(Context& context, const kir::LaneStore& store, const LaneSpelling& spelling) {
  context.statement(
      fmt::format("*({} *)({}) {} {}[{}];", row_type(context, store.dtype, store.width),
                  spelling(kir::offset(store.data, store.start)),
                  store.update == kir::Update::set ? "=" : "+=", store.rows, spelling(store.lane)));
}

void print_lane_add(Context& context, const kir::LaneAdd& add, const LaneSpelling& spelling) {
  const DType mask = mask_dtype(add.type.dtype);
  const std::string type = vector_type(context, add.type.dtype, add.type.lanes);
  const std::string mask_type = vector_type(context, mask, add.type.lanes);
  const std::string first = first_function(context, mask, add.type.lanes);
  for (int c = 0; c < add.extent; ++c) {
    context.statement(fmt::format("{0}[{1}] += ({2})(({3}){4}[{1}] & {5}({6}));", add.sum, c, type,
                                  mask_type, add.pack, first, spelling(add.n_live)));
  }
}

void print_lane_fold(Context& context, const kir::LaneFold& fold) {
  context.begin_branch(fmt::format("for (int c = 0; c < {}; ++c)", fold.extent));
  context.begin_branch(fmt::format("for (int i = 0; i < {}; ++i)", fold.type.lanes));
  const std::string value = fmt::format("{}[c][i]", fold.pack);
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
