// SPDX-License-Identifier: BSD-3-Clause
#include "ir/fields.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace op2::ir {
namespace {

Loop loop_with_fields(std::string key = "tokens") {
  auto kernel = std::make_shared<kernel::Kernel>();
  kernel->name = "res";
  kernel->key = std::move(key);
  kernel->parameters.resize(2);
  kernel->parameters[0].name = "q";
  kernel->parameters[1].name = "r";
  return loop_of(std::move(kernel),
                 {DirectDat{DType::float64, 2, Access::read, {0, 0}},
                  IndirectDat{DType::float64, 2, Access::inc, 0, {1, 1}}},
                 {{2, 0}}, {{"gam", DType::float64, 2}});
}

/// Names of fields with other values, without the last, which is the digest of everything.
std::vector<std::string> other_fields(const Loop& loop) {
  const auto known = fields(loop_with_fields());
  const auto found = fields(loop);
  std::vector<std::string> out;
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    if (found[i] != known[i]) out.push_back(found[i].first);
  }
  EXPECT_EQ(found == known, out.empty() && found.back() == known.back());
  return out;
}

using Names = std::vector<std::string>;

TEST(Fields, NameWhatDiffers) {
  EXPECT_EQ(other_fields(loop_with_fields()), Names{});
  EXPECT_EQ(other_fields(loop_with_fields("others")), Names{"text of kernel 'res'"});
  Loop loop = loop_with_fields();
  std::get<DirectDat>(loop.args[0]).dtype = DType::float32;
  EXPECT_EQ(other_fields(loop),
            (Names{"argument 0 'q': dtype", "argument 0 'q': dtype in memory"}));
  loop = loop_with_fields();
  std::get<IndirectDat>(loop.args[1]).access = Access::rw;
  EXPECT_EQ(other_fields(loop), Names{"argument 1 'r': access"});
  loop = loop_with_fields();
  loop.maps[0].arity = 3;
  EXPECT_EQ(other_fields(loop), Names{"Map 0: arity"});
  loop = loop_with_fields();
  loop.iteration.subset = true;
  EXPECT_EQ(other_fields(loop), Names{"iteration: Subset"});
  loop = loop_with_fields();
  loop.constants[0].dim = 1;
  EXPECT_EQ(other_fields(loop), Names{"Const 'gam': dim"});
}

}  // namespace
}  // namespace op2::ir
