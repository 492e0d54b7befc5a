// SPDX-License-Identifier: BSD-3-Clause
#include "cg/dialect.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "cg/context.hpp"

namespace op2::cg {
namespace {

std::string words(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    if (!text.empty() && !part.empty()) text += ' ';
    text += part;
  }
  return text;
}

std::string parameter(const Dialect& d, std::string_view name) {
  return words(
      {d.global, d.type_name(DType::float64), fmt::format("*{} {}", d.restrict_word, name)});
}

// Reverses blocks of 64 doubles through local memory and calls a helper for each.
std::string reversal(const Dialect& d) {
  Context context(d);
  {
    const std::string_view real = d.type_name(DType::float64);
    const Scope kernel = context.function(words(
        {d.kernel, "void", fmt::format("reverse({}, {})", parameter(d, "x"), parameter(d, "y"))}));
    const std::string twice = context.find_or_generate(
        "twice", "twice", [&d, real](Context& inner, const std::string& name) {
          const Scope helper =
              inner.function(words({d.function, real, fmt::format("{}({} a)", name, real)}));
          inner.statement("return a + a;");
        });
    Declaration tile{.type = words({d.local, real}), .declarators = {{.name = "tile"}}};
    tile.declarators.front().extents = "[64]";
    context.declare(tile);
    context.statement(fmt::format("tile[{}] = {}(x[{}]);", d.lane_id, twice, d.global_id));
    context.barrier();
    context.statement(fmt::format("y[{} * {} + {}] = tile[{} - 1 - {}];", d.block_id, d.n_lanes,
                                  d.lane_id, d.n_lanes, d.lane_id));
  }
  return context.finish();
}

TEST(Dialect, WritesAKernelInOpenCl) {
  EXPECT_EQ(reversal(opencl_dialect()),
            "static inline double twice(double a) {\n"
            "  return a + a;\n"
            "}\n"
            "\n"
            "__kernel void reverse(__global double *restrict x, __global double *restrict y) {\n"
            "  __local double tile[64];\n"
            "  tile[get_local_id(0)] = twice(x[get_global_id(0)]);\n"
            "  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
            "  y[get_group_id(0) * get_local_size(0) + get_local_id(0)] = "
            "tile[get_local_size(0) - 1 - get_local_id(0)];\n"
            "}\n");
}

TEST(Dialect, WritesAKernelInCuda) {
  EXPECT_EQ(
      reversal(cuda_dialect()),
      "static __device__ inline double twice(double a) {\n"
      "  return a + a;\n"
      "}\n"
      "\n"
      "extern \"C\" __global__ void reverse(double *__restrict__ x, double *__restrict__ y) {\n"
      "  __shared__ double tile[64];\n"
      "  tile[threadIdx.x] = twice(x[(blockIdx.x * blockDim.x + threadIdx.x)]);\n"
      "  __syncthreads();\n"
      "  y[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];\n"
      "}\n");
}

TEST(Dialect, WritesAParallelRegionInC) {
  const Dialect& c = c_dialect();
  Context context(c);
  {
    const Scope function = context.function(
        words({c.function, "void",
               fmt::format("twice({}, {} n)", parameter(c, "x"), c.type_name(DType::int64))}));
    context.pragma("omp parallel");
    context.begin_branch("");
    context.pragma("omp for schedule(static)");
    context.begin_branch("for (long i = 0; i < n; ++i)");
    context.statement("x[i] *= 2;");
    context.end_branch();
    context.barrier();
    context.end_branch();
  }
  EXPECT_EQ(context.finish(),
            "static inline void twice(double *__restrict__ x, long n) {\n"
            "  #pragma omp parallel\n"
            "  {\n"
            "    #pragma omp for schedule(static)\n"
            "    for (long i = 0; i < n; ++i) {\n"
            "      x[i] *= 2;\n"
            "    }\n"
            "    #pragma omp barrier\n"
            "  }\n"
            "}\n");
}

TEST(Dialect, AssignsABracedValueInItsOwnWords) {
  const auto second_value = [](const Dialect& dialect) {
    Context context(dialect, {.indent = 0});
    {
      const Scope function = context.function("void f()");
      context.declare("int2", "v", "{0, 1}", Sharing::both);
      context.declare("int2", "v", "{2, 3}", Sharing::both);
    }
    return context.finish();
  };
  EXPECT_EQ(second_value(c_dialect()), "void f() {\nint2 v = {0, 1};\nv = (int2){2, 3};\n}\n");
  EXPECT_EQ(second_value(cuda_dialect()), "void f() {\nint2 v = {0, 1};\nv = int2{2, 3};\n}\n");
  EXPECT_EQ(second_value(opencl_dialect()), second_value(c_dialect()));
}

TEST(Dialect, CAgreesWithTheCoreOnTypes) {
  for (std::size_t i = 0; i < n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(c_dialect().type_name(dtype), c_name_of(dtype));
  }
}

TEST(Dialect, SaysWhichTypeItLacks) {
  EXPECT_EQ(opencl_dialect().type_name(DType::uint64), "ulong");
  EXPECT_EQ(opencl_dialect().type_name(DType::complex128), "double2");
  EXPECT_EQ(cuda_dialect().type_name(DType::complex64), "op2_complex64");
  Dialect without_complex = c_dialect();
  without_complex.types[static_cast<std::size_t>(DType::complex64)] = "";
  EXPECT_THROW((void)without_complex.type_name(DType::complex64), UnsupportedError);
}

}  // namespace
}  // namespace op2::cg
