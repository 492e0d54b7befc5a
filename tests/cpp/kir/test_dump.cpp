// SPDX-License-Identifier: BSD-3-Clause
#include "kir/dump.hpp"

#include <gtest/gtest.h>

#include "modules.hpp"

namespace op2::kir {
namespace {

using testing::every_node;
using testing::on_grid;

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
            "        atomic sums[1] min= x[slot]\n");
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
            "    sums[@block] = shuffle4(x[end], 1)\n"
            "  for block block in [0, @blocks)\n"
            "kernel finish(float64* sums)\n"
            "launch op2_launch_res(float64* x)\n"
            "  scratch float64 sums[@blocks_for(end)]\n"
            "  launch wrap over end items (x, sums, end)\n"
            "  launch finish over 1 single (sums)\n");
}

TEST(Copies, AreReadable) {
  EXPECT_EQ(dump(Stmt{Copy{3, element("x", name("c")), Update::add, element("y", name("c"))}}),
            "copy 3 of x[c] += y[c]\n");
}

TEST(ListedRows, SayWhatIsKnownOfThem) {
  const ListedRows list{
      {name("a"), name("b")}, element("m", name("i")), std::vector<std::int64_t>{0, 5}, "m"};
  Rows rows{DType::float64, 2, 2, "x", list};
  EXPECT_EQ(dump(Stmt{Gather{"pack", rows}}),
            "gather pack = float64 x[a, b] x2 of 2 from 0 any m[i] climbing 0, 5\n");
  rows.layout = Apart{"x_stride"};
  EXPECT_EQ(dump(Stmt{Gather{"pack", rows}}),
            "gather pack = float64 x[a, b] x2 by x_stride from 0 any m[i] climbing 0, 5\n");
}

TEST(ColumnLoops, SayWhatTheirPositionsAre) {
  For loop{Axis::serial, "position", name("begin"), name("end"), {}};
  loop.columns = {name("height"), integer(1), "row", "level", "n"};
  EXPECT_EQ(dump(Stmt{loop}),
            "for serial position in [begin, end) of columns of height from 1 (row, level, n)\n");
}

TEST(LaneNodes, AreReadable) {
  Module module;
  const VariableType vectors{DType::float64, false, false, 8};
  module.launch = {
      {Intrinsic{Instruction::lane_turn, {name("rows"), offset("pack", integer(2))}, vectors, 4}},
      {Intrinsic{Instruction::lane_store,
                 {offset("q", name("at")), name("rows"), name("lane")},
                 vectors,
                 4,
                 Update::add}},
      {Intrinsic{Instruction::lane_gather,
                 {name("pack"), offset("q", name("n")), element("q_rows", integer(1))},
                 {DType::float64, false, false, 2},
                 3}},
      {Assign{name("s"), Update::set, lane_of("pack", integer(1), name("lane"))}}};
  EXPECT_EQ(dump(module),
            "launch ()\n"
            "  rows = rows of pack[2] x4\n"
            "  q[at] x4 += rows[lane]\n"
            "  gather lanes of float64 pack[0] x3, rows at q[n], q_rows[1]\n"
            "  s = pack[1][lane]\n");
}

}  // namespace
}  // namespace op2::kir
