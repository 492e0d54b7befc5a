// SPDX-License-Identifier: BSD-3-Clause
#include "cg/dialect.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace op2::cg {
namespace {

constexpr std::string_view opencl_atomics =
    "add int32 uint32: atomic_add({0}, {1});\n"
    "min int32 uint32: atomic_min({0}, {1});\n"
    "max int32 uint32: atomic_max({0}, {1});\n"
    "add int64 uint64: atom_add({0}, {1});\n";  // min and max are an extension of their own

constexpr std::string_view cuda_atomics =
    "add float32 float64 int32 uint32: atomicAdd({0}, {1});\n"
    "add int64 uint64: atomicAdd((unsigned long long *)({0}), (unsigned long long){1});\n"
    "min int32 uint32: atomicMin({0}, {1});\n"
    "max int32 uint32: atomicMax({0}, {1});\n"
    "min int64: atomicMin((long long *)({0}), (long long){1});\n"
    "max int64: atomicMax((long long *)({0}), (long long){1});\n"
    "min uint64: atomicMin((unsigned long long *)({0}), (unsigned long long){1});\n"
    "max uint64: atomicMax((unsigned long long *)({0}), (unsigned long long){1});\n";

const Dialect& make_c() {
  static const Dialect c{
      .name = "C",
      .function = "static inline",
      .keep_apart = "__attribute__((noinline)) ",
      .restrict_word = "__restrict__",  // C11's `restrict` is not a word of C++
      .barrier = "#pragma omp barrier",
      .global_barrier = "#pragma omp barrier",
      .literal_open = "(",
      .literal_close = ")",
      .types = {"signed char", "short", "int", "long", "unsigned char", "unsigned short",
                "unsigned int", "unsigned long", "float", "double", "float _Complex",
                "double _Complex", "unsigned short", "unsigned short"},
      .boolean = "_Bool",
      .table = "static",
      .real_part = "__real__ {}",
      .imaginary_part = "__imag__ {}",
      .complex_value = "__builtin_complex({1}, {2})",
      .exchange_any =
          "{0} seen;\n{0} wanted;\n__atomic_load(target, &seen, __ATOMIC_RELAXED);\n"
          "do {{\n  wanted = ({0})({1});\n"
          "}} while (!__atomic_compare_exchange(target, &seen, &wanted, 1, __ATOMIC_RELAXED,\n"
          "                                __ATOMIC_RELAXED));",
  };
  return c;
}

const Dialect& make_opencl() {
  static const Dialect opencl{
      .name = "OpenCL C",
      .kernel = "__kernel",
      .function = "static inline",
      .global = "__global",
      .local = "__local",
      .to_local = "__local ",
      .restrict_word = "restrict",
      .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
      .global_barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
      .global_id = "get_global_id(0)",
      .block_id = "get_group_id(0)",
      .lane_id = "get_local_id(0)",
      .n_lanes = "get_local_size(0)",
      .n_blocks = "get_num_groups(0)",
      .n_global = "get_global_size(0)",
      .literal_open = "(",
      .literal_close = ")",
      // complex numbers are moved and added as the vectors they are
      .types = {"char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "float",
                "double", "float2", "double2", "ushort", "ushort"},
      .boolean = "bool",
      .table = "__constant",
      .real_part = "({}).x",
      .imaginary_part = "({}).y",
      .complex_value = "({0})({1}, {2})",
      .complex_by = ComplexBy::functions,
      .atomics = opencl_atomics,
      .words = "volatile __global {} *",
      .word = {"uint", "ulong"},
      .exchange = {"atomic_cmpxchg(word, before, {})", "atom_cmpxchg(word, before, {})"},
      .from_bits = {"as_float({})", "as_double({})"},
      .to_bits = {"as_uint({})", "as_ulong({})"},
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
      .local = "__shared__",
      .restrict_word = "__restrict__",
      .barrier = "__syncthreads();",
      .warp_barrier = "__syncwarp();",
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
      .types = {"signed char", "short", "int", "long", "unsigned char", "unsigned short",
                "unsigned int", "unsigned long", "float", "double", "op2_complex64",
                "op2_complex128", "unsigned short", "unsigned short"},
      .boolean = "bool",
      .table = "static __constant__",
      .large_table = "static __device__",
      // of the 64 KiB of a module: the assembler keeps some for itself
      .constant_bytes = std::int64_t{60} * 1024,
      .declared_shared_bytes = std::int64_t{48} * 1024,
      .shared_request = "extern \"C\" __device__ const int op2_shared_{0} = {1};\n",
      .shared_memory = "extern __shared__ double2 op2_block[];",
      .real_part = "({}).re",
      .imaginary_part = "({}).im",
      .atomics = cuda_atomics,
      .words = "{} *",
      .word = {"unsigned int", "unsigned long long"},
      .exchange = {"atomicCAS(word, before, {})", "atomicCAS(word, before, {})"},
      .from_bits = {"__int_as_float({})", "__longlong_as_double({})"},
      .to_bits = {"(unsigned int)__float_as_int({})",
                  "(unsigned long long)__double_as_longlong({})"},
      .is_cxx = true,
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
