// SPDX-License-Identifier: BSD-3-Clause
#include "cg/module_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "cg/array_comments.hpp"
#include "cg/atomics.hpp"
#include "cg/conversions.hpp"
#include "cg/kernel_printer.hpp"
#include "cg/kernel_start.hpp"
#include "cg/lane_types.hpp"
#include "cg/lanes.hpp"
#include "cg/launch_comments.hpp"
#include "kir/instructions.hpp"
#include "kir/verify.hpp"
#include "kir/walk.hpp"

namespace op2::cg {
namespace {

/// What a loop has to know of teams, as base/abi.h has it. OpenMP's functions have names of our
/// own: its header declares them once more, in C++ as not throwing.
constexpr std::string_view team_functions =
    "#define OP2_ONE_THREAD 1u\n#define OP2_IN_TEAM 2u\n"
    "struct op2_team_v1 { int thread; int n_threads; void (*wait)(void); };\n"
    "int op2_thread_number(void) __asm__(\"omp_get_thread_num\");\n"
    "int op2_n_in_team(void) __asm__(\"omp_get_num_threads\");";

std::string type_text(const Dialect& dialect, const kir::VariableType& type) {
  const bool is_named = type.is_pointer && !dialect.global.empty();
  return fmt::format("{}{}{}{}{}", is_named ? dialect.global : "", is_named ? " " : "",
                     type.is_const ? "const " : "", dialect.type_name(type.dtype),
                     type.is_pointer ? " *" : " ");
}

/// How the variables of one function are written. Names of parameters are the user's, and may be
/// words of the dialect, or what the loop calls; instead of such a one stands another that nothing
/// in the function has.
class Spelling {
 public:
  Spelling() = default;
  Spelling(const Dialect& dialect, const std::vector<kir::Parameter>& parameters,
           const kir::Block& body) {
    std::set<std::string> names;
    for (const kir::Parameter& parameter : parameters) names.insert(parameter.name);
    kir::for_each_name_in(
        body, [&names](const std::string& name, kir::Mention /*mention*/) { names.insert(name); });
    const Vocabulary& known = dialect.vocabulary;
    std::set<std::string> taken = names;
    for (const std::string& name : names) {
      if (!known.is_word(name) && !known.is_called(name)) continue;
      std::string free = name + "_op2";
      while (!taken.insert(free).second) free += "_op2";
      instead_.emplace(name, std::move(free));
    }
  }

  [[nodiscard]] const std::string& operator()(const std::string& name) const {
    const auto found = instead_.find(name);
    return found == instead_.end() ? name : found->second;
  }

 private:
  std::map<std::string, std::string> instead_;
};

std::string_view symbol(kir::BinaryOp op) {
  switch (op) {
    case kir::BinaryOp::add:
      return "+";
    case kir::BinaryOp::subtract:
      return "-";
    case kir::BinaryOp::multiply:
      return "*";
    case kir::BinaryOp::divide:
      return "/";
    case kir::BinaryOp::modulo:
      return "%";
    case kir::BinaryOp::less:
      return "<";
    case kir::BinaryOp::equal:
      return "==";
  }
  throw InternalError("unknown operator");
}

int precedence(kir::BinaryOp op) {
  switch (op) {
    case kir::BinaryOp::multiply:
    case kir::BinaryOp::divide:
    case kir::BinaryOp::modulo:
      return 4;
    case kir::BinaryOp::add:
    case kir::BinaryOp::subtract:
      return 3;
    case kir::BinaryOp::less:
      return 2;
    case kir::BinaryOp::equal:
      return 1;
  }
  throw InternalError("unknown operator");
}

/// The prototype of a function whose variables are written like that.
std::string prototype(const Dialect& dialect, const kir::Function& function,
                      const Spelling& spelled) {
  const bool is_bounded = function.least_blocks > 0 && !dialect.bounds.empty();
  const std::string bounds = is_bounded ? fmt::format(fmt::runtime(dialect.bounds),
                                                      function.max_lanes, function.least_blocks)
                                        : "";
  std::string out =
      function.is_kernel
          ? fmt::format("{} void {}{}(", dialect.kernel, bounds, function.name)
          : fmt::format("static {}void {}(long begin, long end", dialect.keep_apart, function.name);
  bool is_first = function.is_kernel;
  for (const kir::Parameter& parameter : function.parameters) {
    out += fmt::format("{}\n    {}{}{}", is_first ? "" : ",", type_text(dialect, parameter.type),
                       parameter.is_restrict ? std::string(dialect.restrict_word) + " " : "",
                       spelled(parameter.name));
    is_first = false;
  }
  return out + ")";
}

/// Prints the statements of one module. Expressions are text; statements go through the context.
class Printer {
 public:
  Printer(Context& context, const kir::Module& module, const std::vector<std::string>& entries)
      : context_(context), module_(module), entries_(entries) {}

  void function(const kir::Function& function) {
    spelled_ = Spelling(context_.dialect(), function.parameters, function.body);
    n_lanes_ = function.has_all_lanes ? function.max_lanes : 0;
    types_.clear();
    place_shared(function.body);
    const Scope scope = context_.function(head(function));
    for (const kir::Parameter& parameter : function.parameters) {
      explain(parameter);
      types_[parameter.name] = parameter.type;
    }
    if (function.is_kernel) {
      n_before_start_ = context_.dialect().kernel_start.empty() ? 0 : n_before_start(function);
      if (n_before_start_ == 0) start_kernel();
      assume_aligned(function.parameters);
      if (n_launched_bytes_ > 0) {
        context_.statement(std::string(context_.dialect().shared_memory));
      }
    } else {
      note_unused(function);
    }
    block(function.body);
  }

  /// Find places for the arrays of a block in memory that launches give, if code may not declare
  /// so many bytes.
  void place_shared(const kir::Block& body) {
    constexpr std::int64_t alignment = 16;
    shared_places_.clear();
    n_launched_bytes_ = 0;
    const std::int64_t limit = context_.dialect().declared_shared_bytes;
    if (limit == 0) return;
    kir::for_each_stmt(body, [&](const kir::Stmt& stmt) {
      const auto* decl = std::get_if<kir::Decl>(&stmt.node);
      if (decl == nullptr || decl->storage != kir::Storage::block) return;
      const std::int64_t size = size_of(decl->type.dtype);
      const std::int64_t bytes = size * std::max(decl->extent, 1);
      shared_places_.emplace(decl->name, n_launched_bytes_);
      n_launched_bytes_ += (bytes + alignment - 1) / alignment * alignment;
    });
    if (n_launched_bytes_ > limit) return;
    shared_places_.clear();
    n_launched_bytes_ = 0;
  }

  /// A convention may ask for parameters that this loop has no use for.
  void note_unused(const kir::Function& function) {
    const std::set<std::string> used = kir::names_used(function.body);
    for (const kir::Parameter& parameter : function.parameters) {
      if (used.contains(parameter.name)) continue;
      context_.statement(fmt::format("(void){};", spelled_(parameter.name)));
    }
  }

  void launch(const std::string& linkage) {
    spelled_ = Spelling(context_.dialect(), module_.argv, module_.launch);
    const std::vector<Stage> stages = kir::opens_team(module_) ? stages_of_launch() : Stages{};
    for (const Stage& stage : stages) print(stage);
    const Scope scope = context_.function(
        fmt::format("{}int {}(const struct op2_context_v1 *context, long begin, long end,\n"
                    "    void *const *argv, unsigned int argc)",
                    linkage, module_.launch_name));
    context_.statement(stages.empty() ? "(void)context;\n(void)argc;" : "(void)argc;");
    if (stages.empty()) {
      unpack_all(kir::names_used(module_.launch));
      block(module_.launch);
    } else {
      print_answers(stages);
    }
    context_.statement("return 0;");
  }

 private:
  /// With what the reader of a kernel has to know of its launches, which are not printed.
  [[nodiscard]] std::string head(const kir::Function& function) const {
    std::string out;
    if (function.is_kernel) {
      for (const std::string& line : launch_comment(module_, function)) {
        out += fmt::format("// {}\n", line);
      }
    }
    if (n_launched_bytes_ > 0) {
      out += fmt::format(fmt::runtime(context_.dialect().shared_request), function.name,
                         n_launched_bytes_);
    }
    return out + prototype(context_.dialect(), function, spelled_);
  }

  /// Statements of a launch function that one thread carries out, or each thread of a team its part
  /// of. They are a function of their own: with a team, in a team that is there, and without one
  /// the same lines are printed, and compiled, once.
  struct Stage {
    std::string function;
    bool is_of_team = false;
    kir::Block body;
  };
  using Stages = std::vector<Stage>;

  [[nodiscard]] Stages stages_of_launch() const {
    Stages stages;
    for (const kir::Stmt& statement : module_.launch) {
      if (std::holds_alternative<kir::Decl>(statement.node)) continue;
      const bool is_of_team =
          std::holds_alternative<kir::Region>(statement.node) || is_of_slots(statement);
      if (stages.empty() || stages.back().is_of_team != is_of_team) {
        const std::string number = stages.empty() ? "" : fmt::format("_{}", stages.size() + 1);
        stages.push_back({module_.launch_name + "_stage" + number, is_of_team, {}});
      }
      stages.back().body.push_back(statement);
    }
    for (Stage& stage : stages) {
      kir::Block decls = decls_for(stage.body);
      stage.body.insert(stage.body.begin(), std::move_iterator(decls.begin()),
                        std::move_iterator(decls.end()));
    }
    return stages;
  }

  /// What the launch function declares for some of its statements. No statement changes it.
  [[nodiscard]] kir::Block decls_for(const kir::Block& body) const {
    std::set<std::string> used = kir::names_used(body);
    kir::Block decls;
    for (auto statement = module_.launch.rbegin(); statement != module_.launch.rend();
         ++statement) {
      const auto* decl = std::get_if<kir::Decl>(&statement->node);
      if (decl == nullptr || !used.contains(decl->name)) continue;
      if (decl->extent > 0 || !decl->value) {
        throw InternalError(
            fmt::format("a launch function's variable '{}' is no value", decl->name));
      }
      decls.insert(decls.begin(), *statement);
      used.merge(kir::names_used({*statement}));
    }
    return decls;
  }

  void print(const Stage& stage) {
    if (stage.is_of_team) context_.top_level_once(team_functions);
    const Scope scope = context_.function(
        fmt::format("static {}void {}(\n    const struct op2_context_v1 *context, long begin, long "
                    "end, void *const *argv{})",
                    context_.dialect().keep_apart, stage.function,
                    stage.is_of_team ? ", long thread, long n_threads" : ""));
    context_.comment(stage.is_of_team ? "What one of n_threads threads does."
                                      : "What one thread does, while others wait.");
    const std::set<std::string> used = kir::names_used(stage.body);
    context_.statement("(void)context;\n(void)argv;");
    for (const char* name : {"begin", "end"}) {
      if (!used.contains(name)) context_.statement(fmt::format("(void){};", name));
    }
    unpack_all(used);
    last_ = last_of(stage.body);
    for (const kir::Stmt& statement : stage.body) {
      if (stage.is_of_team && is_of_slots(statement)) {
        print_shared_for(std::get<kir::For>(statement.node));
      } else {
        print(statement);
      }
    }
    last_ = nullptr;
  }

  /// The statement that the end of a team's stage follows, where all threads wait anyway.
  [[nodiscard]] static const kir::Stmt* last_of(const kir::Block& statements) {
    const auto* region = std::get_if<kir::Region>(&statements.back().node);
    return region == nullptr || region->body.empty() ? nullptr : &region->body.back();
  }

  /// What the launch function does with the stages: base/abi.h says what each flag means.
  void print_answers(const Stages& stages) {
    const auto call = [&](const Stage& stage, std::string_view place) {
      context_.statement(fmt::format("{}(context, begin, end, argv{});", stage.function,
                                     stage.is_of_team ? place : ""));
    };
    context_.begin_branch("if (context->flags == OP2_ONE_THREAD)");
    for (const Stage& stage : stages) call(stage, ", 0, 1");
    context_.else_branch("else if (context->flags == OP2_IN_TEAM)");
    context_.statement(
        "const struct op2_team_v1 *team = (const struct op2_team_v1 *)context->parameters;");
    for (const Stage& stage : stages) {
      if (!stage.is_of_team) context_.begin_branch("if (team->thread == 0)");
      call(stage, ", team->thread, team->n_threads");
      if (!stage.is_of_team) context_.end_branch();
      context_.statement("team->wait();");
    }
    context_.else_branch("else");
    for (const Stage& stage : stages) {
      if (stage.is_of_team) {
        context_.pragma("omp parallel num_threads(context->n_threads)");
        context_.begin_branch("");
      }
      call(stage, ", op2_thread_number(), op2_n_in_team()");
      if (stage.is_of_team) context_.end_branch();
    }
    context_.end_branch();
  }

  /// Whether iterations write elements of their own, and all loops over threads have as many of
  /// them: schedule(static) then gives each thread the same ones in all of these loops.
  [[nodiscard]] bool is_of_slots(const kir::Stmt& statement) const {
    const auto* loop = std::get_if<kir::For>(&statement.node);
    if (loop == nullptr || loop->begin != kir::integer(0)) return false;
    const auto is_index = [loop](const kir::Expr& part) { return part == kir::name(loop->index); };
    const auto is_shared = [&is_index](const kir::Stmt& inner) {
      if (std::holds_alternative<kir::For>(inner.node)) return false;
      const auto* assign = std::get_if<kir::Assign>(&inner.node);
      return assign == nullptr || !kir::any_expr(assign->target, is_index);
    };
    const kir::Expr end = value_of(loop->end);
    const auto has_others = [&end](const kir::Stmt& inner) {
      const auto* other = std::get_if<kir::For>(&inner.node);
      return other != nullptr && other->axis == kir::Axis::thread &&
             (other->end != end || other->begin != kir::integer(0));
    };
    return !kir::any_stmt(loop->body, is_shared) && !kir::any_stmt(module_.launch, has_others);
  }

  /// What a variable of the launch function was declared to be.
  [[nodiscard]] kir::Expr value_of(const kir::Expr& expression) const {
    for (const kir::Stmt& statement : module_.launch) {
      const auto* decl = std::get_if<kir::Decl>(&statement.node);
      const bool is_it = decl != nullptr && expression == kir::name(decl->name);
      if (is_it && decl->extent == 0 && decl->value) return *decl->value;
    }
    return expression;
  }

  void unpack_all(const std::set<std::string>& used) {
    for (std::size_t i = 0; i < module_.argv.size(); ++i) {
      if (used.contains(module_.argv[i].name)) unpack(module_.argv[i], i);
    }
  }

  /// Where an array is met for the first time, what is in it. Arrays of data are the user's.
  void explain(const kir::Parameter& parameter) {
    const std::string what = array_comment(parameter);
    if (what.empty() || !explained_.insert(parameter.name).second) return;
    context_.comment(fmt::format("{} {}", spelled_(parameter.name), what));
  }

  void assume_aligned(const std::vector<kir::Parameter>& parameters) {
    if (context_.dialect().assume_aligned.empty()) return;
    for (const kir::Parameter& parameter : parameters) {
      if (!parameter.type.is_pointer) continue;
      context_.statement(fmt::format(fmt::runtime(context_.dialect().assume_aligned),
                                     spelled_(parameter.name),
                                     type_text(context_.dialect(), parameter.type)));
    }
  }

  void unpack(const kir::Parameter& parameter, std::size_t i) {
    explain(parameter);
    const std::string type = type_text(context_.dialect(), parameter.type);
    declare_as_named(
        {.type = type + "const",
         .declarators = {{spelled_(parameter.name), fmt::format("({})argv[{}]", type, i), ""}},
         .init_reads = std::nullopt});
  }

  void block(const kir::Block& statements) {
    for (const kir::Stmt& statement : statements) print(statement);
  }

  /// Wait for the kernels that were launched before, where they may still run.
  void start_kernel() {
    const std::string_view start = context_.dialect().kernel_start;
    if (!start.empty()) context_.statement(start);
  }

  /// The body of a loop over the grid, which may begin before other kernels are through.
  void block_on_grid(const kir::Block& statements) {
    const std::size_t n_before = std::exchange(n_before_start_, 0);
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (n_before > 0 && i == n_before) start_kernel();
      print(statements[i]);
    }
  }

  void print(const kir::Stmt& statement) {
    if (!statement.comment.empty()) context_.comment(statement.comment);
    std::visit(
        overload{
            [this](const kir::Decl& decl) { declare(decl); },
            [this](const kir::Assign& assign) { this->assign(assign); },
            [this](const kir::Atomic& atomic) { update(atomic); },
            [this](const kir::CallUser& call) {
              context_.statement(fmt::format("{}({});",
                                             entries_.at(static_cast<std::size_t>(call.kernel)),
                                             list(call.arguments)));
            },
            [this](const kir::Call& call) {
              context_.statement(fmt::format("{}({});", call.function, list(call.arguments)));
            },
            [&](const kir::For& loop) {
              if (loop.axis != kir::Axis::thread) return print_for(loop);
              print_shared_for(loop);
              if (&statement != last_) wait_for_team();
            },
            [this](const kir::If& branch) {
              context_.begin_branch(fmt::format("if ({})", expr(branch.condition)));
              block(branch.then);
              context_.end_branch();
            },
            [this](const kir::Region& region) { block(region.body); },
            [this](const kir::Barrier& barrier) {
              if (barrier.global_memory) {
                context_.statement(context_.dialect().global_barrier);
              } else {
                context_.barrier();
              }
            },
            [this](const kir::Intrinsic& intrinsic) {
              print_intrinsic(context_, intrinsic,
                              [this](const kir::Expr& expression) { return expr(expression); });
            },
            [](const kir::Launch&) { not_printed("Launch"); },
            [](const kir::Scratch&) { not_printed("Scratch"); },
            [](const kir::Copy&) { not_expanded("Copy"); },
            [](const kir::Gather&) { not_expanded("Gather"); },
            [](const kir::Scatter&) { not_expanded("Scatter"); },
            [](const kir::MatInsert&) { not_expanded("MatInsert"); },
        },
        statement.node);
  }

  [[noreturn]] static void not_expanded(std::string_view node) {
    throw InternalError(fmt::format("{} reached the printer; expand it first", node));
  }

  [[noreturn]] static void not_printed(std::string_view node) {
    throw InternalError(fmt::format("{} reached the printer; the runtime evaluates it", node));
  }

  void assign(const kir::Assign& assign) {
    const std::string target = place(assign.target);
    std::string value = expr(assign.value);
    const bool is_added = assign.update == kir::Update::add;
    if (const auto half = half_at(assign.target)) {
      const DType from = dtype_in(assign.value).value_or(DType::float64);
      if (is_added) value = fmt::format("{} + {}", expr(assign.target), value);
      const bool is_kept = std::holds_alternative<kir::LaneOf>(assign.value.node) && from == *half;
      if (!is_kept) value = converted(context_, from, *half, 0, value);
      return context_.statement(fmt::format("{} = {};", target, value));
    }
    context_.statement(fmt::format("{} {} {};", target, is_added ? "+=" : "=", value));
  }

  /// Numbers of 16 bits that an element of an array is.
  [[nodiscard]] std::optional<DType> half_at(const kir::Expr& expression) const {
    const auto* element = std::get_if<kir::Element>(&expression.node);
    const auto found = element == nullptr ? types_.end() : types_.find(element->array);
    if (found == types_.end() || found->second.lanes > 0) return std::nullopt;
    return is_half(found->second.dtype) ? std::optional(found->second.dtype) : std::nullopt;
  }

  /// The type of the real numbers in an expression; those of 16 bits are read as floats.
  [[nodiscard]] std::optional<DType> dtype_in(const kir::Expr& expression) const {
    std::optional<DType> dtype;
    (void)kir::any_expr(expression, [&](const kir::Expr& part) {
      const std::string* name = kir::variable_of(part);
      const auto found = name == nullptr ? types_.end() : types_.find(*name);
      if (found == types_.end() || is_integer(found->second.dtype)) return false;
      dtype = half_at(part) ? DType::float32 : found->second.dtype;
      return true;
    });
    return dtype;
  }

  /// What is stored to: the words of numbers of 16 bits.
  [[nodiscard]] std::string place(const kir::Expr& target) const {
    const auto* element = std::get_if<kir::Element>(&target.node);
    if (element == nullptr) return expr(target);
    return fmt::format("{}[{}]", spelled_(element->array), expr(element->subscript.front()));
  }

  /// An array of a block, as a pointer to its place in the memory that launches give.
  void declare_launched(const kir::Decl& decl, std::int64_t place) {
    const std::string type = type_text(context_.dialect(), decl.type);
    declare_as_named(
        {.type = type + "*const",
         .declarators = {{spelled_(decl.name),
                          fmt::format("({}*)((char *)op2_block + {})", type, place), ""}},
         .init_reads = std::nullopt});
  }

  void declare(const kir::Decl& decl) {
    types_[decl.name] = decl.type;
    if (decl.type.is_pointer && decl.extent > 0) types_.erase(decl.name);  // no numbers
    if (const auto found = shared_places_.find(decl.name); found != shared_places_.end()) {
      return declare_launched(decl, found->second);
    }
    Declaration declaration;
    declaration.type = type_text(context_.dialect(), decl.type);
    if (decl.storage == kir::Storage::block) {
      declaration.type = fmt::format("{} {}", context_.dialect().local, declaration.type);
    }
    if (!decl.type.is_pointer) declaration.type.pop_back();
    // Or compilers keep all of them in registers, which are too few, and compute several at a time.
    if (decl.type.is_pointer && decl.extent > 0) declaration.type += "volatile";
    if (decl.type.lanes > 0) {
      declaration.type = vector_type(context_, decl.type.dtype, decl.type.lanes);
    }
    Declarator declarator{spelled_(decl.name), "", ""};
    if (decl.extent > 0) declarator.extents = fmt::format("[{}]", decl.extent);
    if (decl.value) {
      declarator.init = expr(*decl.value);
      const bool is_vector = decl.type.lanes > 0 && !is_complex(decl.type.dtype);
      if (is_vector && context_.dialect().has_vectors) {
        declarator.init = fmt::format("({})({})", declaration.type, declarator.init);
      }
      if (decl.extent > 0) declarator.init = fmt::format("{{{}}}", declarator.init);
      // A cast that C does not need, but C++ does.
      if (std::holds_alternative<kir::ScratchAt>(decl.value->node)) {
        declarator.init = fmt::format("({}){}", declaration.type, declarator.init);
      }
    }
    declaration.declarators = {declarator};
    declare_as_named(declaration);
  }

  /// Passes give every variable a name of its own; the context must agree.
  void declare_as_named(const Declaration& declaration) {
    const std::string& wanted = declaration.declarators.front().name;
    const std::string given = context_.declare(declaration).front();
    if (given != wanted) {
      throw InternalError(fmt::format("variable '{}' would be printed as '{}'", wanted, given));
    }
  }

  /// Where a lane starts among the iterations, and how far it steps.
  std::pair<kir::Expr, std::string> stride_of(const kir::For& loop) const {
    using kir::Builtin;
    const auto striding = [&](Builtin place, Builtin count) {
      const std::string step = loop.step == 1 ? "" : fmt::format("{} * ", loop.step);
      return std::pair{loop.begin + kir::integer(loop.step) * kir::builtin(place),
                       fmt::format(" += {}{}", step, builtin(count))};
    };
    switch (loop.axis) {
      case kir::Axis::serial:
      case kir::Axis::thread:
        return {loop.begin, ""};
      case kir::Axis::grid:
        return striding(Builtin::global_id, Builtin::n_global);
      case kir::Axis::block:
        return striding(Builtin::block_id, Builtin::n_blocks);
      case kir::Axis::lane:
        return striding(Builtin::lane_id, Builtin::n_lanes);
      case kir::Axis::vector:
        not_expanded("For{vector}");
    }
    throw InternalError("unknown axis");
  }

  /// The other threads have come here, too, in a team that is there or in one of its own.
  void wait_for_team() {
    context_.begin_branch("if (context->flags == OP2_IN_TEAM)");
    context_.statement("((const struct op2_team_v1 *)context->parameters)->wait();");
    context_.else_branch("else if (n_threads > 1)");
    context_.barrier();
    context_.end_branch();
  }

  /// In equal parts that lie behind each other, as many as there are threads.
  void print_shared_for(const kir::For& loop) {
    const auto from = [&loop](kir::Expr thread) {
      const bool is_from_zero = loop.begin == kir::integer(0);
      kir::Expr n = is_from_zero ? loop.end : loop.end - loop.begin;
      kir::Expr before = std::move(n) * std::move(thread) / kir::name("n_threads");
      return is_from_zero ? before : loop.begin + std::move(before);
    };
    const kir::Expr thread = kir::name("thread");
    context_.begin_branch(fmt::format("for ({0} {1} = {2},\n    past = {3}; {1} < past; ++{1})",
                                      context_.dialect().type_name(loop.index_type), loop.index,
                                      expr(from(thread)), expr(from(thread + kir::integer(1)))));
    block(loop.body);
    context_.end_branch();
  }

  void print_for(const kir::For& loop) {
    if (loop.axis == kir::Axis::grid && !context_.dialect().grid_loop.empty()) {
      context_.pragma(context_.dialect().grid_loop);
    }
    if (loop.unrolled > 0) context_.pragma(fmt::format("unroll {}", loop.unrolled));
    const auto [begin, stride] = stride_of(loop);
    std::string step = stride.empty() ? "++" + loop.index : loop.index + stride;
    if (!loop.step_name.empty()) {
      step = fmt::format("{} += {}", loop.index, loop.step_name);
    } else if (stride.empty() && loop.step != 1) {
      step = fmt::format("{} += {}", loop.index, loop.step);
    }
    context_.begin_branch(fmt::format("{5}for ({1} {0} = {2}; {0} < {3}; {4})", loop.index,
                                      context_.dialect().type_name(loop.index_type), expr(begin),
                                      expr(loop.end), step, rolled_if_gathering(loop)));
    loop.axis == kir::Axis::grid ? block_on_grid(loop.body) : block(loop.body);
    context_.end_branch();
  }

  /// Rows are loaded in a loop to save the compiler's time. GCC would unroll it, which takes it
  /// half as long again and makes nothing faster.
  std::string_view rolled_if_gathering(const kir::For& loop) {
    const auto is_gather = [](const kir::Stmt& stmt) {
      return kir::is_instruction(stmt, kir::Instruction::lane_gather);
    };
    const bool is_of_gathers = !loop.body.empty() && std::ranges::all_of(loop.body, is_gather);
    if ((!is_of_gathers && !loop.is_rolled) || context_.dialect().has_vectors) return "";
    return rolled(context_);
  }

  void update(const kir::Atomic& atomic) {
    context_.statement(atomic_update(context_, atomic.dtype, atomic.update,
                                     fmt::format("&{}", expr(atomic.target)), expr(atomic.value)));
  }

  /// Devices count lanes and blocks in unsigned words; all counts fit into 32 bits with a sign.
  std::string builtin(kir::Builtin value) const {
    const Dialect& dialect = context_.dialect();
    const auto number = [](std::string_view word) { return fmt::format("(int){}", word); };
    switch (value) {
      case kir::Builtin::n_threads:
        return "context->n_threads";
      case kir::Builtin::block_id:
        return number(dialect.block_id);
      case kir::Builtin::n_blocks:
        return number(dialect.n_blocks);
      case kir::Builtin::lane_id:
        return number(dialect.lane_id);
      case kir::Builtin::n_lanes:
        return n_lanes_ > 0 ? std::to_string(n_lanes_) : number(dialect.n_lanes);
      case kir::Builtin::global_id:
        return number(dialect.global_id);
      case kir::Builtin::n_global:
        return number(dialect.n_global);
    }
    throw InternalError("unknown builtin");
  }

  std::string list(const std::vector<kir::Expr>& expressions) const {
    std::string out;
    for (const kir::Expr& expression : expressions) {
      if (!out.empty()) out += ", ";
      out += expr(expression);
    }
    return out;
  }

  std::string expr(const kir::Expr& expression) const {
    return std::visit(
        overload{
            [](const kir::Integer& value) { return fmt::format("{}", value.value); },
            [this](const kir::Name& value) { return spelled_(value.name); },
            [&](const kir::Element&) {
              const auto half = half_at(expression);
              if (!half) return place(expression);
              return converted(context_, *half, DType::float32, 0, place(expression));
            },
            [this](const kir::Offset& value) {
              return fmt::format("{} + {}", spelled_(value.array),
                                 operand(value.subscript.front(), precedence(kir::BinaryOp::add)));
            },
            [this](const kir::Binary& value) {
              const int level = precedence(value.op);
              return fmt::format("{} {} {}", operand(value.operands[0], level), symbol(value.op),
                                 operand(value.operands[1], level + 1));
            },
            [this](const kir::Widen& value) {
              return fmt::format("({}){}", context_.dialect().type_name(DType::int64),
                                 operand(value.operands[0], 5));
            },
            [this](const kir::Minimum& value) {
              const std::string left = operand(value.operands[0], 3);
              const std::string right = operand(value.operands[1], 3);
              return fmt::format("({0} < {1} ? {0} : {1})", left, right);
            },
            [this](const kir::Select& value) {
              return fmt::format("({} ? {} : {})", operand(value.operands[0], 1),
                                 operand(value.operands[1], 1), operand(value.operands[2], 1));
            },
            [this](const kir::ScratchAt& value) {
              return fmt::format("((char *)context->scratch + {})",
                                 operand(value.bytes.front(), precedence(kir::BinaryOp::add)));
            },
            [this](const kir::Shuffle& value) {
              return fmt::format("{}{}, {})", context_.dialect().shuffle, list(value.operands),
                                 value.width);
            },
            [](const kir::BlocksFor&) -> std::string { not_printed("BlocksFor"); },
            [](const kir::Stride&) -> std::string { not_printed("Stride"); },
            [this](const kir::LaneOf& value) { return lane_of(value); },
            [this](const kir::Builtin& value) { return builtin(value); },
        },
        expression.node);
  }

  std::string lane_of(const kir::LaneOf& value) const {
    const std::string at = fmt::format("{}[{}]", spelled_(value.array), expr(value.operands[0]));
    const std::string lane = expr(value.operands[1]);
    const auto pack = types_.find(value.array);
    if (pack == types_.end() || pack->second.lanes == 0) return fmt::format("{}[{}]", at, lane);
    // Clang stores the vector anew for each lane of it that is asked for by a variable.
    const DType dtype = pack->second.dtype;
    const bool is_known = std::holds_alternative<kir::Integer>(value.operands[1].node);
    const bool in_memory = !is_known && !context_.dialect().has_vectors;
    if (is_complex(dtype)) {
      const auto part = [&](std::string_view name) {
        return in_memory ? fmt::format("(({} *)&{}.{})[{}]",
                                       context_.dialect().type_name(part_of(dtype)), at, name, lane)
                         : fmt::format("{}.{}[{}]", at, name, lane);
      };
      return complex_value(context_, dtype, part("re"), part("im"));
    }
    if (!in_memory) return fmt::format("{}[{}]", at, lane);
    const kir::Expr scalar =
        value.operands[0] * kir::integer(pack->second.lanes) + value.operands[1];
    return fmt::format("(({} *){})[{}]", context_.dialect().type_name(dtype), spelled_(value.array),
                       expr(scalar));
  }

  /// An operand, in parentheses if it binds less tightly than @p level.
  std::string operand(const kir::Expr& expression, int level) const {
    const auto* binary = std::get_if<kir::Binary>(&expression.node);
    const bool parenthesise = binary != nullptr && precedence(binary->op) < level;
    return parenthesise ? fmt::format("({})", expr(expression)) : expr(expression);
  }

  Context& context_;
  const kir::Module& module_;
  const std::vector<std::string>& entries_;
  Spelling spelled_;                                   // of the function that is being printed
  const kir::Stmt* last_ = nullptr;                    // behind it all threads wait anyway
  std::map<std::string, kir::VariableType> types_;     // of the function's variables
  std::map<std::string, std::int64_t> shared_places_;  // of a block's arrays; empty: declared
  std::int64_t n_launched_bytes_ = 0;                  // of all of these
  std::set<std::string> explained_;                    // arrays
  std::size_t n_before_start_ = 0;                     // statements of the kernel's loop
  int n_lanes_ = 0;                                    // of each block of the kernel; 0: any number
};

}  // namespace

std::string prototype(const Dialect& dialect, const kir::Function& function) {
  return prototype(dialect, function, Spelling(dialect, function.parameters, function.body));
}

namespace {

/// Parameters that a kernel could be called like, if its own name cannot be kept.
std::vector<std::string> names_like_kernels(const kir::Module& module) {
  std::vector<std::string> names;
  for (const kir::Parameter& parameter : module.argv) {
    const auto is_like = [&parameter](const kernel::KernelPtr& kernel) {
      return parameter.name.starts_with(kernel->name + "_");
    };
    if (std::ranges::any_of(module.kernels, is_like)) names.push_back(parameter.name);
  }
  return names;
}

}  // namespace

void reserve_names(Context& context, const kir::Module& module) {
  for (const std::string_view name : kir::local_names()) context.reserve(name);
  for (const std::string& name : names_like_kernels(module)) context.reserve(name);
}

std::size_t print_module(Context& context, const kir::Module& module,
                         const std::vector<std::string>& entries, const std::string& linkage) {
  if (!kir::is_expanded(module)) throw InternalError("print_module needs an expanded module");
  for (const std::string_view name : kir::local_names()) context.release(name);
  for (const std::string& name : names_like_kernels(module)) context.release(name);
  Printer printer(context, module, entries);
  for (const kir::Function& function : module.functions) printer.function(function);
  const std::size_t n_before_launch = context.size();
  // The launches of a grid are the runtime's affair.
  if (!kir::has_kernels(module)) printer.launch(linkage);
  return n_before_launch;
}

}  // namespace op2::cg
