// SPDX-License-Identifier: BSD-3-Clause
#include "cg/launch_comments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "cg/array_comments.hpp"
#include "kir/dump.hpp"
#include "kir/walk.hpp"

namespace op2::cg {
namespace {

std::string launch_text(const kir::Expr& expr);

std::string launch_operand(const kir::Expr& expr) {
  const bool is_loose = std::holds_alternative<kir::Binary>(expr.node) ||
                        std::holds_alternative<kir::BlocksFor>(expr.node);
  return is_loose ? fmt::format("({})", launch_text(expr)) : launch_text(expr);
}

/// What a launch computes, as C would have it.
std::string launch_text(const kir::Expr& expr) {
  const auto text = [](const std::vector<kir::Expr>& of, std::size_t i) {
    return launch_text(of.at(i));
  };
  return std::visit(
      overload{[&](const kir::Element& at) {
                 return fmt::format("{}[{}]", at.array, text(at.subscript, 0));
               },
               [&](const kir::Binary& binary) {
                 std::string whole =
                     kir::dump({kir::Binary{binary.op,
                                            {kir::name(launch_operand(binary.operands[0])),
                                             kir::name(launch_operand(binary.operands[1]))}}});
                 return whole.substr(1, whole.size() - 2);
               },
               [&](const kir::Widen& widen) { return text(widen.operands, 0); },
               [&](const kir::Minimum& least) {
                 return fmt::format("min({}, {})", text(least.operands, 0),
                                    text(least.operands, 1));
               },
               [&](const kir::Select& select) {
                 return fmt::format("({} ? {} : {})", text(select.operands, 0),
                                    text(select.operands, 1), text(select.operands, 2));
               },
               [&](const kir::BlocksFor& blocks) {
                 return fmt::format("blocks for {}", text(blocks.items, 0));
               },
               [&expr](const auto& /*other*/) { return kir::dump(expr); }},
      expr.node);
}

/// A launch, and all that decides how often it happens.
struct MetLaunch {
  const kir::Launch* launch;
  std::vector<const kir::Stmt*> around;  ///< outer ones first
  std::string_view what;
};

class Launches {
 public:
  explicit Launches(const kir::Module& module) {
    for (const kir::Parameter& parameter : module.argv) arrays_.emplace(parameter.name, &parameter);
    std::vector<const kir::Stmt*> around;
    walk(module.launch, around, "");
  }

  [[nodiscard]] std::vector<std::string> lines(const kir::Function& kernel) const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < met_.size(); ++i) {
      if (met_[i].launch->function == kernel.name) add(out, i, kernel);
    }
    return out;
  }

 private:
  /// A comment is of its statement, and of those behind it up to the next one.
  void walk(const kir::Block& block, std::vector<const kir::Stmt*>& around, std::string_view what) {
    for (const kir::Stmt& stmt : block) {
      if (!stmt.comment.empty()) what = stmt.comment;
      std::visit(
          overload{[&](const kir::Launch& launch) {
                     met_.push_back({&launch, around, what});
                   },
                   [&](const kir::Decl& decl) {
                     if (decl.value) define(decl.name, *decl.value);
                   },
                   [&](const kir::Assign& assign) { define(assign); },
                   [&](const kir::Scratch& scratch) { kept_.emplace(scratch.name, &scratch); },
                   [](const auto& /*other*/) {}},
          stmt.node);
      const kir::Block* inner = kir::block_of(stmt);
      if (inner == nullptr) continue;
      around.push_back(&stmt);
      walk(*inner, around, what);
      around.pop_back();
    }
  }

  void define(const kir::Assign& assign) {
    const auto* target = std::get_if<kir::Name>(&assign.target.node);
    if (target != nullptr) define(target->name, assign.value);
  }
  void define(const std::string& name, const kir::Expr& value) { values_[name].push_back(&value); }

  void add(std::vector<std::string>& out, std::size_t number, const kir::Function& kernel) const {
    const MetLaunch& met = met_[number];
    if (std::string first = phase(number); !first.empty()) out.push_back(std::move(first));
    Used used;
    std::string how = "Launched";
    for (const kir::Stmt* stmt : met.around) how += condition(*stmt, used);
    how += grid(*met.launch, used);
    std::string given;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const kir::Parameter& parameter = kernel.parameters[i];
      if (parameter.type.is_pointer) continue;
      const std::string value = text(met.launch->arguments.at(i), used);
      if (value == parameter.name) continue;
      given += fmt::format("{}{} = {}", given.empty() ? "with " : ", ", parameter.name, value);
    }
    out.push_back(how + (given.empty() ? "." : ","));
    if (!given.empty()) out.push_back(given + ".");
    add_names(out, used, kernel);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      add_kept(out, kernel.parameters[i], met.launch->arguments.at(i));
    }
  }

  /// Nothing of the only launch, if nobody says what it does.
  [[nodiscard]] std::string phase(std::size_t number) const {
    std::string_view what = met_[number].what;
    if (what.ends_with(',')) what.remove_suffix(1);
    const bool is_whole = what.empty() || what.ends_with('.');
    std::string out = fmt::format("{}{}", what, is_whole ? "" : ".");
    if (met_.size() == 1) return out;
    const std::string of_all = fmt::format("Phase {} of {}", number + 1, met_.size());
    return out.empty() ? of_all + "." : fmt::format("{}: {}", of_all, out);
  }

  using Used = std::vector<std::string>;  // names, in the order in which they are met

  static void note(const kir::Expr& expr, Used& used) {
    kir::for_each_expr(expr, [&](const kir::Expr& part) {
      const std::string* name = kir::variable_of(part);
      if (name == nullptr || std::ranges::find(used, *name) != used.end()) return;
      used.push_back(*name);
    });
  }
  static std::string text(const kir::Expr& expr, Used& used) {
    note(expr, used);
    return launch_text(expr);
  }

  static std::string condition(const kir::Stmt& stmt, Used& used) {
    if (const auto* loop = std::get_if<kir::For>(&stmt.node)) {
      return fmt::format(" for each {} in [{}, {})", loop->index, text(loop->begin, used),
                         text(loop->end, used));
    }
    if (const auto* branch = std::get_if<kir::If>(&stmt.node)) {
      return fmt::format(" if {}", text(branch->condition, used));
    }
    throw InternalError("launch_comment: a launch within what is neither a loop nor a condition");
  }

  static std::string grid(const kir::Launch& launch, Used& used) {
    note(launch.items, used);
    const std::string items = launch_operand(launch.items);
    switch (launch.grid) {
      case kir::Grid::items:
        return fmt::format(" on lanes for {} items, or on fewer, which stride", items);
      case kir::Grid::blocks:
        return fmt::format(" in {} blocks", items);
      case kir::Grid::single:
        return " in one block";
      case kir::Grid::teams:
        return fmt::format(" in {} blocks, each with all lanes of a team", items);
    }
    throw InternalError("launch_comment: not a Grid");
  }

  /// What the names of a launch are: numbers that it computes, and arrays of plans that it reads.
  void add_names(std::vector<std::string>& out, Used& used, const kir::Function& kernel) const {
    for (std::size_t i = 0; i < used.size(); ++i) {  // it grows
      const std::string name = used[i];
      if (const auto found = values_.find(name); found != values_.end()) {
        std::string line;
        for (const kir::Expr* value : found->second) {
          line += fmt::format("{}{}", line.empty() ? name + " = " : ", then ", text(*value, used));
        }
        out.push_back(std::move(line));
      }
      const auto array = arrays_.find(name);
      const bool is_own = std::ranges::find(kernel.parameters, name, &kir::Parameter::name) !=
                          kernel.parameters.end();
      if (array == arrays_.end() || is_own) continue;  // the kernel says what its own are
      const std::string what = array_comment(*array->second);
      if (!what.empty()) out.push_back(fmt::format("{} {}", name, what));
    }
  }

  void add_kept(std::vector<std::string>& out, const kir::Parameter& parameter,
                const kir::Expr& argument) const {
    const auto* name = std::get_if<kir::Name>(&argument.node);
    const auto found = name == nullptr ? kept_.end() : kept_.find(name->name);
    if (found == kept_.end()) return;
    out.push_back(fmt::format("{} [{}]: {}", parameter.name, launch_text(found->second->extent),
                              found->second->is_zero
                                  ? "0 before the first launch; each finds what the last one left"
                                  : "kept until the last launch"));
  }

  std::vector<MetLaunch> met_;
  std::map<std::string, std::vector<const kir::Expr*>> values_;
  std::map<std::string, const kir::Scratch*> kept_;
  std::map<std::string, const kir::Parameter*> arrays_;
};

}  // namespace

std::vector<std::string> launch_comment(const kir::Module& module, const kir::Function& kernel) {
  return Launches(module).lines(kernel);
}

}  // namespace op2::cg
