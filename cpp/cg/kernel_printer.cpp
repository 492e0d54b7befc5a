// SPDX-License-Identifier: BSD-3-Clause
#include "cg/kernel_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "base/overload.hpp"
#include "cg/adapt.hpp"
#include "cg/kernel_expressions.hpp"
#include "cg/lane_calls.hpp"
#include "kernel/integers.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/rows.hpp"
#include "kernel/teams.hpp"
#include "kernel/unique_names.hpp"
#include "kernel/walk.hpp"
#include "kir/nodes.hpp"

namespace op2::cg {
namespace {

using kernel::Expr;
using kernel::Type;

class StatementPrinter {
 public:
  StatementPrinter(Context& context, const KernelStyle& style, const kernel::Kernel& kernel)
      : context_(context),
        style_(style),
        kernel_(kernel),
        constants_(kernel.body ? kernel::constant_integers(*kernel.body) : kernel::Integers{}) {}

  void body(const kernel::Body& statements) {
    for (const kernel::Stmt& stmt : statements) statement(stmt);
  }

 private:
  [[nodiscard]] std::string variables(const kernel::Declare& node) const {
    return variables_text(node, context_.dialect(), style_);
  }

  [[nodiscard]] std::string print(const Expr& expr) const {
    return expression_text(expr, context_.dialect(), style_);
  }

  [[nodiscard]] std::string condition(const Expr& expr) const {
    return condition_text(expr, context_.dialect(), style_);
  }

  void mark(int line) {
    if (!style_.line_markers || line == 0) return;
    context_.statement(fmt::format("#line {} \"<kernel {}>\"", line, kernel_.name));
  }

  void statement(const kernel::Stmt& stmt) {
    mark(stmt.line);
    std::visit(
        overload{
            [this](const kernel::Declare& node) { context_.statement(variables(node) + ";"); },
            [this](const kernel::Evaluate& node) {
              if (is_team_barrier(node.value)) return context_.barrier();
              context_.statement(print(node.value) + ";");
            },
            [this](const kernel::Block& node) { nested("", node.body); },
            [this](const kernel::If& node) { branches(node); },
            [this](const kernel::For& node) {
              if (node.is_unrolled) context_.pragma("unroll");
              const std::string header = std::string(rolled_if_row(node)) + for_header(node);
              // C lets the body declare the counter's name again, C++ only a block within it
              if (hides_counter(node)) return nested(header, {{.node = kernel::Block{node.body}}});
              nested(header, node.body);
            },
            [this](const kernel::While& node) { loop(node); },
            [this](const kernel::Switch& node) { cases(node); },
            [this](const kernel::Return& node) {
              context_.statement(node.value ? fmt::format("return {};", print(*node.value))
                                            : "return;");
            },
            [this](const kernel::Break&) { context_.statement("break;"); },
            [this](const kernel::Continue&) { context_.statement("continue;"); },
        },
        stmt.node);
  }

  static bool is_team_barrier(const Expr& value) {
    const auto* call = std::get_if<kernel::Call>(&value.node);
    return call != nullptr && call->function == kernel::team_barrier;
  }

  void nested(const std::string& header, const kernel::Body& statements,
              const std::string& trailer = "") {
    context_.begin_branch(header);
    body(statements);
    context_.end_branch(trailer);
  }

  void branches(const kernel::If& node) {
    context_.begin_branch(fmt::format("if ({})", condition(node.condition)));
    body(node.then_body);
    const kernel::Body* rest = &node.else_body;
    while (rest->size() == 1 && std::holds_alternative<kernel::If>(rest->front().node)) {
      const auto& next = std::get<kernel::If>(rest->front().node);
      context_.else_branch(fmt::format("else if ({})", condition(next.condition)));
      body(next.then_body);
      rest = &next.else_body;
    }
    if (!rest->empty()) {
      context_.else_branch("else");
      body(*rest);
    }
    context_.end_branch();
  }

  [[nodiscard]] std::string_view rolled_if_row(const kernel::For& node) {
    if (style_.rows.steps == 0 || kernel::has_inner_loop(node)) return "";
    const bool is_row = kernel::runs_along_rows(node, constants_, style_.rows) && computes(node);
    return is_row ? rolled(context_) : "";
  }

  /// Loops that only copy are none to GCC, but calls of memcpy.
  [[nodiscard]] static bool computes(const kernel::For& loop) {
    bool found = false;
    kernel::for_each_expr_in(loop.body, [&found](const Expr& expr) {
      found |=
          std::holds_alternative<kernel::Binary>(expr.node) && kernel::is_floating(expr.type.base);
    });
    return found;
  }

  [[nodiscard]] static bool hides_counter(const kernel::For& loop) {
    const std::set<std::string> hidden = kernel::declared_names(loop.body);
    return std::ranges::any_of(kernel::declared_names(loop.init),
                               [&](const std::string& name) { return hidden.contains(name); });
  }

  [[nodiscard]] std::string for_header(const kernel::For& node) const {
    std::string init;
    if (!node.init.empty()) {
      const kernel::StmtNode& first = node.init.front().node;
      if (const auto* declared = std::get_if<kernel::Declare>(&first)) init = variables(*declared);
      if (const auto* value = std::get_if<kernel::Evaluate>(&first)) {
        init = print(value->value);
      }
    }
    const auto part = [this](const std::optional<Expr>& expr) {
      return expr ? " " + print(*expr) : std::string();
    };
    return fmt::format("for ({};{};{})", init, part(node.condition), part(node.step));
  }

  void loop(const kernel::While& node) {
    const std::string test = fmt::format("while ({})", condition(node.condition));
    if (node.is_do) {
      nested("do", node.body, test + ";");
    } else {
      nested(test, node.body);
    }
  }

  void cases(const kernel::Switch& node) {
    context_.begin_branch(fmt::format("switch ({})", print(node.value)));
    for (const kernel::Case& entry : node.cases) {
      // A label must stand before a statement, which a declaration is not.
      const bool is_bare = entry.body.empty()
                               ? &entry == &node.cases.back()
                               : std::holds_alternative<kernel::Declare>(entry.body.front().node);
      const std::string end = is_bare ? ": ;" : ":";
      context_.statement(entry.label ? fmt::format("case {}{}", print(*entry.label), end)
                                     : "default" + end);
      body(entry.body);
    }
    context_.end_branch();
  }

  Context& context_;
  const KernelStyle& style_;
  const kernel::Kernel& kernel_;
  const kernel::Integers constants_;
};

std::set<std::string> calls_of(const kernel::KernelBody& body) {
  std::set<std::string> names;
  for (const kernel::FunctionDef& function : body.functions) {
    kernel::for_each_expr_in(function.body, [&names](const Expr& expr) {
      if (const auto* call = std::get_if<kernel::Call>(&expr.node)) names.insert(call->function);
    });
  }
  return names;
}

kernel::FunctionDef with_renamed_calls(kernel::FunctionDef function,
                                       const std::map<std::string, std::string>& names) {
  kernel::for_each_expr_in(function.body, [&names](Expr& expr) {
    auto* call = std::get_if<kernel::Call>(&expr.node);
    if (call == nullptr) return;
    const auto renamed = names.find(call->function);
    if (renamed != names.end()) call->function = renamed->second;
  });
  return function;
}

std::string header_of(const kernel::FunctionDef& function, const std::string& name,
                      const Dialect& dialect, const KernelStyle& style) {
  std::string parameters;
  for (const kernel::Parameter& parameter : function.parameters) {
    if (!parameters.empty()) parameters += ", ";
    parameters += declaration_text(parameter.type, parameter.name, dialect, style);
  }
  if (parameters.empty()) parameters = "void";
  const std::string call = fmt::format("{}({})", name, parameters);
  return fmt::format("{} {}", dialect.function,
                     declaration_text(function.result, call, dialect, style));
}

/// The name of a minimum or maximum of C's library without `__builtin_`, such as `fmaxf`; empty for
/// other functions.
std::string_view extremum(std::string_view function) {
  constexpr std::string_view prefix = "__builtin_";
  constexpr std::array<std::string_view, 4> known{"fmin", "fminf", "fmax", "fmaxf"};
  if (function.starts_with(prefix)) function.remove_prefix(prefix.size());
  return std::ranges::find(known, function) == known.end() ? "" : function;
}

void print_prototypes(Context& context, const kernel::KernelBody& body, const KernelStyle& style) {
  for (const std::string& name : calls_of(body)) {
    const kernel::KnownFunction* known = kernel::known_function(name);
    if (known == nullptr || !known->needs_prototype || body.function(name) != nullptr) continue;
    if (!extremum(name).empty()) continue;
    std::string parameters;
    for (const Type& type : known->parameters) {
      if (!parameters.empty()) parameters += ", ";
      parameters += declaration_text(type, "", context.dialect(), style);
    }
    const std::string call = fmt::format("{}({})", name, parameters);
    context.reserve(name);
    context.top_level(declaration_text(known->result, call, context.dialect(), style) + ";");
  }
}

/// Defines the minima and maxima that @p body calls. Without -ffast-math compilers call the
/// library's, and a loop over edges takes twice as long. The values are the library's: a NaN loses
/// against a number, and C leaves the sign of a zero open.
/// @return The names to call instead.
std::map<std::string, std::string> define_extrema(Context& context,
                                                  const kernel::KernelBody& body) {
  std::map<std::string, std::string> names;
  for (const std::string& function : calls_of(body)) {
    const std::string_view name = extremum(function);
    if (name.empty() || body.function(function) != nullptr) continue;
    const std::string own = fmt::format("op2_{}", name);
    names[function] =
        context.find_or_generate(own, own, [&](Context& out, const std::string& given) {
          const std::string_view type = name.ends_with('f') ? "float" : "double";
          const Scope scope = out.function(
              fmt::format("{0} {1} {2}({1} a, {1} b)", out.dialect().function, type, given));
          out.statement(fmt::format("const {} found = a {} b ? a : b;", type,
                                    name.starts_with("fmin") ? '<' : '>'));
          out.statement("return b != b ? a : found;");
        });
  }
  return names;
}

/// Gives tables the names that they have in the program, where other kernels may have tables, too.
class TableNames {
 public:
  TableNames(Context& context, kernel::KernelBody& body) {
    std::set<std::string> used;
    for (const kernel::FunctionDef& function : body.functions) {
      for (const kernel::Parameter& parameter : function.parameters) used.insert(parameter.name);
      kernel::for_each_expr_in(function.body, [&used](const Expr& expr) {
        if (const auto* name = std::get_if<kernel::Name>(&expr.node)) used.insert(name->name);
      });
    }
    for (const kernel::Variable& table : body.tables) used.insert(table.name);
    for (const kernel::Variable& table : body.tables) {
      const std::string name = context.take_name(table.name, used);
      if (name != table.name) names_.emplace(table.name, name);
    }
    if (!names_.empty()) rename(body);
  }

  // as kernel::walk_scoped() calls them
  void enter() { hiding_.enter(); }
  void leave() { hiding_.leave(); }
  void declare(const kernel::Variable& variable) { hiding_.declare(variable.name, true); }
  void expression(Expr& expr) {
    kernel::for_each_expr(expr, [this](Expr& part) {
      auto* name = std::get_if<kernel::Name>(&part.node);
      if (name == nullptr || hiding_.find(name->name) != nullptr) return;
      const auto found = names_.find(name->name);
      if (found != names_.end()) name->name = found->second;
    });
  }

 private:
  void rename(kernel::KernelBody& body) {
    for (kernel::Variable& table : body.tables) {
      if (table.value) expression(*table.value);
      const auto found = names_.find(table.name);
      if (found != names_.end()) table.name = found->second;
    }
    for (kernel::FunctionDef& function : body.functions) {
      enter();
      for (const kernel::Parameter& parameter : function.parameters) {
        hiding_.declare(parameter.name, true);
      }
      kernel::walk_scoped(function.body, *this);
      leave();
    }
  }

  std::map<std::string, std::string> names_;  // where they are others
  kernel::ScopeStack<bool> hiding_;
};

/// Constant memory is for the small tables: the large ones are what does not fit.
void print_tables(Context& context, const kernel::Kernel& kernel, const KernelStyle& style) {
  const std::vector<kernel::Variable>& tables = kernel.body->tables;
  std::vector<const kernel::Variable*> by_size;
  std::set<const kernel::Variable*> large;
  for (const kernel::Variable& table : tables) {
    // of constant memory all lanes read one entry at a time
    table.is_by_lane ? (void)large.insert(&table) : by_size.push_back(&table);
  }
  std::ranges::stable_sort(by_size, {},
                           [](const auto* table) { return kernel::bytes_of(table->type); });
  for (const kernel::Variable* table : by_size) {
    if (!context.take_constant_memory(kernel::bytes_of(table->type))) large.insert(table);
  }
  const Dialect& dialect = context.dialect();
  for (const kernel::Variable& table : tables) {
    const auto storage = large.contains(&table) ? dialect.large_table : dialect.table;
    const kernel::Declare node{.is_static = true, .variables = {table}};
    context.top_level(variables_text(node, dialect, style, storage) + ";");
  }
}

/// A body that is C already, with the parameters' names.
std::string vector_body(const kernel::FunctionDef& function) {
  std::string out;
  const std::string& text = function.vector_text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_gap = text[i] == '$';
    out += is_gap ? function.parameters.at(text.at(++i) - '0').name : std::string(1, text[i]);
  }
  return out;
}

/// Clang halves vectors of 64 bytes where it is not told to take them.
std::string_view wide(Context& context) {
  context.top_level_once(
      "#ifdef __clang__\n#define op2_wide __attribute__((min_vector_width(512)))\n#else\n"
      "#define op2_wide\n#endif");
  return "op2_wide ";
}

std::string print_functions(Context& context, const kernel::Kernel& original,
                            const KernelStyle& style) {
  kernel::Kernel kernel = original;
  std::map<std::string, std::string> names;
  const auto write = [&kernel, &style, &names](const kernel::FunctionDef& function, Context& into,
                                               const std::string& name) {
    if (&function == &kernel.body->functions.front()) {
      if (style.prototypes) {
        print_prototypes(into, *kernel.body, style);
        names = define_extrema(into, *kernel.body);
      }
      define_lanes(into, *kernel.body, style.elementary);
      static_cast<void>(TableNames(into, *kernel.body));
      print_tables(into, kernel, style);
    }
    const kernel::FunctionDef renamed = with_renamed_calls(function, names);
    const std::string header = header_of(function, name, into.dialect(), style);
    const bool has_vectors = into.dialect().library == nullptr && !function.vector_text.empty();
    Scope scope = into.function(has_vectors ? fmt::format("{}{}", wide(into), header) : header);
    if (has_vectors) {
      into.statement(vector_body(function));
    } else {
      StatementPrinter(into, style, kernel).body(renamed.body);
    }
    scope.end();
  };
  std::string entry;
  for (const kernel::FunctionDef& function : kernel.body->functions) {
    entry = context.find_or_generate(fmt::format("{}:{}", kernel.key, function.name), function.name,
                                     [&write, &function](Context& into, const std::string& name) {
                                       write(function, into, name);
                                     });
    names[function.name] = entry;
  }
  return entry;
}

/// What verbatim text calls the kernel, or another name where generated code has that one itself.
std::string name_printed(const kernel::Kernel& kernel) {
  const auto locals = kir::local_names();
  const bool is_taken = std::find(locals.begin(), locals.end(), kernel.name) != locals.end();
  return kernel.body || !is_taken ? kernel.name : kernel.name + "_kernel";
}

}  // namespace

std::string_view rolled(Context& context) {
  context.top_level_once(
      "#ifdef __clang__\n#define op2_rolled\n#else\n"
      "#define op2_rolled _Pragma(\"GCC unroll 1\")\n#endif");
  return "op2_rolled ";
}

std::string print_kernel(Context& context, const kernel::Kernel& original,
                         const KernelStyle& given) {
  if (context.dialect().library != nullptr && original.body) {
    kernel::Kernel kernel = original;
    kernel.body = adapted(std::move(*kernel.body), context.dialect());
    KernelStyle style = given;
    style.prototypes = false;
    style.boolean = context.dialect().boolean;
    return print_functions(context, kernel, style);
  }
  const kernel::Kernel& kernel = original;
  const KernelStyle& style = given;
  const std::string entry = name_printed(kernel);
  const bool is_renamed = entry != kernel.name;  // before headers: it may be defined there
  if (is_renamed) context.top_level(fmt::format("#define {} {}", kernel.name, entry));
  for (const std::string& header : kernel.headers) {
    context.top_level(fmt::format("#include {}", header));
  }
  if (kernel.body) return print_functions(context, kernel, style);
  context.reserve(entry);
  if (style.line_markers) context.top_level(fmt::format("#line 1 \"<kernel {}>\"", kernel.name));
  context.top_level(kernel.text);
  if (is_renamed) context.top_level(fmt::format("#undef {}", kernel.name));
  return entry;
}

}  // namespace op2::cg
