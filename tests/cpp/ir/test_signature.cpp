// SPDX-License-Identifier: BSD-3-Clause
#include "ir/signature.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/group.hpp"

namespace op2::ir {
namespace {

std::shared_ptr<const kernel::Kernel> kernel_with(std::string key) {
  auto kernel = std::make_shared<kernel::Kernel>();
  kernel->name = "res";
  kernel->key = std::move(key);
  return kernel;
}

Loop base_loop() {
  return loop_of(
      kernel_with("tokens"),
      {DirectDat{DType::float64, 2, Access::read, {0, 0}},
       IndirectDat{DType::float64, 2, Access::inc, 0, {1, 1}},
       GlobalRead{DType::float64, 2, {2, 2}}, GlobalReduce{DType::float64, 2, Access::min, {3, 3}}},
      {{2, 0}, {2, 0}}, {{"gam", DType::float64, 2}});
}

using Change = std::pair<const char*, std::function<void(Loop&)>>;

DirectDat& direct(Loop& loop) {
  return std::get<DirectDat>(loop.args[0]);
}
IndirectDat& indirect(Loop& loop) {
  return std::get<IndirectDat>(loop.args[1]);
}
GlobalRead& global(Loop& loop) {
  return std::get<GlobalRead>(loop.args[2]);
}
GlobalReduce& reduce(Loop& loop) {
  return std::get<GlobalReduce>(loop.args[3]);
}

std::vector<Change> every_field() {
  return {
      {"kernel", [](Loop& loop) { loop.members[0].kernel = kernel_with("others"); }},
      {"direct dtype", [](Loop& loop) { direct(loop).dtype = DType::float32; }},
      {"direct dim", [](Loop& loop) { direct(loop).dim = 1; }},
      {"direct access", [](Loop& loop) { direct(loop).access = Access::rw; }},
      {"direct data", [](Loop& loop) { direct(loop).alias.data = 1; }},
      {"direct memory", [](Loop& loop) { direct(loop).alias.memory = 1; }},
      {"direct memory type", [](Loop& loop) { direct(loop).stored = DType::float32; }},
      {"indirect memory type", [](Loop& loop) { indirect(loop).stored = DType::float32; }},
      {"indirect dtype", [](Loop& loop) { indirect(loop).dtype = DType::int64; }},
      {"indirect dim", [](Loop& loop) { indirect(loop).dim = 3; }},
      {"indirect access", [](Loop& loop) { indirect(loop).access = Access::max; }},
      {"indirect map", [](Loop& loop) { indirect(loop).map = 1; }},
      {"indirect data", [](Loop& loop) { indirect(loop).alias.data = 0; }},
      {"indirect memory", [](Loop& loop) { indirect(loop).alias.memory = 0; }},
      {"global dtype", [](Loop& loop) { global(loop).dtype = DType::complex64; }},
      {"global dim", [](Loop& loop) { global(loop).dim = 9; }},
      {"global data", [](Loop& loop) { global(loop).alias.data = 0; }},
      {"global memory", [](Loop& loop) { global(loop).alias.memory = 0; }},
      {"reduce dtype", [](Loop& loop) { reduce(loop).dtype = DType::uint8; }},
      {"reduce dim", [](Loop& loop) { reduce(loop).dim = 1; }},
      {"reduce access", [](Loop& loop) { reduce(loop).access = Access::inc; }},
      {"reduce data", [](Loop& loop) { reduce(loop).alias.data = 2; }},
      {"reduce memory", [](Loop& loop) { reduce(loop).alias.memory = 2; }},
      {"map arity", [](Loop& loop) { loop.maps[0].arity = 3; }},
      {"map toset", [](Loop& loop) { loop.maps[1].toset = 1; }},
      {"number of maps", [](Loop& loop) { loop.maps.pop_back(); }},
      {"const name", [](Loop& loop) { loop.constants[0].name = "gm1"; }},
      {"const dtype", [](Loop& loop) { loop.constants[0].dtype = DType::float32; }},
      {"const dim", [](Loop& loop) { loop.constants[0].dim = 1; }},
      {"number of constants", [](Loop& loop) { loop.constants.clear(); }},
      {"parameter", [](Loop& loop) { loop.args[1].parameter = 0; }},
      {"place", [](Loop& loop) { loop.args[0].place = Place{}; }},
      {"row of a place", [](Loop& loop) { loop.args[0].place = Place{.row = 1}; }},
      {"number of arguments", [](Loop& loop) { loop.args.pop_back(); }},
      {"order of arguments", [](Loop& loop) { std::swap(loop.args[0], loop.args[2]); }},
      {"direct instead of indirect",
       [](Loop& loop) {
         loop.args[1] = DirectDat{DType::float64, 2, Access::inc, {1, 1}};
       }},
      {"direct instead of global",
       [](Loop& loop) {
         loop.args[2] = DirectDat{DType::float64, 2, Access::read, {2, 2}};
       }},
  };
}

TEST(Signature, DiffersForEveryField) {
  std::map<std::string, std::string> seen{{signature(base_loop()), "unchanged"}};
  for (const auto& [what, change] : every_field()) {
    Loop loop = base_loop();
    change(loop);
    const auto [found, is_new] = seen.try_emplace(signature(loop), what);
    EXPECT_TRUE(is_new) << what << " gives the signature of: " << found->second;
  }
}

TEST(Signature, IsEqualForEqualLoops) {
  EXPECT_EQ(signature(base_loop()), signature(base_loop()));
}

TEST(Signature, KnowsWhatIsKnownOfValuesAlsoOfOneLoopAlone) {
  Loop loop = base_loop();
  number_values(loop);
  ASSERT_FALSE(loop.values.empty());
  EXPECT_EQ(signature(loop), signature(base_loop()));
  Loop zero = loop;
  zero.values.front().is_zero = true;
  EXPECT_NE(signature(zero), signature(loop));
  Loop dropped = loop;
  dropped.values.back().stored = false;
  EXPECT_NE(signature(dropped), signature(loop));
  EXPECT_NE(signature(dropped), signature(zero));
}

TEST(Signature, KnowsTheKernelByItsKeyAlone) {
  // Text, comments and source lines differ; the tokens, and so the key, do not.
  Loop loop = base_loop();
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  kernel->text = "/* another comment */";
  kernel->flop_count = 12;
  loop.members[0].kernel = kernel;
  EXPECT_EQ(signature(loop), signature(base_loop()));
}

TEST(Signature, KnowsWhatIsReadBeforeItIsOverwritten) {
  Loop loop = base_loop();
  loop.args.front().is_before = true;
  EXPECT_NE(signature(loop), signature(base_loop()));
}

TEST(Signature, NamesCannotRunIntoEachOther) {
  const auto with = [](std::vector<ConstRef> constants) {
    Loop loop = base_loop();
    loop.constants = std::move(constants);
    return signature(loop);
  };
  EXPECT_NE(with({{"a", DType::float64, 1}, {"b", DType::float64, 1}}),
            with({{"ab", DType::float64, 1}}));
  EXPECT_NE(with({{"a1:b", DType::float64, 1}}), with({{"a", DType::float64, 1}}));
}

}  // namespace
}  // namespace op2::ir
