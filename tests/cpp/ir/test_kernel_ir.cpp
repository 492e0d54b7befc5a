// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_ir.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace op2::kir {
namespace {

Parameter pointer(std::string name, DType dtype = DType::float64) {
  return {std::move(name), {dtype, false, true}, true, Role::data, 0};
}

/// One of every kind of statement; not a sensible program.
Module every_node() {
  auto kernel = std::make_shared<ir::Kernel>();
  kernel->name = "res";
  const Rows rows{DType::float64, 2, 3, "x", "x_map", name("n")};
  Module module;
  module.kernel = kernel;
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
                {Atomic{DType::int32, element("sums", integer(1)), Update::min,
                        equal(name("slot"), integer(2))}}}}}}}}}}}};
  return module;
}

std::string failure_of(const std::function<void(Module&)>& damage) {
  Module module = every_node();
  damage(module);
  try {
    verify(module);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(ExprFolding, AdditionOfZero) {
  EXPECT_EQ(integer(0) + name("a"), name("a"));
  EXPECT_EQ(name("a") + integer(0), name("a"));
  EXPECT_EQ(name("a") - integer(0), name("a"));
  EXPECT_EQ(dump(integer(0) - name("a")), "(0 - a)");
}

TEST(ExprFolding, MultiplicationByZeroAndOne) {
  EXPECT_EQ(integer(0) * name("a"), integer(0));
  EXPECT_EQ(name("a") * integer(0), integer(0));
  EXPECT_EQ(integer(1) * name("a"), name("a"));
  EXPECT_EQ(name("a") * integer(1), name("a"));
  EXPECT_EQ(name("a") / integer(1), name("a"));
  EXPECT_EQ(dump(name("a") * integer(2)), "(a * 2)");
}

TEST(ExprFolding, ConstantsAreAddedButNotDivided) {
  EXPECT_EQ(integer(2) + integer(3), integer(5));
  EXPECT_EQ(dump(integer(1) / name("a")), "(1 / a)");
}

TEST(ExprFolding, TheAddressOfTheFirstEntryIsTheArray) {
  EXPECT_EQ(offset("x", integer(0)), name("x"));
  EXPECT_EQ(offset("x", name("n") * integer(0)), name("x"));
  EXPECT_EQ(dump(offset("x", integer(1))), "&x[1]");
}

TEST(ModuleVerify, AcceptsASoundModule) {
  EXPECT_EQ(failure_of([](Module&) {}), "");
}

TEST(ModuleVerify, NeedsAKernel) {
  EXPECT_EQ(failure_of([](Module& module) { module.kernel = nullptr; }), "module without a kernel");
}

TEST(ModuleVerify, FindsCallsThatFitNoFunction) {
  const auto call_in_launch = [](Call call) {
    return failure_of([&call](Module& module) { module.launch.push_back({call}); });
  };
  EXPECT_EQ(call_in_launch({"wrap_other", {}}), "call of unknown function 'wrap_other'");
  EXPECT_EQ(call_in_launch({"wrap_res", {name("begin"), name("end"), name("x")}}),
            "call of 'wrap_res' with 3 arguments, expected 4");
  EXPECT_EQ(call_in_launch({"wrap_res",
                            {name("begin"), name("end"), name("x"), name("x_map"), name("x_map")}}),
            "call of 'wrap_res' with 5 arguments, expected 4");
}

TEST(ModuleVerify, LooksIntoNestedStatements) {
  const std::string unknown = "call of unknown function 'gone'";
  const Stmt call{Call{"gone", {}}};
  EXPECT_EQ(failure_of([&call](Module& module) { module.launch.push_back({Region{{call}}}); }),
            unknown);
  EXPECT_EQ(failure_of([&call](Module& module) {
              module.launch.push_back({If{less(name("begin"), name("end")), {call}}});
            }),
            unknown);
  EXPECT_EQ(failure_of([&call](Module& module) {
              module.functions[0].body = {{For{Axis::serial, "n", integer(0), integer(1), {call}}}};
            }),
            unknown);
}

TEST(ModuleVerify, FindsNamesGivenTwice) {
  EXPECT_EQ(failure_of([](Module& module) { module.functions[0].parameters[1].name = "x"; }),
            "wrap_res: parameter 'x' twice");
  EXPECT_EQ(failure_of([](Module& module) { module.argv[0].name = "x_map"; }),
            "op2_launch_res: parameter 'x_map' twice");
}

TEST(ModuleVerify, FindsAFunctionGivenTwice) {
  EXPECT_NE(failure_of([](Module& module) { module.functions.push_back(module.functions[0]); }),
            "");
}

TEST(IsExpanded, NamesWhatDialectsDoNotPrint) {
  const Rows rows{DType::float64, 1, 1, "x", "m", name("n")};
  const auto is_expanded_with = [](Stmt stmt) {
    Module module;
    module.launch = {{Region{{{If{name("x"), {std::move(stmt)}}}}}}};
    return is_expanded(module);
  };
  EXPECT_FALSE(is_expanded_with({Gather{"pack", rows}}));
  EXPECT_FALSE(is_expanded_with({Scatter{"pack", rows, Update::add, Sync::none}}));
  EXPECT_FALSE(is_expanded_with({Assign{name("a"), Update::min, name("b")}}));
  EXPECT_FALSE(is_expanded_with({Assign{name("a"), Update::max, name("b")}}));
  EXPECT_TRUE(is_expanded_with({Assign{name("a"), Update::set, name("b")}}));
  EXPECT_TRUE(is_expanded_with({Assign{name("a"), Update::add, name("b")}}));
  EXPECT_TRUE(is_expanded_with({Atomic{DType::float64, name("a"), Update::min, name("b")}}));
  EXPECT_FALSE(is_expanded(every_node()));
}

TEST(IsExpanded, LooksIntoFunctions) {
  Module module;
  module.functions = {{"f", {}, {{Assign{name("a"), Update::min, name("b")}}}}};
  EXPECT_FALSE(is_expanded(module));
}

TEST(Dump, ShowsEveryNode) {
  EXPECT_EQ(dump(every_node()),
            "function wrap_res(float64* x, const int32* x_map)\n"
            "  for serial n in [begin, end)\n"
            "    decl float64 pack[6]\n"
            "    gather pack = float64 x[x_map[n] x3] x2\n"
            "    kernel(pack, &x[n])\n"
            "    scatter atomic float64 x[x_map[n] x3] x2 += pack\n"
            "    scatter float64 x[x_map[n] x3] x2 = pack\n"
            "launch op2_launch_res(float64* x, const int32* x_map)\n"
            "  decl const int64 half = (end / 2)\n"
            "  decl float64* sums = @scratch[64]\n"
            "  region\n"
            "    for thread slot in [0, @threads)\n"
            "      call wrap_res(min(slot, half), end, x, x_map)\n"
            "      if (slot < select(x, 1, half))\n"
            "        sums[0] max= 3\n"
            "        atomic sums[1] min= (slot == 2)\n");
}

/// A loop on a grid: two launches and memory between them.
Module on_grid() {
  Module module;
  module.kernel = std::make_shared<ir::Kernel>();
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
                     shuffle(name("end"), integer(1), 4)}}}}},
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

std::string grid_failure_of(const std::function<void(Module&)>& damage) {
  Module module = on_grid();
  damage(module);
  try {
    verify(module);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(GridModule, Dump) {
  EXPECT_EQ(dump(on_grid()),
            "kernel wrap(float64* x, float64* sums, int64 end)\n"
            "  for grid n in [0, end)\n"
            "    kernel(&x[n])\n"
            "  decl shared float64 shared[32]\n"
            "  for lane k in [0, @lanes)\n"
            "  barrier\n"
            "  if ((@lane % 4) == 0)\n"
            "    sums[@block] = shuffle4(end, 1)\n"
            "  for block block in [0, @blocks)\n"
            "kernel finish(float64* sums)\n"
            "launch op2_launch_res(float64* x)\n"
            "  scratch float64 sums[@blocks_for(end)]\n"
            "  launch wrap over end items (x, sums, end)\n"
            "  launch finish over 1 single (sums)\n");
}

TEST(GridModule, IsSound) {
  EXPECT_EQ(grid_failure_of([](Module&) {}), "");
  EXPECT_TRUE(has_kernels(on_grid()));
  EXPECT_FALSE(has_kernels(every_node()));
}

TEST(GridModule, LaunchesFitTheirFunctions) {
  const auto with_launch = [](Launch launch) {
    return grid_failure_of([&launch](Module& module) { module.launch.push_back({launch}); });
  };
  EXPECT_EQ(with_launch({"gone", Grid::single, integer(1), {}}), "call of unknown function 'gone'");
  EXPECT_EQ(with_launch({"finish", Grid::single, integer(1), {}}),
            "call of 'finish' with 0 arguments, expected 1");
  EXPECT_EQ(with_launch({"finish", Grid::single, integer(1), {offset("x", integer(1))}}),
            "launch of 'finish': '&x[1]' for pointer 'sums' is not a name");
  EXPECT_EQ(grid_failure_of([](Module& module) { module.functions[1].is_kernel = false; }),
            "launch of 'finish', which must be called");
}

TEST(GridModule, EveryStatementIsWhereItCanRun) {
  EXPECT_EQ(grid_failure_of([](Module& module) { module.launch.push_back({Barrier{}}); }),
            "op2_launch_res: not a statement of this launch: barrier\n");
  EXPECT_EQ(grid_failure_of([](Module& module) {
              module.launch.push_back({Call{"finish", {}}});
            }),
            "call of 'finish', which must be launched");
  EXPECT_EQ(grid_failure_of([](Module& module) {
              module.functions[0].body.push_back({Scratch{DType::int32, "s", integer(1)}});
            }),
            "wrap: a launch within a function");
  EXPECT_EQ(grid_failure_of([](Module& module) { module.functions[0].body.push_back({Region{}}); }),
            "wrap: lanes that the backend does not have");
  EXPECT_EQ(failure_of([](Module& module) { module.functions[0].body.push_back({Barrier{}}); }),
            "wrap_res: lanes that the backend does not have");
}

std::vector<int> sizes_of(const std::vector<RowPiece>& pieces) {
  std::vector<int> sizes;
  for (const RowPiece& piece : pieces) sizes.push_back(piece.size);
  return sizes;
}

TEST(RowPieces, AreAsWideAsLanesAndWhatIsLeftAllow) {
  EXPECT_EQ(sizes_of(row_pieces(3, 8)), (std::vector<int>{2, 1}));
  EXPECT_EQ(sizes_of(row_pieces(21, 8)), (std::vector<int>{8, 8, 4, 1}));
  EXPECT_EQ(sizes_of(row_pieces(4, 2)), (std::vector<int>{2, 2}));
  EXPECT_EQ(row_pieces(7, 4)[1].begin, 4);
  EXPECT_TRUE(row_pieces(0, 4).empty());
}

TEST(LaneNodes, AreReadable) {
  Module module;
  const VariableType vectors{DType::float64, false, false, 8};
  module.launch = {
      {LaneTurn{"rows", "pack", integer(2), vectors, 4}},
      {LaneStore{"q", name("at"), Update::add, "rows", name("lane"), DType::float64, 4}},
      {Assign{name("s"), Update::set, lane_of("pack", integer(1), name("lane"))}}};
  EXPECT_EQ(dump(module),
            "launch ()\n"
            "  rows = rows of pack[2] x4\n"
            "  q[at] x4 += rows[lane]\n"
            "  s = pack[1][lane]\n");
}

}  // namespace
}  // namespace op2::kir
