// SPDX-License-Identifier: BSD-3-Clause
#include "cg/dialect.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace op2::cg {
namespace {

const Dialect& make_c() {
  static const Dialect c{
      .name = "C",
      .kernel = "",
      .function = "static inline",
      .keep_apart = "__attribute__((noinline)) ",
      .global = "",
      .local = "",
      .restrict_word = "__restrict__",  // C11's `restrict` is not a word of C++
      .barrier = "#pragma omp barrier",
      .global_barrier = "#pragma omp barrier",
      .global_id = "",
      .block_id = "",
      .lane_id = "",
      .n_lanes = "",
      .n_blocks = "",
      .n_global = "",
      .shuffle = "",
      .arrive = "",
      .fetch = "",
      .kernel_start = "",
      .assume_aligned = "",
      .grid_loop = "",
      .literal_open = "(",
      .literal_close = ")",
      .types = {"signed char", "short", "int", "long", "unsigned char", "unsigned short",
                "unsigned int", "unsigned long", "float", "double", "float _Complex",
                "double _Complex"},
      .boolean = "_Bool",
      .table = "static",
      .real_part = "__real__ {}",
      .imaginary_part = "__imag__ {}",
      .complex_value = "__builtin_complex({1}, {2})",
      .exchange = Exchange::gcc,
      .is_cxx = false,
      .has_constant_space = false,
      .library = nullptr,
      .vocabulary = {},
  };
  return c;
}

const Dialect& make_opencl() {
  static const Dialect opencl{
      .name = "OpenCL C",
      .kernel = "__kernel",
      .function = "static inline",
      .keep_apart = "",
      .global = "__global",
      .local = "__local",
      .restrict_word = "restrict",
      .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
      .global_barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
      .global_id = "get_global_id(0)",
      .block_id = "get_group_id(0)",
      .lane_id = "get_local_id(0)",
      .n_lanes = "get_local_size(0)",
      .n_blocks = "get_num_groups(0)",
      .n_global = "get_global_size(0)",
      .shuffle = "",
      .arrive = "",
      .fetch = "",
      .kernel_start = "",
      .assume_aligned = "",
      .grid_loop = "",
      .literal_open = "(",
      .literal_close = ")",
      // complex numbers are moved and added as the vectors they are
      .types = {"char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "float",
                "double", "float2", "double2"},
      .boolean = "bool",
      .table = "__constant",
      .real_part = "({}).x",
      .imaginary_part = "({}).y",
      .complex_value = "({0})({1}, {2})",
      .complex_by = ComplexBy::functions,
      .exchange = Exchange::opencl,
      .is_cxx = false,
      .has_vectors = true,
      .compares_conditions = true,
      .hides_ranges = true,
      .has_constant_space = true,
      .library = opencl_library,
      .vocabulary = opencl_vocabulary(),
  };
  return opencl;
}

const Dialect& make_cuda() {
  static const Dialect cuda{
      .name = "CUDA C++",
      .kernel = "extern \"C\" __global__",
      .function = "static __device__ inline",
      .keep_apart = "",
      .global = "",
      .local = "__shared__",
      .restrict_word = "__restrict__",
      .barrier = "__syncthreads();",
      .global_barrier = "__syncthreads();",
      .global_id = "(blockIdx.x * blockDim.x + threadIdx.x)",
      .block_id = "blockIdx.x",
      .lane_id = "threadIdx.x",
      .n_lanes = "blockDim.x",
      .n_blocks = "gridDim.x",
      .n_global = "(gridDim.x * blockDim.x)",
      .shuffle = "__shfl_sync(0xffffffffu, ",
      .arrive = "{0} = op2_is_last({1}, {2});",
      .fetch = "op2_fetch<{3}>({0}, {1} + {2});",
      .kernel_start = "op2_start();",
      .assume_aligned = "{0} = ({1})__builtin_assume_aligned({0}, 16);",
      .grid_loop = "unroll 1",
      .bounds = "__launch_bounds__({}, {}) ",
      .literal_open = "",
      .literal_close = "",
      .types = {"signed char", "short", "int", "long", "unsigned char", "unsigned short",
                "unsigned int", "unsigned long", "float", "double", "op2_complex64",
                "op2_complex128"},
      .boolean = "bool",
      .table = "static __constant__",
      .large_table = "static __device__",
      // of the 64 KiB of a module: the assembler keeps some for itself
      .constant_bytes = std::int64_t{60} * 1024,
      .real_part = "({}).re",
      .imaginary_part = "({}).im",
      .complex_value = "",
      .exchange = Exchange::cuda,
      .is_cxx = true,
      .has_constant_space = false,
      .library = cuda_library,
      .vocabulary = cuda_vocabulary(),
  };
  return cuda;
}

}  // namespace

std::string_view Dialect::type_name(DType dtype) const {
  const std::string_view spelling = types[static_cast<std::size_t>(dtype)];
  if (spelling.empty()) {
    throw UnsupportedError(
        fmt::format("{} has no type for {}; use a real dtype or a backend that "
                    "has it",
                    name, name_of(dtype)));
  }
  return spelling;
}

const Dialect& c_dialect() {
  return make_c();
}
const Dialect& opencl_dialect() {
  return make_opencl();
}
const Dialect& cuda_dialect() {
  return make_cuda();
}

}  // namespace op2::cg
