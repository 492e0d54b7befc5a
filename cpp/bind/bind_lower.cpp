// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bind/bind.hpp"
#include "cg/context.hpp"
#include "cg/kernel_printer.hpp"
#include "cg/lane_calls.hpp"
#include "cg/module_printer.hpp"
#include "cg/needs.hpp"
#include "cg/source.hpp"
#include "ir/fields.hpp"
#include "ir/group.hpp"
#include "ir/loop.hpp"
#include "ir/loop_input.hpp"
#include "ir/signature.hpp"
#include "kernel/lane_functions.hpp"
#include "kernel/plain.hpp"
#include "kernel/unique_names.hpp"
#include "kir/dump.hpp"
#include "lower/candidates.hpp"
#include "lower/corners.hpp"
#include "lower/entries.hpp"
#include "lower/incidence.hpp"
#include "lower/invert_by_slot.hpp"
#include "lower/lanes_rule.hpp"
#include "lower/lower.hpp"
#include "lower/pairs.hpp"
#include "lower/ragged.hpp"
#include "mesh/map_table.hpp"
#include "plan/widths.hpp"

namespace op2::bind {
namespace {

using lower::Facts;
using lower::Options;

using Stages = std::vector<std::pair<std::string, std::string>>;

std::shared_ptr<kir::Module> lower_loop(const ir::Loop& loop, const std::string& strategy,
                                        const Facts& facts, const std::vector<MapFacts>& maps,
                                        const Options& options) {
  const lower::Request request{loop, lower::strategy_from_name(strategy), facts, maps, options};
  const auto look_away = [](lower::Stage /*stage*/, const kir::Module& /*module*/) {};
  return std::make_shared<kir::Module>(lower::lower(request, look_away));
}

/// A dump of the module after each pass that runs, in their order.
Stages stages_of(const ir::Loop& loop, const std::string& strategy, const Facts& facts,
                 const std::vector<MapFacts>& maps, const Options& options) {
  Stages stages;
  const lower::Request request{loop, lower::strategy_from_name(strategy), facts, maps, options};
  const auto observe = [&stages](lower::Stage stage, const kir::Module& module) {
    const auto index = static_cast<std::size_t>(stage);
    stages.emplace_back(lower::stage_names[index], kir::dump(module));
  };
  (void)lower::lower(request, observe);
  return stages;
}

/// Each member's kernel, first as the user wrote it, then after each pass that makes it plain.
Stages kernel_stages_of(const ir::Loop& loop) {
  Stages stages;
  for (std::size_t i = 0; i < loop.members.size(); ++i) {
    kernel::Kernel shown = *loop.members[i].kernel;
    if (!shown.body) continue;
    const auto add = [&](std::string_view pass, const kernel::KernelBody& body) {
      shown.body = kernel::spelled(body);
      cg::Context context(cg::c_dialect());
      cg::print_kernel(context, shown);
      stages.emplace_back(fmt::format("kernel_{}", pass), context.finish());
    };
    const kernel::KernelBody body = *shown.body;
    add("parsed", body);
    (void)kernel::plain(body, ir::const_variables(loop, i), add);
  }
  return stages;
}

std::vector<std::string> prototypes(const kir::Module& module, const cg::Dialect& dialect) {
  std::vector<std::string> out;
  for (const kir::Function& function : module.functions) {
    out.push_back(cg::prototype(dialect, function));
  }
  return out;
}

void bind_loop(py::module_& core) {
  py::class_<ir::Alias>(core, "Alias")
      .def(py::init<int, int>(), py::arg("data"), py::arg("memory"))
      .def_readonly("data", &ir::Alias::data);
  py::class_<ir::DirectDat>(core, "DirectDat")
      .def(py::init<DType, int, Access, ir::Alias, int, int, std::optional<DType>>(),
           py::arg("dtype"), py::arg("dim"), py::arg("access"), py::arg("alias"), py::arg("stride"),
           py::arg("component"), py::arg("stored"));
  py::class_<ir::IndirectDat>(core, "IndirectDat")
      .def(py::init<DType, int, Access, int, ir::Alias, int, int, std::optional<DType>>(),
           py::arg("dtype"), py::arg("dim"), py::arg("access"), py::arg("map"), py::arg("alias"),
           py::arg("stride"), py::arg("component"), py::arg("stored"));
  py::class_<ir::GlobalRead>(core, "GlobalRead")
      .def(py::init<DType, int, ir::Alias>(), py::arg("dtype"), py::arg("dim"), py::arg("alias"));
  py::class_<ir::GlobalReduce>(core, "GlobalReduce")
      .def(py::init<DType, int, Access, ir::Alias>(), py::arg("dtype"), py::arg("dim"),
           py::arg("access"), py::arg("alias"));
  py::class_<ir::MatArg>(core, "MatArg")
      .def(py::init<DType, int, int, Access, int, int, bool, bool, ir::Alias, bool,
                    std::optional<DType>>(),
           py::arg("dtype"), py::arg("row_dim"), py::arg("col_dim"), py::arg("access"),
           py::arg("row_map"), py::arg("col_map"), py::arg("masked"), py::arg("unrolled"),
           py::arg("alias"), py::arg("by_columns"), py::arg("stored"));
  py::class_<ir::RowRef>(core, "RowRef")
      .def(py::init<int, int, int, int>(), py::arg("slot"), py::arg("offset"), py::arg("quotient"),
           py::arg("above"));
  py::class_<ir::MapRef>(core, "MapRef")
      .def(py::init<int, int, int, std::vector<ir::RowRef>, bool>(), py::arg("arity"),
           py::arg("toset"), py::arg("width"), py::arg("rows"), py::arg("ragged") = false)
      .def_readonly("arity", &ir::MapRef::arity);
  py::class_<ir::Iteration>(core, "Iteration")
      .def(py::init([](bool subset, bool extruded, bool constant_layers, bool periodic,
                       bool pass_layer, int index_bytes) {
             const ir::Layers layers =
                 constant_layers ? ir::Layers::constant : ir::Layers::variable;
             return ir::Iteration{subset,      extruded ? layers : ir::Layers::none,
                                  periodic,    pass_layer,
                                  index_bytes, false};
           }),
           py::arg("subset"), py::arg("extruded"), py::arg("constant_layers"), py::arg("periodic"),
           py::arg("pass_layer"), py::arg("index_bytes"))
      .def("with_element", [](ir::Iteration iteration) {
        iteration.pass_element = true;
        return iteration;
      });
  py::class_<ir::ConstRef>(core, "ConstRef")
      .def(py::init<std::string, DType, int>(), py::arg("name"), py::arg("dtype"), py::arg("dim"));
  py::class_<ir::Place>(core, "Place")
      .def(py::init<int, int, int, int>(), py::arg("row"), py::arg("column"), py::arg("n_columns"),
           py::arg("width"));
  py::class_<ir::Operand>(core, "Operand")
      .def(py::init([](ir::Arg arg, int parameter, std::optional<ir::Place> place) {
             return ir::Operand{std::move(arg), parameter, place};
           }),
           py::arg("arg"), py::arg("parameter"), py::arg("place"));
  py::class_<ir::Loop, std::shared_ptr<ir::Loop>>(core, "Loop")
      .def(py::init([](std::shared_ptr<kernel::Kernel> kernel, std::vector<ir::Operand> args,
                       std::vector<ir::MapRef> maps, std::vector<ir::ConstRef> constants,
                       ir::Iteration iteration, int set) {
             auto loop = std::make_shared<ir::Loop>(ir::Loop{{{std::move(kernel)}},
                                                             std::move(args),
                                                             std::move(maps),
                                                             std::move(constants),
                                                             iteration,
                                                             set});
             ir::verify(*loop);
             return loop;
           }),
           py::arg("kernel"), py::arg("args"), py::arg("maps"), py::arg("constants"),
           py::arg("iteration"), py::arg("set"))
      .def_readonly("maps", &ir::Loop::maps)
      .def_readonly("iteration", &ir::Loop::iteration)
      .def("signature", &ir::signature)
      .def("fields", &ir::fields)
      .def("dump", [](const ir::Loop& loop) { return ir::dump(loop); })
      .def("n_slots", &lower::n_slots)
      .def_property_readonly("has_matrices",
                             [](const ir::Loop& loop) {
                               return std::ranges::any_of(loop.args, [](const ir::Arg& arg) {
                                 return std::holds_alternative<ir::MatArg>(arg);
                               });
                             })
      .def(
          "check_input",
          [](const ir::Loop& loop, const std::map<int, std::int64_t>& extents,
             const std::map<int, std::pair<std::vector<int>, int>>& rows) {
            std::map<int, kernel::RowCount> counts;
            for (const auto& [at, row] : rows) {
              counts.emplace(at, kernel::RowCount{row.first, row.second});
            }
            return ir::check_input(loop, extents, counts);
          },
          py::arg("extents") = std::map<int, std::int64_t>(),
          py::arg("rows") = std::map<int, std::pair<std::vector<int>, int>>())
      .def("kernel_stages", &kernel_stages_of,
           "Names and texts of what the kernel is, as parsed and after each pass over the tree.");
}

void bind_options(py::module_& core) {
  py::enum_<lower::Lanes>(core, "Lanes")
      .value("one", lower::Lanes::one)
      .value("threads", lower::Lanes::threads)
      .value("grid", lower::Lanes::grid);
  py::class_<Facts>(core, "Facts")
      .def(py::init([](lower::Lanes lanes, bool atomics, int warp, bool one_address_space,
                       bool complex_arithmetic, bool float64, bool fences, bool fetches,
                       bool any_kernel, bool rows_in_place, bool const_optional) {
             return Facts{.lanes = lanes,
                          .atomics = atomics,
                          .warp = warp,
                          .one_address_space = one_address_space,
                          .complex_arithmetic = complex_arithmetic,
                          .float64 = float64,
                          .fetches = fetches,
                          .fences = fences,
                          .any_kernel = any_kernel,
                          .rows_in_place = rows_in_place,
                          .const_optional = const_optional};
           }),
           py::kw_only(), py::arg("lanes"), py::arg("atomics"), py::arg("warp"),
           py::arg("one_address_space"), py::arg("complex_arithmetic"), py::arg("float64"),
           py::arg("fences"), py::arg("fetches") = false, py::arg("any_kernel") = false,
           py::arg("rows_in_place") = false, py::arg("const_optional") = false)
      .def("on", &Facts::on, py::kw_only(), py::arg("is_processor"), py::arg("has_float64"),
           py::arg("device_warp") = 0, py::arg("device_shared_bytes") = 0)
      .def("equals", [](const Facts& one, const Facts& other) { return one == other; })
      .def_readonly("lanes", &Facts::lanes)
      .def_property_readonly(
          "threads", [](const Facts& facts) { return facts.lanes == lower::Lanes::threads; })
      .def_readonly("warp", &Facts::warp)
      .def_readonly("complex_arithmetic", &Facts::complex_arithmetic)
      .def_readonly("float64", &Facts::float64)
      .def_readonly("vectors_in_lane", &Facts::vectors_in_lane)
      .def_property_readonly("device_class", [](const Facts& facts) {
        return std::string(device_class_names[static_cast<std::size_t>(lower::class_of(facts))]);
      });
  py::class_<lower::Semantics>(core, "Semantics")
      .def(py::init([](bool deterministic, bool debug, const std::string& elementary,
                       int convention, bool by_element) {
             const auto* const found = std::ranges::find(kernel::elementary_names, elementary);
             if (found == std::end(kernel::elementary_names)) {
               throw UsageError(fmt::format("no functions of vectors are called '{}'", elementary));
             }
             const auto from =
                 static_cast<kernel::Elementary>(found - std::begin(kernel::elementary_names));
             return lower::Semantics{deterministic, debug, from, convention, by_element};
           }),
           py::kw_only(), py::arg("deterministic"), py::arg("debug"), py::arg("elementary"),
           py::arg("convention"), py::arg("by_element") = false)
      .def_readonly("deterministic", &lower::Semantics::deterministic)
      .def_readonly("by_element", &lower::Semantics::by_element)
      .def_property_readonly("elementary", [](const lower::Semantics& semantics) {
        return std::string(
            kernel::elementary_names[static_cast<std::size_t>(semantics.elementary)]);
      });
  py::class_<lower::Widths>(core, "Widths")
      .def_readonly("position_bytes", &lower::Widths::position_bytes)
      .def_readonly("padded", &lower::Widths::padded)
      .def_readonly("summed", &lower::Widths::summed)
      .def_readonly("scattered", &lower::Widths::scattered)
      .def_readonly("gathered", &lower::Widths::gathered)
      .def_readonly("index_bytes", &lower::Widths::index_bytes);
  py::class_<Options>(core, "LoweringOptions")
      .def(py::init([](const lower::Semantics& semantics, const lower::Widths& widths,
                       const Tuning& tuning) {
             return Options{.semantics = semantics, .widths = widths, .tuning = tuning};
           }),
           py::kw_only(), py::arg("semantics"), py::arg("widths"), py::arg("tuning"))
      .def_readonly("semantics", &Options::semantics)
      .def_readonly("widths", &Options::widths)
      .def_readonly("lanes", &Options::lanes)
      .def_readwrite("by_slot", &Options::by_slot)
      .def_readwrite("by_pairs", &Options::by_pairs)
      .def_property(
          "corners",
          [](const Options& options) {
            std::vector<std::pair<int, int>> found;
            for (const auto& maps : options.corners) {
              found.emplace_back(maps.of_elements, maps.of_targets);
            }
            return found;
          },
          [](Options& options, const std::vector<std::pair<int, int>>& given) {
            options.corners.clear();
            for (const auto& [of_elements, of_targets] : given) {
              options.corners.push_back({of_elements, of_targets});
            }
          })
      .def_readonly("tuning", &Options::tuning)
      .def(
          "tuned",
          [](Options options, const Tuning& tuning) {
            options.tuning = tuning;
            return options;
          },
          py::arg("tuning"))
      .def(
          "on_lanes",
          [](Options options, int lanes, int gather_bytes) {
            options.lanes = lanes;
            options.gather_bytes = lanes > 0 ? gather_bytes : 0;
            return options;
          },
          py::arg("lanes"), py::arg("gather_bytes"))
      .def(
          "placed",
          [](Options options, int bytes) {
            options.widths.position_bytes = bytes;
            return options;
          },
          py::arg("position_bytes"))
      .def("for_any_mesh",
           [](Options options) {
             options.widths.padded = false;
             options.widths.columns = 0;
             options.widths.summed = options.widths.scattered = options.widths.gathered = false;
             options.widths.index_bytes = 8;
             return options;
           })
      .def("ungathered",
           [](Options options) {
             options.widths.gathered = false;
             return options;
           })
      .def(
          "summing",
          [](Options options, bool in_blocks) {
            options.widths.summed = options.widths.scattered = in_blocks;
            return options;
          },
          py::arg("in_blocks"))
      .def_readonly("gather_bytes", &Options::gather_bytes);
  py::class_<lower::LaneRule>(core, "LaneRule")
      .def_readonly("least_operations", &lower::LaneRule::least_operations)
      .def_readonly("least_operations_a_scalar", &lower::LaneRule::least_operations_a_scalar);
  py::class_<lower::LaneWork>(core, "LaneWork")
      .def_readonly("n_operations", &lower::LaneWork::n_operations)
      .def_readonly("n_slow", &lower::LaneWork::n_slow)
      .def_readonly("n_calls", &lower::LaneWork::n_calls)
      .def_readonly("n_in_rows", &lower::LaneWork::n_in_rows)
      .def_readonly("n_scalars", &lower::LaneWork::n_scalars)
      .def_readonly("widest", &lower::LaneWork::widest);
}

/// The rules about meshes need plans, and are about what is lowered.
void bind_widths(py::module_& core) {
  using plan::LoopSizes;
  using plan::SizedArgument;
  using plan::SizedMap;
  using Long = std::int64_t;
  py::class_<SizedMap>(core, "SizedMap")
      .def(py::init<Long, std::shared_ptr<mesh::MapTable>, Long, int, int, std::vector<int>>(),
           py::arg("id"), py::arg("table").none(true), py::arg("n_targets"), py::arg("arity"),
           py::arg("index_bytes"), py::arg("slots"));
  py::class_<SizedArgument>(core, "SizedArgument")
      .def(py::init<Long, Access, int, int, int, Long, Long, Long, Long, Long, Long, int, bool>(),
           py::kw_only(), py::arg("data"), py::arg("access"), py::arg("map"), py::arg("columns"),
           py::arg("target"), py::arg("n_scalars"), py::arg("n_rows"), py::arg("row_scalars"),
           py::arg("row_bytes"), py::arg("matrix_bytes"), py::arg("matrix_scalars"),
           py::arg("position_bytes"), py::arg("is_soa"));
  py::class_<LoopSizes>(core, "LoopSizes")
      .def(py::init<Long, Long, Long, bool, int, std::vector<SizedMap>,
                    std::vector<SizedArgument>>(),
           py::kw_only(), py::arg("n_items"), py::arg("n_entities"), py::arg("n_whole"),
           py::arg("is_whole"), py::arg("n_slots"), py::arg("maps"), py::arg("arguments"))
      .def_property_readonly("entry_bytes", &plan::entry_bytes);
  core.def("widths_of", &plan::widths_of, py::kw_only(), py::arg("whole"), py::arg("members"),
           py::arg("facts"), py::arg("tuning"), py::arg("plans"), py::arg("n_threads"),
           py::call_guard<py::gil_scoped_release>());
  core.def("is_evenly_covered", &plan::is_evenly_covered, py::arg("loop"), py::kw_only(),
           py::arg("most_padding"), py::arg("plans"), py::arg("n_threads"),
           py::call_guard<py::gil_scoped_release>());
  core.def("useful_bytes", &plan::useful_bytes, py::arg("members"), py::kw_only(),
           py::arg("zeroed") = std::set<Long>(), py::arg("dropped") = std::set<Long>());
}

}  // namespace

void bind_lower(py::module_& core) {
  bind_loop(core);
  bind_options(core);
  bind_widths(core);
  core.attr("VISITED_ALONE") = ir::visited_alone;
  core.attr("PASSES") = py::cast(
      std::vector<std::string>(std::begin(lower::stage_names), std::end(lower::stage_names)));
  core.def(
      "usual_tuning", [](const Facts& facts) { return Tuning::of(lower::class_of(facts)); },
      py::arg("facts"));
  core.attr("STRATEGIES") = py::cast(
      std::vector<std::string>(std::begin(lower::strategy_names), std::end(lower::strategy_names)));
  core.def(
      "choose_strategy",
      [](const ir::Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
         const Options& options) {
        const lower::Choice choice = lower::choose(loop, facts, maps, options);
        return std::pair(std::string(name_of(choice.strategy)), choice.why);
      },
      py::arg("loop"), py::arg("facts"), py::arg("maps"), py::arg("options"));
  py::class_<lower::Candidate>(core, "Candidate")
      .def_property_readonly(
          "strategy",
          [](const lower::Candidate& one) { return std::string(name_of(one.strategy)); })
      .def_readonly("is_possible", &lower::Candidate::is_possible)
      .def_readonly("why", &lower::Candidate::why)
      .def_property_readonly("bytes", [](const lower::Candidate& one) { return one.cost.bytes; })
      .def_property_readonly("operations",
                             [](const lower::Candidate& one) { return one.cost.operations; });
  py::class_<lower::CornerCandidate>(core, "CornerCandidate")
      .def_property_readonly("of_elements",
                             [](const lower::CornerCandidate& one) { return one.maps.of_elements; })
      .def_property_readonly("of_targets",
                             [](const lower::CornerCandidate& one) { return one.maps.of_targets; })
      .def_readonly("why_not", &lower::CornerCandidate::why_not);
  core.def(
      "corner_candidates",
      [](const std::string& strategy, const ir::Loop& loop, const Facts& facts,
         const std::vector<MapFacts>& maps, const Options& options) {
        return lower::corner_candidates(
            {loop, lower::strategy_from_name(strategy), facts, maps, options});
      },
      py::arg("strategy"), py::arg("loop"), py::arg("facts"), py::arg("maps"), py::arg("options"));
  core.def("candidates", &lower::candidates, py::arg("loop"), py::arg("facts"), py::arg("maps"),
           py::arg("options"));
  core.def(
      "force_strategy",
      [](const std::string& strategy, const ir::Loop& loop, const Facts& facts,
         const std::vector<MapFacts>& maps, const Options& options) {
        const lower::Choice choice =
            lower::force(lower::strategy_from_name(strategy), loop, facts, maps, options);
        return std::pair(std::string(name_of(choice.strategy)), choice.why);
      },
      py::arg("strategy"), py::arg("loop"), py::arg("facts"), py::arg("maps"), py::arg("options"));
  core.def(
      "visits_pairs_on_lanes",
      [](const ir::Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
         const Options& options) {
        const ir::Group group = ir::inverted(loop);
        return lower::visits_pairs_on_lanes({group, lower::Strategy::owner, facts, maps, options});
      },
      py::arg("loop"), py::arg("facts"), py::arg("maps"), py::arg("options"));
  core.def(
      "choose_lanes",
      [](std::optional<int> forced, int vector_bytes, int gather_bytes, const std::string& strategy,
         const ir::Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
         Options options) {
        const lower::LaneChoice choice =
            lower::choose_lanes({loop, lower::strategy_from_name(strategy), facts, maps, options},
                                forced, vector_bytes);
        options.lanes = choice.lanes;
        options.gather_bytes = choice.lanes > 0 ? gather_bytes : 0;
        return std::pair(options, choice.why);
      },
      py::arg("forced"), py::arg("vector_bytes"), py::arg("gather_bytes"), py::arg("strategy"),
      py::arg("loop"), py::arg("facts"), py::arg("maps"), py::arg("options"));
  core.attr("MOST_RAGGED") = most_ragged;
  core.def("packed_ragged", &lower::packed_ragged, py::arg("loop"), py::arg("maps"),
           py::arg("options"),
           "Arguments through ragged Maps with a pack, whose rows are at most MOST_RAGGED.");
  core.def(
      "why_not_on_lanes",
      [](int lanes, const std::string& strategy, const ir::Loop& loop, const Facts& facts,
         const std::vector<MapFacts>& maps, Options options) {
        options.lanes = lanes;
        return lower::why_not_on_lanes(
            {loop, lower::strategy_from_name(strategy), facts, maps, options});
      },
      py::arg("lanes"), py::arg("strategy"), py::arg("loop"), py::arg("facts"), py::arg("maps"),
      py::arg("options"));
  core.def(
      "lane_rule",
      [](const std::string& strategy, const ir::Loop& loop, const Facts& facts,
         const Options& options) {
        return lower::lane_rule({loop, lower::strategy_from_name(strategy), facts, {}, options});
      },
      py::arg("strategy"), py::arg("loop"), py::arg("facts"), py::arg("options"));
  core.def("least_fill", &lower::least_fill, py::arg("loop"), py::arg("tuning"));
  core.def("lane_work", &lower::lane_work, py::arg("loop"), py::arg("tuning"));
  core.def(
      "sums_targets",
      [](const ir::Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
         const Options& options) { return lower::sums_targets(loop, facts, maps, options).ok; },
      py::arg("loop"), py::arg("facts"), py::arg("maps"), py::arg("options"));
  core.def(
      "lowering_key",
      [](const std::string& strategy, const Facts& facts, const std::vector<MapFacts>& maps,
         const Options& options) {
        return lower::key_of(lower::strategy_from_name(strategy), facts, maps, options);
      },
      py::arg("strategy"), py::arg("facts"), py::arg("maps"), py::arg("options"));
  py::class_<kir::Module, std::shared_ptr<kir::Module>>(core, "Module")
      .def_readonly("launch_name", &kir::Module::launch_name);
  core.def("lower", &lower_loop, py::arg("loop"), py::arg("strategy"), py::arg("facts"),
           py::arg("maps"), py::arg("options"));
  core.def("stages_of", &stages_of, py::arg("loop"), py::arg("strategy"), py::arg("facts"),
           py::arg("maps"), py::arg("options"));
  py::class_<cg::Sections>(core, "Sections")
      .def_readonly("kernels", &cg::Sections::kernels)
      .def_readonly("wrappers", &cg::Sections::wrappers)
      .def_readonly("launch", &cg::Sections::launch);
  core.def(
      "elementary_sources",
      [](const kernel::Kernel& kernel, const Options& options) {
        std::vector<std::tuple<std::string, std::string, int, int, bool>> out;
        if (!kernel.body) return out;
        for (const cg::ElementarySource& one :
             cg::elementary_sources(*kernel.body, options.lanes, options.semantics.elementary)) {
          out.emplace_back(one.name, one.symbol, one.minor, one.bytes, one.has_text);
        }
        return out;
      },
      py::arg("kernel"), py::arg("options"),
      "Elementary functions that a kernel calls: name, symbol of glibc, 2.minor, bytes of its "
      "vectors, whether there is a text.");
  core.def("print_source", &cg::print_source, py::arg("module"), py::arg("dialect"),
           py::arg("line_markers"), py::arg("linkage"));
  core.def("local_names", [] {
    const auto names = kir::local_names();
    return std::vector<std::string>(names.begin(), names.end());
  });
  core.def("needs", &cg::needs, py::arg("module"));
  core.def("prototypes", &prototypes, py::arg("module"), py::arg("dialect"));
}

}  // namespace op2::bind
