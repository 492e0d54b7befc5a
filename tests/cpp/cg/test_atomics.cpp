// SPDX-License-Identifier: BSD-3-Clause
#include "cg/atomics.hpp"

#include <gtest/gtest.h>

#include <string>

namespace op2::cg {
namespace {

using kir::Update;

/// The whole text of a function that updates `x[0]` by `v` twice.
std::string text_of(const Dialect& dialect, DType dtype, Update update) {
  Context context(dialect);
  {
    const Scope scope = context.function("void f()");
    for (int i = 0; i < 2; ++i) {
      context.statement(atomic_update(context, dtype, update, "&x[0]", "v"));
    }
  }
  return context.finish();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Atomics, CudaHasInstructionsForMostTypes) {
  const auto call = [](DType dtype, Update update) {
    const std::string text = text_of(cuda_dialect(), dtype, update);
    return contains(text, "op2_atomic") ? "helper" : text.substr(13, text.find(';') - 12);
  };
  EXPECT_EQ(call(DType::float64, Update::add), "atomicAdd(&x[0], v);");
  EXPECT_EQ(call(DType::float32, Update::add), "atomicAdd(&x[0], v);");
  EXPECT_EQ(call(DType::uint32, Update::add), "atomicAdd(&x[0], v);");
  EXPECT_EQ(call(DType::int64, Update::add),
            "atomicAdd((unsigned long long *)(&x[0]), (unsigned long long)v);");
  EXPECT_EQ(call(DType::int32, Update::min), "atomicMin(&x[0], v);");
  EXPECT_EQ(call(DType::int64, Update::max), "atomicMax((long long *)(&x[0]), (long long)v);");
  EXPECT_EQ(call(DType::float64, Update::min), "helper");
  EXPECT_EQ(call(DType::int8, Update::add), "helper");
}

TEST(Atomics, OpenClExchangesWhatItCannotAdd) {
  EXPECT_EQ(text_of(opencl_dialect(), DType::float64, Update::add),
            R"(static inline void op2_atomic_add_float64(__global double *target, double value) {
  volatile __global ulong *word = (volatile __global ulong *)target;
  ulong before;
  ulong seen = *word;
  do {
    before = seen;
    const double old = as_double(before);
    const double wanted = old + value;
    seen = atom_cmpxchg(word, before, as_ulong(wanted));
  } while (seen != before);
}

void f() {
  op2_atomic_add_float64(&x[0], v);
  op2_atomic_add_float64(&x[0], v);
}
)");
  EXPECT_TRUE(
      contains(text_of(opencl_dialect(), DType::int32, Update::add), "atomic_add(&x[0], v);"));
  EXPECT_TRUE(
      contains(text_of(opencl_dialect(), DType::int64, Update::add), "atom_add(&x[0], v);"));
  EXPECT_TRUE(contains(text_of(opencl_dialect(), DType::int64, Update::min),
                       "op2_atomic_min_int64(&x[0], v);"));
}

TEST(Atomics, NarrowTypesExchangeTheWordAroundThem) {
  const std::string text = text_of(cuda_dialect(), DType::int16, Update::max);
  EXPECT_TRUE(contains(text,
                       "unsigned int *word = (unsigned int *)((unsigned long)target & "
                       "~(unsigned long)3);"))
      << text;
  EXPECT_TRUE(contains(text, "const short wanted = (short)(old < value ? value : old);")) << text;
  EXPECT_TRUE(contains(text, "~(0xffffu << shift)")) << text;
  EXPECT_TRUE(contains(text_of(opencl_dialect(), DType::uint8, Update::add),
                       "atomic_cmpxchg(word, before, "));
}

TEST(Atomics, ComplexSumsAreTwoSums) {
  EXPECT_TRUE(contains(text_of(cuda_dialect(), DType::complex128, Update::add),
                       "  atomicAdd((double *)&x[0], (v).re);\n"
                       "  atomicAdd((double *)&x[0] + 1, (v).im);\n"));
  EXPECT_TRUE(contains(text_of(opencl_dialect(), DType::complex64, Update::add),
                       "  op2_atomic_add_float32((__global float *)&x[0], (v).x);\n"));
}

}  // namespace
}  // namespace op2::cg
