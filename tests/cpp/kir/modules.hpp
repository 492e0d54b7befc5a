// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "kir/nodes.hpp"

/// Modules made by hand, of one kind of statement each way.
namespace op2::kir::testing {

inline Parameter pointer(std::string name, DType dtype = DType::float64) {
  return {std::move(name), {dtype, false, true}, true, Role::data, 0};
}

/// One of every kind of statement; not a sensible program.
inline Module every_node() {
  auto kernel = std::make_shared<kernel::Kernel>();
  kernel->name = "res";
  const Rows rows{DType::float64, 2, 3, "x", MapRows{"x_map", name("n")}};
  Module module;
  module.kernels = {kernel};
  module.functions = {{"wrap_res",
                       {pointer("x"), {"x_map", {DType::int32, true, true}, true, Role::map, 0}},
                       {{For{Axis::serial,
                             "n",
                             name("begin"),
                             name("end"),
                             {{Decl{{DType::float64}, "pack", 6, {}}},
                              {Gather{"pack", rows}},
                              {CallUser{{name("pack"), offset("x", name("n"))}}},
                              {Scatter{"pack", rows, Update::add, Sync::atomic}},
                              {Scatter{"pack", rows, Update::set, Sync::none}}}}}}}};
  module.launch_name = "op2_launch_res";
  module.argv = module.functions.front().parameters;
  module.launch = {
      {Decl{{DType::int64, true, false}, "half", 0, {name("end") / integer(2)}}},
      {Decl{{DType::float64, false, true}, "sums", 0, {scratch_at(integer(64))}}},
      {Region{{{For{
          Axis::thread,
          "slot",
          integer(0),
          builtin(Builtin::n_threads),
          {{Call{"wrap_res",
                 {minimum(name("slot"), name("half")), name("end"), name("x"), name("x_map")}}},
           {If{less(name("slot"), select(name("x"), integer(1), name("half"))),
               {{Assign{element("sums", integer(0)), Update::max, integer(3)}},
                {Atomic{DType::float64, element("sums", integer(1)), Update::min,
                        element("x", name("slot"))}}}}}}}}}}}};
  return module;
}

/// A loop on a grid: two launches and memory between them.
inline Module on_grid() {
  Module module;
  module.kernels = {std::make_shared<kernel::Kernel>()};
  const Parameter end{"end", {DType::int64}, false, Role::local, 0};
  module.functions = {
      {"wrap",
       {pointer("x"), pointer("sums"), end},
       {{For{Axis::grid, "n", integer(0), name("end"), {{CallUser{{offset("x", name("n"))}}}}}},
        {Decl{{DType::float64}, "shared", 32, {}, Storage::block}},
        {For{Axis::lane, "k", integer(0), builtin(Builtin::n_lanes), {}}},
        {Barrier{}},
        {If{equal(builtin(Builtin::lane_id) % integer(4), integer(0)),
            {{Assign{element("sums", builtin(Builtin::block_id)), Update::set,
                     shuffle(element("x", name("end")), integer(1), 4)}}}}},
        {For{Axis::block, "block", integer(0), builtin(Builtin::n_blocks), {}}}},
       true,
       256},
      {"finish", {pointer("sums")}, {}, true}};
  module.launch_name = "op2_launch_res";
  module.argv = {pointer("x")};
  module.launch = {
      {Scratch{DType::float64, "sums", blocks_for(name("end"))}},
      {Launch{"wrap", Grid::items, name("end"), {name("x"), name("sums"), name("end")}}},
      {Launch{"finish", Grid::single, integer(1), {name("sums")}}}};
  return module;
}

}  // namespace op2::kir::testing
