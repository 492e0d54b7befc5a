// SPDX-License-Identifier: BSD-3-Clause
#include "api/memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <new>
#include <sstream>
#include <string>

#include "api/op2.hpp"

namespace op2 {
namespace {

std::uintptr_t address_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

/// Flags of the memory area that begins at or before an address, as the system lists them.
std::string flags_at(const void* memory) {
  std::ifstream areas("/proc/self/smaps");
  std::string line;
  bool is_inside = false;
  while (std::getline(areas, line)) {
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      is_inside = begin <= address_of(memory) && address_of(memory) < end;
    } else if (is_inside && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return {};
}

TEST(Memory, LargeArraysAskForLargePages) {
  const Array<double> few(100, 1.0);
  const Array<double> many(std::size_t{1} << 20, 2.0);
  EXPECT_EQ(address_of(few.data()) % 64, 0U);
  EXPECT_EQ(address_of(many.data()) % (std::uintptr_t{2} << 20), 0U);
  EXPECT_EQ(many.back(), 2.0);
  const std::string flags = flags_at(many.data());
  if (flags.empty()) GTEST_SKIP() << "the system does not list flags of memory";
  EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
  EXPECT_EQ(flags_at(few.data()).find(" hg "), std::string::npos);
}

TEST(Memory, ArraysAreVectorsThatObjectsLookAt) {
  const Set cells(3, "cells");
  Array<double> values;
  for (int i = 0; i < 6; ++i) values.push_back(i);
  const Dat<double, 2> q(cells, values, "q");
  EXPECT_EQ(q.values().data(), values.data());
  const Array<int> next{1, 2, 0};
  const Map<1> map(cells, cells, next, "next");
  EXPECT_EQ(values[5], 5.0);
}

TEST(Memory, WhatIsTooMuchIsAnException) {
  api::Allocator<double> allocator;
  EXPECT_THROW((void)allocator.allocate(std::numeric_limits<std::size_t>::max() / 4),
               std::bad_array_new_length);
  EXPECT_THROW((void)api::allocated(std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
}

}  // namespace
}  // namespace op2
