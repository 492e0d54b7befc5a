// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/canonical.hpp"
#include "base/error.hpp"
#include "bind/bind.hpp"
#include "cg/context.hpp"
#include "cg/kernel_printer.hpp"
#include "kernel/body.hpp"
#include "kernel/bounds.hpp"
#include "kernel/checks.hpp"
#include "kernel/constants.hpp"
#include "kernel/contractions.hpp"
#include "kernel/facts.hpp"
#include "kernel/plain.hpp"
#include "kernel/stores.hpp"
#include "kernel/structures.hpp"
#include "kernel/team_calls.hpp"
#include "kernel/teams.hpp"
#include "kernel/types.hpp"
#include "kernel/unique_names.hpp"

namespace op2::bind {
namespace {

using kernel::Expr;
using kernel::Stmt;
using kernel::Type;

// Decoders of the tuples that pyop2cxx/kernel/parser/wire.py describes.

Type type_from(const py::handle& wire) {
  static constexpr std::string_view of_structure = "struct ";
  const auto tuple = wire.cast<py::tuple>();
  const auto base = tuple[0].cast<std::string>();
  const bool is_structure = base.starts_with(of_structure);
  Type type{.base = is_structure ? kernel::Base::structure : kernel::base_from_name(base),
            .is_const = tuple[1].cast<bool>(),
            .derivation = {}};
  if (is_structure) type.tag = base.substr(of_structure.size());
  for (const py::handle step : tuple[2].cast<py::tuple>()) {
    const auto parts = step.cast<py::tuple>();
    const bool is_pointer = parts[0].cast<std::string>() == "*";
    type.derivation.push_back(
        {.kind = is_pointer ? kernel::Derivation::Kind::pointer : kernel::Derivation::Kind::array,
         .extent = parts[1].cast<std::int64_t>(),
         .is_const = parts[2].cast<bool>(),
         .is_restrict = parts[3].cast<bool>()});
  }
  return type;
}

std::optional<Type> optional_type_from(const py::handle& wire) {
  if (wire.is_none()) return std::nullopt;
  return type_from(wire);
}

using MakeNode = kernel::ExprNode (*)(std::string text, const py::handle& type);

const std::map<std::string, MakeNode, std::less<>>& expr_makers() {
  static const std::map<std::string, MakeNode, std::less<>> makers{
      {"literal",
       [](std::string text, const py::handle&) -> kernel::ExprNode {
         return kernel::Literal{std::move(text)};
       }},
      {"name",
       [](std::string text, const py::handle&) -> kernel::ExprNode {
         return kernel::Name{std::move(text)};
       }},
      {"unary",
       [](std::string text, const py::handle&) -> kernel::ExprNode {
         return kernel::Unary{kernel::unary_from(text, false)};
       }},
      {"postfix",
       [](std::string text, const py::handle&) -> kernel::ExprNode {
         return kernel::Unary{kernel::unary_from(text, true)};
       }},
      {"binary",
       [](std::string text, const py::handle&) -> kernel::ExprNode {
         return kernel::Binary{kernel::binary_from(text)};
       }},
      {"assign",
       [](std::string text, const py::handle&) -> kernel::ExprNode {
         if (text.empty()) return kernel::Assign{};
         return kernel::Assign{kernel::binary_from(text)};
       }},
      {"ternary",
       [](std::string, const py::handle&) -> kernel::ExprNode { return kernel::Ternary{}; }},
      {"index", [](std::string, const py::handle&) -> kernel::ExprNode { return kernel::Index{}; }},
      {"member",
       [](std::string text, const py::handle&) -> kernel::ExprNode {
         return kernel::MemberOf{std::move(text)};
       }},
      {"call",
       [](std::string text, const py::handle&) -> kernel::ExprNode {
         return kernel::Call{std::move(text)};
       }},
      {"cast",
       [](std::string, const py::handle& type) -> kernel::ExprNode {
         return kernel::Cast{type_from(type)};
       }},
      {"sizeof",
       [](std::string, const py::handle& type) -> kernel::ExprNode {
         return kernel::SizeOf{optional_type_from(type)};
       }},
      {"list",
       [](std::string, const py::handle&) -> kernel::ExprNode { return kernel::InitList{}; }},
  };
  return makers;
}

Expr expr_from(const py::handle& wire) {
  const auto tuple = wire.cast<py::tuple>();
  const MakeNode make = expr_makers().at(tuple[0].cast<std::string>());
  Expr expr{.node = make(tuple[2].cast<std::string>(), tuple[3]),
            .operands = {},
            .type = {},
            .line = tuple[1].cast<int>()};
  const auto operands = tuple[4].cast<py::tuple>();
  expr.operands.reserve(operands.size());
  for (const py::handle operand : operands) expr.operands.push_back(expr_from(operand));
  return expr;
}

std::optional<Expr> optional_expr_from(const py::handle& wire) {
  if (wire.is_none()) return std::nullopt;
  return expr_from(wire);
}

kernel::Variable variable_from(const py::handle& wire) {
  const auto tuple = wire.cast<py::tuple>();
  return {.name = tuple[0].cast<std::string>(),
          .type = type_from(tuple[1]),
          .value = optional_expr_from(tuple[2]),
          .line = tuple[3].cast<int>()};
}

std::vector<kernel::Variable> variables_from(const py::handle& wire) {
  std::vector<kernel::Variable> variables;
  for (const py::handle item : wire.cast<py::tuple>()) variables.push_back(variable_from(item));
  return variables;
}

kernel::Body body_from(const py::handle& wire);

using MakeStatement = kernel::StmtNode (*)(const py::tuple& wire);

const std::map<std::string, MakeStatement, std::less<>>& statement_makers() {
  static const std::map<std::string, MakeStatement, std::less<>> makers{
      {"declare",
       [](const py::tuple& wire) -> kernel::StmtNode {
         return kernel::Declare{.is_static = wire[2].cast<bool>(),
                                .variables = variables_from(wire[3])};
       }},
      {"evaluate",
       [](const py::tuple& wire) -> kernel::StmtNode {
         return kernel::Evaluate{expr_from(wire[2])};
       }},
      {"block",
       [](const py::tuple& wire) -> kernel::StmtNode { return kernel::Block{body_from(wire[2])}; }},
      {"if",
       [](const py::tuple& wire) -> kernel::StmtNode {
         return kernel::If{.condition = expr_from(wire[2]),
                           .then_body = body_from(wire[3]),
                           .else_body = body_from(wire[4])};
       }},
      {"for",
       [](const py::tuple& wire) -> kernel::StmtNode {
         return kernel::For{.init = body_from(wire[2]),
                            .condition = optional_expr_from(wire[3]),
                            .step = optional_expr_from(wire[4]),
                            .body = body_from(wire[5])};
       }},
      {"while",
       [](const py::tuple& wire) -> kernel::StmtNode {
         return kernel::While{.condition = expr_from(wire[2]),
                              .body = body_from(wire[3]),
                              .is_do = wire[4].cast<bool>()};
       }},
      {"switch",
       [](const py::tuple& wire) -> kernel::StmtNode {
         kernel::Switch node{.value = expr_from(wire[2]), .cases = {}};
         for (const py::handle item : wire[3].cast<py::tuple>()) {
           const auto entry = item.cast<py::tuple>();
           node.cases.push_back(
               {.label = optional_expr_from(entry[0]), .body = body_from(entry[1])});
         }
         return node;
       }},
      {"return",
       [](const py::tuple& wire) -> kernel::StmtNode {
         return kernel::Return{optional_expr_from(wire[2])};
       }},
      {"break", [](const py::tuple&) -> kernel::StmtNode { return kernel::Break{}; }},
      {"continue", [](const py::tuple&) -> kernel::StmtNode { return kernel::Continue{}; }},
  };
  return makers;
}

kernel::Body body_from(const py::handle& wire) {
  kernel::Body body;
  for (const py::handle item : wire.cast<py::tuple>()) {
    const auto tuple = item.cast<py::tuple>();
    const MakeStatement make = statement_makers().at(tuple[0].cast<std::string>());
    body.push_back(Stmt{.node = make(tuple), .line = tuple[1].cast<int>()});
  }
  return body;
}

std::vector<kernel::Parameter> parameters_from(const py::handle& wire) {
  std::vector<kernel::Parameter> parameters;
  for (const py::handle item : wire.cast<py::tuple>()) {
    const auto tuple = item.cast<py::tuple>();
    parameters.push_back({.name = tuple[0].cast<std::string>(),
                          .type = type_from(tuple[1]),
                          .line = tuple[2].cast<int>()});
  }
  return parameters;
}

using Wire = py::typing::Tuple<py::object, py::ellipsis>;

kernel::FunctionDef function_from(const py::handle& wire) {
  const auto tuple = wire.cast<py::tuple>();
  return {.name = tuple[0].cast<std::string>(),
          .result = type_from(tuple[1]),
          .parameters = parameters_from(tuple[2]),
          .body = body_from(tuple[3]),
          .line = tuple[4].cast<int>(),
          .vector_text = tuple[7].cast<std::string>()};
}

kernel::KernelBody kernel_body_from(const Wire& functions, const Wire& tables,
                                    const Wire& structures, const Wire& teams) {
  kernel::KernelBody body{.tables = variables_from(tables), .functions = {}};
  for (const py::handle item : structures) {
    const auto tuple = item.cast<py::tuple>();
    body.structures.push_back({.name = tuple[0].cast<std::string>(),
                               .members = parameters_from(tuple[1]),
                               .line = tuple[2].cast<int>()});
  }
  for (const py::handle item : functions) body.functions.push_back(function_from(item));
  for (const py::handle item : teams) {
    const auto tuple = item.cast<py::tuple>();
    body.team_functions.push_back({.function = function_from(tuple[0]),
                                   .n_lanes = tuple[1].cast<int>(),
                                   .n_shared = tuple[2].cast<std::int64_t>()});
  }
  return kernel::without_structures(kernel::infer_types(std::move(body)));
}

std::string c_text(const Type& type, const std::string& name) {
  return cg::declaration_text(type, name, cg::c_dialect());
}

std::map<std::int64_t, std::variant<std::int64_t, double>> constants_of(
    const kernel::ParameterFacts& facts) {
  std::map<std::int64_t, std::variant<std::int64_t, double>> out;
  for (const auto& [component, constant] : facts.left.constant) {
    const auto* real = std::get_if<kernel::Real>(&constant);
    if (real != nullptr) {
      out[component] = real->value;
    } else {
      out[component] = std::get<std::int64_t>(constant);
    }
  }
  return out;
}

std::map<std::int64_t, std::pair<int, std::int64_t>> copies_of(
    const kernel::ParameterFacts& facts) {
  std::map<std::int64_t, std::pair<int, std::int64_t>> out;
  for (const auto& [component, source] : facts.left.copied) {
    out[component] = {source.parameter, source.offset};
  }
  return out;
}

void bind_kernel_facts(py::module_& core) {
  using kernel::KernelFacts;
  using kernel::ParameterFacts;
  py::class_<ParameterFacts>(core, "ParameterFacts")
      .def_property_readonly("is_read", &ParameterFacts::is_read)
      .def_property_readonly("is_written", &ParameterFacts::is_written)
      .def_property_readonly("first_write_line", &ParameterFacts::first_write_line)
      .def_property_readonly(
          "store_line",
          [](const ParameterFacts& facts) { return facts.line_of(kernel::Use::store); })
      .def_property_readonly("n_surely_written",
                             [](const ParameterFacts& facts) { return facts.left.n_stored(); })
      .def_property_readonly(
          "surely_written", [](const ParameterFacts& facts) { return facts.left.stored; },
          "Components that a call certainly writes.")
      .def_property_readonly("constants", &constants_of,
                             "Components that certainly hold this number after a call.")
      .def_property_readonly("copies", &copies_of,
                             "Components that certainly hold what a call loaded from there, "
                             "(parameter, component), as it was then: a call may have written "
                             "there before, and may since.")
      .def("foreign_read_line", &ParameterFacts::foreign_read_line, py::arg("access"))
      .def("commutes", &ParameterFacts::commutes, py::arg("access"));

  py::class_<KernelFacts>(core, "KernelFacts")
      .def_readonly("parameters", &KernelFacts::parameters)
      .def_readonly("unknown_functions", &KernelFacts::unknown_functions)
      .def_readonly("free_names", &KernelFacts::free_names)
      .def_readonly("n_operations", &KernelFacts::n_operations)
      .def_readonly("has_open_loops", &KernelFacts::has_open_loops)
      .def_readonly("float_bytes", &KernelFacts::float_bytes)
      .def_property_readonly("is_pure", &KernelFacts::is_pure);
}

void bind_bounds(py::module_& core) {
  using kernel::OutOfBounds;
  py::class_<OutOfBounds>(core, "OutOfBounds")
      .def_readonly("line", &OutOfBounds::line)
      .def_readonly("array", &OutOfBounds::array)
      .def_readonly("parameter", &OutOfBounds::parameter)
      .def_readonly("index", &OutOfBounds::index)
      .def_readonly("extent", &OutOfBounds::extent)
      .def_readonly("is_guarded", &OutOfBounds::is_guarded);
  py::class_<kernel::CheckInput>(core, "CheckInput")
      .def_property_readonly("extents",
                             [](const kernel::CheckInput& input) { return input.run.extents; })
      .def_property_readonly("rows",
                             [](const kernel::CheckInput& input) {
                               std::map<int, std::pair<std::vector<int>, int>> rows;
                               for (const auto& [at, row] : input.rows) {
                                 rows.emplace(at, std::pair(row.counts, row.dim));
                               }
                               return rows;
                             })
      .def_readonly("accesses", &kernel::CheckInput::accesses)
      .def("key", [](const kernel::CheckInput& input) {
        Canonical out;
        out.open("accesses");
        for (const auto& access : input.accesses) {
          out.number(access ? static_cast<int>(*access) : -1);
        }
        out.close().open("extents");
        for (const auto extent : input.run.extents) out.number(extent);
        out.close().open("uniform");
        for (const bool is_uniform : input.run.uniform) out.flag(is_uniform);
        out.close().open("constants");
        for (const auto& [name, value] : input.run.constants) out.text(name).number(value);
        for (const auto& [at, row] : input.rows) {
          out.number(at).number(row.dim);
          for (const int counts : row.counts) out.number(counts);
        }
        // types, in the order of their names
        for (const kernel::Variable& one : input.constants)
          out.number(static_cast<int>(one.type.base));
        return out.close().str();
      });
  py::class_<kernel::CheckSite>(core, "CheckSite")
      .def_property_readonly(
          "check",
          [](const kernel::CheckSite& site) {
            return std::string(kernel::check_names[static_cast<std::size_t>(site.check)]);
          })
      .def_readonly("line", &kernel::CheckSite::line)
      .def_readonly("name", &kernel::CheckSite::name)
      .def_readonly("parameter", &kernel::CheckSite::parameter)
      .def_readonly("extent", &kernel::CheckSite::extent);
  py::class_<kernel::CheckedBody>(core, "CheckedBody")
      .def_readonly("body", &kernel::CheckedBody::body)
      .def_readonly("entry", &kernel::CheckedBody::entry)
      .def_readonly("sites", &kernel::CheckedBody::sites)
      .def_property_readonly("line",
                             [](const kernel::CheckedBody& made) { return made.body.entry().line; })
      .def_readonly("has_bits", &kernel::CheckedBody::has_bits)
      .def_readonly("n_stored", &kernel::CheckedBody::n_stored);
  core.def("with_checks", &kernel::with_checks, py::arg("body"), py::arg("input"));
  core.def("with_suspicion", &kernel::with_suspicion, py::arg("body"), py::arg("input"));
  core.def("checked_kernel", &kernel::checked_kernel, py::arg("prelude"), py::arg("checked"),
           py::arg("shell"));
  core.def(
      "out_of_bounds",
      [](const kernel::KernelBody& body, const kernel::CheckInput& input) {
        return kernel::out_of_bounds(body, input.run);
      },
      py::arg("body"), py::arg("input"));
}

void bind_types(py::module_& core) {
  py::class_<Type>(core, "KernelType")
      .def_property_readonly(
          "base", [](const Type& type) { return std::string(kernel::name_of(type.base)); })
      .def_property_readonly("dtype", [](const Type& type) { return kernel::dtype_of(type.base); })
      .def_readonly("is_const", &Type::is_const)
      .def_property_readonly("depth", &Type::depth)
      .def_property_readonly(
          "scalar_text", [](const Type& type) { return std::string(kernel::c_name_of(type.base)); })
      .def("c_text", &c_text, py::arg("name"));

  py::class_<kernel::Parameter>(core, "KernelParameter")
      .def_readonly("name", &kernel::Parameter::name)
      .def_readonly("type", &kernel::Parameter::type)
      .def_readonly("line", &kernel::Parameter::line)
      .def("__repr__", [](const kernel::Parameter& parameter) {
        return c_text(parameter.type, parameter.name);
      });

  py::class_<kernel::KernelBody>(core, "KernelBody")
      .def(py::init(&kernel_body_from), py::arg("functions"), py::arg("tables"),
           py::arg("structures") = py::tuple(), py::arg("teams") = py::tuple())
      .def_property_readonly("parameters",
                             [](const kernel::KernelBody& body) { return body.entry().parameters; })
      .def(
          "equals",
          [](const kernel::KernelBody& body, const kernel::KernelBody& other) {
            return body == other;
          },
          py::arg("other"));
}

using ConstType = std::tuple<std::string, DType, std::int64_t>;

std::shared_ptr<kernel::Kernel> plain_kernel(const kernel::Kernel& given,
                                             const std::vector<ConstType>& constants,
                                             const std::optional<kernel::KernelObserver>& observe) {
  std::vector<kernel::Variable> typed;
  for (const auto& [name, dtype, dim] : constants) {
    const Type one = kernel::scalar(kernel::base_of(dtype));
    typed.push_back(
        {.name = name, .type = dim == 1 ? one : kernel::pointer_to(one), .value = {}, .line = 0});
  }
  std::optional<kernel::KernelBody> body =
      kernel::plain_in_c(given.body.value(), typed, observe.value_or(kernel::KernelObserver{}));
  if (!body) {
    throw UnsupportedError(
        fmt::format("kernel '{}': what a local would hold has an unknown type", given.name));
  }
  auto made = std::make_shared<kernel::Kernel>(given);
  made->body = kernel::infer_types(std::move(*body));
  made->key += "(plain)";
  return made;
}

}  // namespace

void bind_kernel(py::module_& core) {
  using kernel::Kernel;
  bind_types(core);
  bind_kernel_facts(core);
  bind_bounds(core);
  py::class_<kernel::Contraction>(core, "Contraction")
      .def_readonly("n_sums", &kernel::Contraction::n_sums)
      .def_readonly("before", &kernel::Contraction::before)
      .def_readonly("after", &kernel::Contraction::after);
  py::class_<Kernel, std::shared_ptr<Kernel>>(core, "Kernel")
      .def(py::init([](std::string name, std::string text, const py::object& parameters,
                       std::optional<kernel::KernelBody> body, std::string opaque_reason, bool cpp,
                       std::vector<std::string> headers, std::vector<std::string> include_dirs,
                       std::vector<std::string> options, std::vector<std::string> ldargs,
                       bool requires_zeroed_output_arguments, std::int64_t flop_count,
                       const std::vector<std::string>& tokens,
                       const std::vector<std::string>& header_contents, const std::string& abi,
                       bool contract) {
             auto kernel = std::make_shared<Kernel>();
             kernel->name = std::move(name);
             kernel->has_signature = !parameters.is_none();
             if (kernel->has_signature) kernel->parameters = parameters_from(parameters);
             kernel->body = std::move(body);
             std::optional<kernel::TeamForm> team;
             if (kernel->body) team = kernel::team_form_of_calls(*kernel->body);
             if (auto made =
                     contract && kernel->body ? kernel::contracted(*kernel->body) : std::nullopt) {
               if (!team) team = kernel::team_form(*kernel->body);
               kernel->body = std::move(made->body);
               kernel->contraction = made->done;
             }
             if (team) kernel->team = std::make_shared<const kernel::TeamForm>(std::move(*team));
             kernel->text = std::move(text);
             kernel->opaque_reason = std::move(opaque_reason);
             kernel->cpp = cpp;
             kernel->headers = std::move(headers);
             kernel->include_dirs = std::move(include_dirs);
             kernel->options = std::move(options);
             kernel->ldargs = std::move(ldargs);
             kernel->requires_zeroed_output_arguments = requires_zeroed_output_arguments;
             kernel->flop_count = flop_count;
             kernel->key = kernel::kernel_key(*kernel, tokens, header_contents, abi);
             return kernel;
           }),
           py::kw_only(), py::arg("name"), py::arg("text"), py::arg("parameters"), py::arg("body"),
           py::arg("opaque_reason"), py::arg("cpp"), py::arg("headers"), py::arg("include_dirs"),
           py::arg("options"), py::arg("ldargs"), py::arg("requires_zeroed_output_arguments"),
           py::arg("flop_count"), py::arg("tokens"), py::arg("header_contents"), py::arg("abi"),
           py::arg("contract") = false)
      .def_readonly("name", &Kernel::name)
      .def_readonly("text", &Kernel::text)
      .def_readonly("parameters", &Kernel::parameters)
      .def_readonly("has_signature", &Kernel::has_signature)
      .def_readonly("body", &Kernel::body)
      .def_readonly("opaque_reason", &Kernel::opaque_reason)
      .def_readonly("cpp", &Kernel::cpp)
      .def_readonly("headers", &Kernel::headers)
      .def_readonly("include_dirs", &Kernel::include_dirs)
      .def_readonly("options", &Kernel::options)
      .def_readonly("ldargs", &Kernel::ldargs)
      .def_readonly("requires_zeroed_output_arguments", &Kernel::requires_zeroed_output_arguments)
      .def_readonly("flop_count", &Kernel::flop_count)
      .def_readonly("contraction", &Kernel::contraction)
      .def_readonly("key", &Kernel::key);

  core.def("plain_kernel", &plain_kernel, py::arg("kernel"), py::arg("constants"),
           py::arg("observe") = py::none(),
           "A kernel with the plain form of the body, in which an expression has no effect.\n\n"
           "Args:\n    kernel: A kernel with a body.\n    constants: Name, type and number of "
           "values of each Const.\n    observe: Called with each pass' name and the body it "
           "leaves.\n\nRaises:\n    UnsupportedError: A new local would have an unknown type.");
  core.def(
      "is_known_function",
      [](const std::string& name) { return kernel::known_function(name) != nullptr; },
      py::arg("name"));
  core.def(
      "kernel_text",
      [](const Kernel& kernel, bool line_markers) {
        cg::Context context(cg::c_dialect());
        cg::print_kernel(context, kernel, {.line_markers = line_markers});
        return context.finish();
      },
      py::arg("kernel"), py::arg("line_markers"));
  core.def("overwrites", &kernel::overwrites, py::arg("kernel"), py::arg("parameter"), py::arg("n"),
           py::arg("access"));
  core.def("kernel_facts", py::overload_cast<const Kernel&>(&kernel::kernel_facts),
           py::return_value_policy::reference_internal, py::arg("kernel"),
           "Facts of a kernel that has a body, found once.");
}

}  // namespace op2::bind
