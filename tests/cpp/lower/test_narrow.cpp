// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::indirect;

std::string narrow_text(const Options& options, Strategy strategy = Strategy::atomic) {
  const ir::Loop loop = testing::make_loop(
      {indirect("y", Access::inc, 0, 2, testing::own_data, DType::int64)}, {{2, 0}});
  return kir::dump(testing::lowered(loop, strategy, testing::grid, Stage::narrow, options));
}

TEST(Narrow, IndicesAreNeitherDeclaredNorWidenedToSixtyFourBits) {
  const std::string wide = narrow_text({}, Strategy::owner);
  const std::string narrow = narrow_text({.widths = {.index_bytes = 4}}, Strategy::owner);
  EXPECT_NE(wide.find("decl const int64 n = "), std::string::npos) << wide;
  EXPECT_NE(narrow.find("decl const int32 n = "), std::string::npos) << narrow;
  EXPECT_NE(narrow_text({}).find("long("), std::string::npos);
  EXPECT_EQ(narrow_text({.widths = {.index_bytes = 4}}).find("long("), std::string::npos);
}

TEST(Narrow, ValuesKeepTheirTypes) {
  EXPECT_NE(narrow_text({.widths = {.index_bytes = 4}}).find("decl int64 y_pack[4] = 0"),
            std::string::npos);
}

TEST(Narrow, LoopsCountInThirtyTwoBits) {
  const ir::Loop loop = testing::edge_loop();
  const kir::Module module = testing::lowered(loop, Strategy::atomic, testing::grid, Stage::narrow,
                                              {.widths = {.index_bytes = 4}});
  const auto& grid = std::get<kir::For>(module.functions.front().body.front().node);
  EXPECT_EQ(grid.index_type, DType::int32);
}

TEST(Narrow, HostsKeepTheirText) {
  const ir::Loop loop = testing::edge_loop();
  EXPECT_EQ(kir::dump(testing::lowered(loop, Strategy::block)),
            kir::dump(testing::lowered(loop, Strategy::block, testing::threads, Stage::narrow,
                                       {.widths = {.index_bytes = 4}})));
}

}  // namespace
}  // namespace op2::lower
