// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/overload.hpp"
#include "loops.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

constexpr int warp_lanes = 8;
constexpr Facts adding_warps{.lanes = Lanes::grid, .atomics = true, .warp = 32};

using LaneValues = std::array<double, warp_lanes>;

/// Runs statements on a few lanes in step, as a warp does, and keeps what is added where.
class Warp {
 public:
  Warp(int dim, int n_elements) : n_elements_(n_elements) {
    for (int lane = 0; lane < warp_lanes; ++lane) {
      for (int i = 0; i < 2; ++i) {
        map_[lane * 2 + i] = lane + 3 * i;
        for (int c = 0; c < dim; ++c) pack_[i * dim + c][at(lane)] = 100 * lane + 10 * i + c;
      }
    }
  }

  void run(const kir::Block& block, const std::vector<bool>& active) {
    for (const kir::Stmt& stmt : block) {
      if (const auto* decl = std::get_if<kir::Decl>(&stmt.node)) {
        values_[decl->name] = value(*decl->value);
      } else if (const auto* assign = std::get_if<kir::Assign>(&stmt.node)) {
        set(*assign, active);
      } else if (const auto* branch = std::get_if<kir::If>(&stmt.node)) {
        const LaneValues condition = value(branch->condition);
        std::vector<bool> inner = active;
        for (int lane = 0; lane < warp_lanes; ++lane) {
          inner[at(lane)] = active[at(lane)] && condition[at(lane)] != 0;
        }
        run(branch->then, inner);
      } else {
        add(std::get<kir::Atomic>(stmt.node), active);
      }
    }
  }

  std::map<int, double> sums;    // by scalar of the Dat
  std::map<int, double> stored;  // of Dat y, by scalar; Dat x has its places as values
  std::map<int, LaneValues> pack_;
  std::vector<std::vector<int>> transactions;  // scalars that the lanes of one atomic touch

 private:
  static std::size_t at(int lane) { return static_cast<std::size_t>(lane); }

  void set(const kir::Assign& assign, const std::vector<bool>& active) {
    const LaneValues what = value(assign.value);
    const auto* name = std::get_if<kir::Name>(&assign.target.node);
    const auto* element = std::get_if<kir::Element>(&assign.target.node);
    const LaneValues where = name != nullptr ? LaneValues{} : value(element->subscript.front());
    if (element != nullptr && element->array == "y") transactions.emplace_back();
    for (int lane = 0; lane < warp_lanes; ++lane) {
      if (!active[at(lane)]) continue;
      const int i = static_cast<int>(where[at(lane)]);
      if (name != nullptr) {
        values_[name->name][at(lane)] = what[at(lane)];
      } else if (element->array == "y") {
        stored[i] = what[at(lane)];
        transactions.back().push_back(i);
      } else {
        pack_[i][at(lane)] = what[at(lane)];
      }
    }
  }

  void add(const kir::Atomic& atomic, const std::vector<bool>& active) {
    const auto& target = std::get<kir::Element>(atomic.target.node);
    const LaneValues where = value(target.subscript.front());
    const LaneValues what = value(atomic.value);
    transactions.emplace_back();
    for (int lane = 0; lane < warp_lanes; ++lane) {
      if (!active[at(lane)]) continue;
      sums[static_cast<int>(where[at(lane)])] += what[at(lane)];
      transactions.back().push_back(static_cast<int>(where[at(lane)]));
    }
  }

  LaneValues value(const kir::Expr& expr) {
    return std::visit(overload{
                          [](const kir::Integer& node) {
                            LaneValues out;
                            out.fill(static_cast<double>(node.value));
                            return out;
                          },
                          [this](const kir::Name& node) { return named(node.name); },
                          [this](const kir::Element& node) {
                            const LaneValues index = value(node.subscript.front());
                            LaneValues out{};
                            for (int lane = 0; lane < warp_lanes; ++lane) {
                              const int i = static_cast<int>(index[at(lane)]);
                              out[at(lane)] = node.array == "y_map" ? map_[i]
                                              : node.array == "x"   ? i
                                                                    : pack_[i][at(lane)];
                            }
                            return out;
                          },
                          [this](const kir::Binary& node) {
                            const LaneValues a = value(node.operands[0]);
                            const LaneValues b = value(node.operands[1]);
                            LaneValues out{};
                            for (int lane = 0; lane < warp_lanes; ++lane) {
                              out[at(lane)] = apply(node.op, static_cast<int>(a[at(lane)]),
                                                    static_cast<int>(b[at(lane)]));
                            }
                            return out;
                          },
                          [this](const kir::Widen& node) { return value(node.operands[0]); },
                          [this](const kir::Select& node) {
                            const LaneValues condition = value(node.operands[0]);
                            const LaneValues yes = value(node.operands[1]);
                            const LaneValues no = value(node.operands[2]);
                            LaneValues out{};
                            for (int lane = 0; lane < warp_lanes; ++lane) {
                              out[at(lane)] =
                                  condition[at(lane)] != 0 ? yes[at(lane)] : no[at(lane)];
                            }
                            return out;
                          },
                          [this](const kir::Shuffle& node) {
                            const LaneValues sent = value(node.operands[0]);
                            const LaneValues from = value(node.operands[1]);
                            LaneValues out{};
                            for (int lane = 0; lane < warp_lanes; ++lane) {
                              const int group = lane / node.width * node.width;
                              out[at(lane)] = sent[at(group + static_cast<int>(from[at(lane)]))];
                            }
                            return out;
                          },
                          [](const kir::Builtin&) {
                            LaneValues out{};
                            for (int lane = 0; lane < warp_lanes; ++lane) out[at(lane)] = lane;
                            return out;
                          },
                          [](const kir::Offset&) { return LaneValues{}; },
                          [](const kir::Minimum&) { return LaneValues{}; },
                          [](const kir::ScratchAt&) { return LaneValues{}; },
                          [](const kir::Stride&) { return LaneValues{}; },
                          [](const kir::LaneOf&) { return LaneValues{}; },
                          [](const kir::BlocksFor&) { return LaneValues{}; },
                      },
                      expr.node);
  }

  LaneValues named(const std::string& name) {
    if (values_.contains(name)) return values_.at(name);
    LaneValues out{};
    for (int lane = 0; lane < warp_lanes; ++lane) {
      out[at(lane)] = name == "n" ? lane : n_elements_;  // or `end`
    }
    return out;
  }

  static int apply(kir::BinaryOp op, int a, int b) {
    switch (op) {
      case kir::BinaryOp::add:
        return a + b;
      case kir::BinaryOp::subtract:
        return a - b;
      case kir::BinaryOp::multiply:
        return a * b;
      case kir::BinaryOp::divide:
        return a / b;
      case kir::BinaryOp::modulo:
        return a % b;
      case kir::BinaryOp::less:
        return a < b ? 1 : 0;
      case kir::BinaryOp::equal:
        return a == b ? 1 : 0;
    }
    return 0;
  }

  int n_elements_;
  std::map<int, int> map_;
  std::map<std::string, LaneValues> values_;
};

kir::Scatter scatter_of(int dim) {
  return {"y_pack",
          {DType::float64, dim, 2, "y", kir::MapRows{"y_map", kir::name("n")}},
          kir::Update::add,
          kir::Sync::atomic};
}

kir::Rows own_rows(const std::string& data, int dim) {
  return {DType::float64, dim, 1, data, kir::OwnRow{kir::name("n")}};
}

kir::Expr has_element() {
  return kir::less(kir::name("n"), kir::name("end"));
}

class Transposed : public ::testing::TestWithParam<int> {};

TEST_P(Transposed, LoadsTheRowOfEachLane) {
  const int dim = GetParam();
  for (const int n_elements : {warp_lanes, 5, 1}) {
    Names names({});
    Warp warp(dim, n_elements);
    warp.pack_.clear();
    warp.run(loaded_together({"y_pack", own_rows("x", dim)}, has_element(), names, {}),
             std::vector<bool>(warp_lanes, true));
    for (int lane = 0; lane < n_elements; ++lane) {
      for (int c = 0; c < dim; ++c) {
        EXPECT_EQ(warp.pack_[c][static_cast<std::size_t>(lane)], lane * dim + c)
            << "dim " << dim << ", elements " << n_elements;
      }
    }
  }
}

TEST_P(Transposed, StoresTheRowOfEachLane) {
  const int dim = GetParam();
  for (const int n_elements : {warp_lanes, 5, 1}) {
    Names names({});
    Warp warp(dim, n_elements);
    const kir::Scatter scatter{"y_pack", own_rows("y", dim), kir::Update::set, kir::Sync::none};
    warp.run(transposed(scatter, has_element(), names, {}), std::vector<bool>(warp_lanes, true));
    std::map<int, double> expected;
    for (int lane = 0; lane < n_elements; ++lane) {
      for (int c = 0; c < dim; ++c) expected[lane * dim + c] = 100 * lane + c;
    }
    EXPECT_EQ(warp.stored, expected) << "dim " << dim << ", elements " << n_elements;
  }
}

TEST_P(Transposed, AddsWhatEveryLaneWouldAddItself) {
  const int dim = GetParam();
  for (const int n_elements : {warp_lanes, 5, 1}) {
    Names names({});
    Warp warp(dim, n_elements);
    warp.run(transposed(scatter_of(dim), kir::less(kir::name("n"), kir::name("end")), names, {}),
             std::vector<bool>(warp_lanes, true));
    std::map<int, double> expected;
    for (int lane = 0; lane < n_elements; ++lane) {
      for (int i = 0; i < 2; ++i) {
        for (int c = 0; c < dim; ++c) {
          expected[(lane + 3 * i) * dim + c] += 100 * lane + 10 * i + c;
        }
      }
    }
    EXPECT_EQ(warp.sums, expected) << "dim " << dim << ", elements " << n_elements;
  }
}

INSTANTIATE_TEST_SUITE_P(Dims, Transposed, ::testing::Values(2, 3, 4, 5, 8, 9, 12));

TEST(TransposedScatter, ConsecutiveLanesAddToConsecutiveScalars) {
  Names names({});
  Warp warp(4, warp_lanes);
  warp.run(transposed(scatter_of(4), kir::less(kir::name("n"), kir::name("end")), names, {}),
           std::vector<bool>(warp_lanes, true));
  EXPECT_EQ(warp.transactions.front(), (std::vector<int>{0, 1, 2, 3, 16, 17, 18, 19}));
}

TEST(CanTranspose, NeedsAWarpAndRowsOfSeveralScalars) {
  EXPECT_TRUE(can_transpose(scatter_of(4), adding_warps, {}));
  EXPECT_FALSE(can_transpose(scatter_of(1), adding_warps, {}));
  EXPECT_FALSE(can_transpose(scatter_of(4), testing::grid, {}));
  EXPECT_FALSE(can_transpose(scatter_of(64), adding_warps, {}));
  kir::Scatter plain = scatter_of(4);
  plain.sync = kir::Sync::none;
  EXPECT_FALSE(can_transpose(plain, adding_warps, {}));
  kir::Scatter apart = scatter_of(4);
  apart.rows.layout = kir::Apart{"y_stride"};
  EXPECT_FALSE(can_transpose(apart, adding_warps, {}));
  kir::Scatter complex = scatter_of(4);
  complex.rows.dtype = DType::complex128;
  EXPECT_FALSE(can_transpose(complex, adding_warps, {}));
}

TEST(WideRows, AreThoseOfElementsWithEnoughBytes) {
  EXPECT_TRUE(is_wide(own_rows("x", 8), adding_warps, {}));
  EXPECT_FALSE(is_wide(own_rows("x", 7), adding_warps, {})) << "56 bytes";
  EXPECT_TRUE(is_wide(own_rows("x", 7), adding_warps, {.exchanged_bytes = 56}));
  EXPECT_FALSE(is_wide(own_rows("x", 8), adding_warps, {.exchanged_bytes = 0}));
  EXPECT_FALSE(is_wide(own_rows("x", 65), adding_warps, {})) << "more than registers hold";
  EXPECT_FALSE(is_wide(own_rows("x", 8), testing::grid, {})) << "no warps";
  EXPECT_FALSE(is_wide(scatter_of(8).rows, adding_warps, {})) << "by a Map";
  kir::Rows rounded = own_rows("x", 32);
  rounded.stored = DType::float32;
  EXPECT_FALSE(is_wide(rounded, adding_warps, {})) << "stored apart from what is computed";
  const kir::Scatter scatter{"y_pack", own_rows("y", 8), kir::Update::set, kir::Sync::none};
  EXPECT_TRUE(can_transpose(scatter, adding_warps, {.transposed = false}));
}

TEST(WideRows, AreLoadedByAllLanesOfAWarp) {
  const ir::Loop loop = testing::make_loop(
      {testing::direct("x", Access::read, 8), testing::direct("y", Access::write, 2)}, {});
  const std::string text = testing::strategy_dump(loop, Strategy::direct, adding_warps);
  EXPECT_NE(text.find("    decl const int64 x_pack_at0 = select((n < end), (n * 8), -1)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("    if (n < end)\n      kernel(x_pack, y_pack)\n      scatter float64 y[n] x2"),
      std::string::npos)
      << text;
  const std::string plain = testing::strategy_dump(loop, Strategy::direct, adding_warps,
                                                   {.tuning = {.exchanged_bytes = 0}});
  EXPECT_NE(plain.find("gather x_pack = float64 x[n] x8"), std::string::npos) << plain;
}

TEST(TransposedAtomics, AllLanesOfAWarpGetThere) {
  const ir::Loop loop = testing::make_loop({testing::indirect("y", Access::inc, 0, 4)}, {{2, 0}});
  const std::string text = testing::strategy_dump(loop, Strategy::atomic, adding_warps);
  EXPECT_NE(text.find("  for grid n in [begin, (begin + ((((end - begin) + 31) / 32) * 32)))\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    if (n < end)\n      kernel(y_pack)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    decl const int64 y_pack_at0 = select((n < end), "), std::string::npos)
      << text;
  const std::string plain = testing::strategy_dump(loop, Strategy::atomic, adding_warps,
                                                   {.tuning = {.transposed = false}});
  EXPECT_NE(plain.find("scatter atomic float64 y[y_map[n] x2] x4 += y_pack"), std::string::npos);
}

}  // namespace
}  // namespace op2::lower
