// SPDX-License-Identifier: BSD-3-Clause
#include "cg/words.hpp"

#include <algorithm>
#include <array>

namespace op2::cg {
namespace {

constexpr auto opencl_word_list = std::to_array<std::string_view>(
    {// OpenCL C 1.2, 6.1 and 6.9; and what compilers in C++ mode or later versions add
     "global", "local", "constant", "private", "generic", "kernel", "read_only", "write_only",
     "read_write", "uniform", "pipe", "vec_step", "bool", "true", "false", "uchar", "ushort",
     "uint", "ulong", "half", "quad", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t", "image1d_t",
     "image1d_array_t", "image1d_buffer_t", "image2d_t", "image2d_array_t", "image2d_depth_t",
     "image2d_array_depth_t", "image2d_msaa_t", "image2d_array_msaa_t", "image2d_msaa_depth_t",
     "image2d_array_msaa_depth_t", "image3d_t", "sampler_t", "event_t", "clk_event_t",
     "clk_profiling_info", "cl_mem_fence_flags", "kernel_enqueue_flags_t", "ndrange_t", "queue_t",
     "reserve_id_t", "memory_order", "memory_scope", "atomic_flag", "atomic_int", "atomic_uint",
     "atomic_long", "atomic_ulong", "atomic_float", "atomic_double", "atomic_half", "atomic_size_t",
     "atomic_ptrdiff_t", "atomic_intptr_t", "atomic_uintptr_t", "char2", "char3", "char4", "char8",
     "char16", "uchar2", "uchar3", "uchar4", "uchar8", "uchar16", "short2", "short3", "short4",
     "short8", "short16", "ushort2", "ushort3", "ushort4", "ushort8", "ushort16", "int2", "int3",
     "int4", "int8", "int16", "uint2", "uint3", "uint4", "uint8", "uint16", "long2", "long3",
     "long4", "long8", "long16", "ulong2", "ulong3", "ulong4", "ulong8", "ulong16", "float2",
     "float3", "float4", "float8", "float16", "double2", "double3", "double4", "double8",
     "double16", "half2", "half3", "half4", "half8", "half16", "complex", "imaginary",
     // macros
     "NAN", "INFINITY", "MAXFLOAT", "HUGE_VAL", "HUGE_VALF", "FLT_MAX", "FLT_MIN", "FLT_EPSILON",
     "DBL_MAX", "DBL_MIN", "DBL_EPSILON", "INT_MAX", "INT_MIN", "UINT_MAX", "LONG_MAX", "LONG_MIN",
     "ULONG_MAX", "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "SCHAR_MAX", "SCHAR_MIN", "UCHAR_MAX",
     "SHRT_MAX", "SHRT_MIN", "USHRT_MAX", "FP_ILOGB0", "FP_ILOGBNAN", "FLT_DIG", "FLT_MANT_DIG",
     "FLT_MAX_10_EXP", "FLT_MAX_EXP", "FLT_MIN_10_EXP", "FLT_MIN_EXP", "FLT_RADIX", "DBL_DIG",
     "DBL_MANT_DIG", "DBL_MAX_10_EXP", "DBL_MAX_EXP", "DBL_MIN_10_EXP", "DBL_MIN_EXP", "HALF_DIG",
     "HALF_MANT_DIG", "HALF_MAX_10_EXP", "HALF_MAX_EXP", "HALF_MIN_10_EXP", "HALF_MIN_EXP",
     "HALF_RADIX", "HALF_MAX", "HALF_MIN", "HALF_EPSILON", "M_E", "M_LOG2E", "M_LOG10E", "M_LN2",
     "M_LN10", "M_PI", "M_PI_2", "M_PI_4", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_SQRT2", "M_SQRT1_2",
     "M_E_F", "M_LOG2E_F", "M_LOG10E_F", "M_LN2_F", "M_LN10_F", "M_PI_F", "M_PI_2_F", "M_PI_4_F",
     "M_1_PI_F", "M_2_PI_F", "M_2_SQRTPI_F", "M_SQRT2_F", "M_SQRT1_2_F", "M_E_H", "M_LOG2E_H",
     "M_LOG10E_H", "M_LN2_H", "M_LN10_H", "M_PI_H", "M_PI_2_H", "M_PI_4_H", "M_1_PI_H", "M_2_PI_H",
     "M_2_SQRTPI_H", "M_SQRT2_H", "M_SQRT1_2_H", "NULL",
     // macros of NVIDIA's, for the functions before OpenCL 1.1
     "atomic_add", "atomic_and", "atomic_cmpxchg", "atomic_dec", "atomic_inc", "atomic_max",
     "atomic_min", "atomic_or", "atomic_sub", "atomic_xchg", "atomic_xor"});

constexpr auto opencl_reserved_list = std::to_array<std::string_view>({"__", "CLK_", "CL_"});
constexpr auto cuda_reserved_list = std::to_array<std::string_view>({"__"});

constexpr auto opencl_function_list = std::to_array<std::string_view>(
    {// OpenCL C 3.0, 6.15: those that C's library does not have
     "acospi", "asinpi", "atanpi", "atan2pi", "cospi", "sinpi", "tanpi", "exp10", "fract",
     "lgamma_r", "mad", "maxmag", "minmag", "pown", "powr", "rootn", "rsqrt", "sincos",
     // of integers, vectors and memory
     "abs_diff", "add_sat", "hadd", "rhadd", "clamp", "clz", "mad_hi", "mad_sat", "max", "min",
     "mul_hi", "rotate", "sub_sat", "upsample", "popcount", "mad24", "mul24", "degrees", "mix",
     "radians", "step", "smoothstep", "sign", "cross", "dot", "distance", "length", "normalize",
     "isequal", "isnotequal", "isgreater", "isgreaterequal", "isless", "islessequal",
     "islessgreater", "isordered", "isunordered", "isnormal", "any", "all", "bitselect", "select",
     "barrier", "mem_fence", "prefetch", "shuffle", "shuffle2", "printf", "main", "bit_reverse",
     "capture_event_profiling_info", "create_user_event", "ctz", "fma", "ilogb", "is_valid_event",
     "is_valid_reserve_id", "logb", "nan", "ndrange_1D", "ndrange_2D", "ndrange_3D",
     "read_mem_fence", "release_event", "retain_event", "set_user_event_status", "fast_distance",
     "fast_length", "fast_normalize", "to_global", "to_local", "to_private", "half_cos",
     "half_divide", "half_exp", "half_exp2", "half_exp10", "half_log", "half_log2", "half_log10",
     "half_powr", "half_recip", "half_rsqrt", "half_sin", "half_sqrt", "half_tan",
     "bitfield_extract_signed", "bitfield_extract_unsigned", "bitfield_insert", "wait_group_events",
     "write_mem_fence", "ATOMIC_VAR_INIT"});

constexpr auto opencl_family_list = std::to_array<std::string_view>(
    {// how names of many more begin
     "op2_", "as_", "async_work_group_", "atom_", "atomic_", "convert_", "native_", "vload",
     "vstore", "get_default_queue", "get_enqueued_", "get_fence", "get_global_", "get_group_id",
     "get_image_", "get_kernel_", "get_local_", "get_max_sub_group_", "get_num_", "get_pipe_",
     "get_sub_group_", "get_work_dim", "read_image", "write_image", "sub_group_", "work_group_",
     "enqueue_", "dot_4x8packed_", "dot_acc_sat",
     // of vendors
     "amd_", "arm_", "cl_", "intel_", "qcom_"});

constexpr auto cuda_word_list = std::to_array<std::string_view>(
    {// C++20
     "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "bool", "catch", "char8_t",
     "char16_t", "char32_t", "class", "co_await", "co_return", "co_yield", "compl", "concept",
     "const_cast", "consteval", "constexpr", "constinit", "decltype", "delete", "dynamic_cast",
     "explicit", "export", "false", "friend", "mutable", "namespace", "new", "noexcept", "not",
     "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
     "reinterpret_cast", "requires", "static_assert", "static_cast", "template", "this",
     "thread_local", "throw", "true", "try", "typeid", "typename", "using", "virtual", "wchar_t",
     "xor", "xor_eq", "std", "size_t", "ptrdiff_t", "NULL", "typeof",
     // CUDA's
     "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "cudaStream_t",
     "clusterDim", "clusterIdx", "char1", "char2", "char3", "char4", "uchar1", "uchar2", "uchar3",
     "uchar4", "short1", "short2", "short3", "short4", "ushort1", "ushort2", "ushort3", "ushort4",
     "int1", "int2", "int3", "int4", "uint1", "uint2", "uint3", "uint4", "long1", "long2", "long3",
     "long4", "ulong1", "ulong2", "ulong3", "ulong4", "longlong1", "longlong2", "longlong3",
     "longlong4", "ulonglong1", "ulonglong2", "ulonglong3", "ulonglong4", "float1", "float2",
     "float3", "float4", "double1", "double2", "double3", "double4", "long4_16a", "long4_32a",
     "ulong4_16a", "ulong4_32a", "longlong4_16a", "longlong4_32a", "ulonglong4_16a",
     "ulonglong4_32a", "double4_16a", "double4_32a"});

constexpr auto cuda_function_list = std::to_array<std::string_view>(
    {// CUDA's, and HIP's: an overload of theirs may fit a call better than the kernel's own
     "abs", "min", "max", "umin", "umax", "llmin", "llmax", "ullmin", "ullmax", "rsqrt", "rsqrtf",
     "rcbrt", "rcbrtf", "sinpi", "sinpif", "cospi", "cospif", "sincos", "sincosf", "sincospi",
     "sincospif", "exp10", "exp10f", "pow10", "pow10f", "norm", "normf", "rnorm", "rnormf",
     "norm3d", "norm3df", "norm4d", "norm4df", "rnorm3d", "rnorm3df", "rnorm4d", "rnorm4df",
     "rhypot", "rhypotf", "erfinv", "erfinvf", "erfcinv", "erfcinvf", "erfcx", "erfcxf", "normcdf",
     "normcdff", "normcdfinv", "normcdfinvf", "cyl_bessel_i0", "cyl_bessel_i1", "j0", "j1", "jn",
     "y0", "y1", "yn", "saturate", "clock", "clock64", "printf", "malloc", "free", "assert",
     "mul24", "umul24", "mulhi", "isnan", "isinf", "isfinite", "signbit", "main",
     // of HIP's headers, and of older ones of CUDA
     "alloca", "aligned", "allocate", "ballot", "all", "any", "fdivide", "fdividef", "fma", "ilogb",
     "logb", "nan", "llabs", "scalbln", "scalblnf", "dadd", "dmul", "dsub", "double2int",
     "double2ll", "double2uint", "double2ull", "float2double", "int2double", "ll2double",
     "uint2double", "ull2double", "cyl_bessel_i0f", "cyl_bessel_i1f", "j0f", "j1f", "jnf", "y0f",
     "y1f", "ynf", "memcpy", "memset", "memmove", "print", "brev", "popc", "popcll", "brevll",
     "clz", "clzll", "ffs", "ffsll", "float_as_int", "int_as_float", "float2int", "int2float",
     "umulhi", "mul64hi", "umul64hi", "trap"});

constexpr auto cuda_family_list = std::to_array<std::string_view>(
    {// how names of many more begin
     "op2_", "atomic", "cuda", "make_char", "make_uchar", "make_short", "make_ushort", "make_int",
     "make_uint", "make_long", "make_ulong", "make_float", "make_double", "syncthreads_", "surf1D",
     "surf2D", "surf3D", "surfCubemap", "tex1D", "tex2D", "tex3D", "texCubemap", "nvcuda", "nv_",
     // of HIP
     "hip", "amd_"});

// how functions begin that generated loops call
constexpr auto opencl_call_list =
    std::to_array<std::string_view>({"op2_", "get_global_", "get_group_id", "get_local_",
                                     "get_num_groups", "atom_", "atomic_", "barrier"});

constexpr auto cuda_call_list = std::to_array<std::string_view>({"op2_", "atomic"});

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool begins_with_one_of(std::span<const std::string_view> families, std::string_view name) {
  return std::ranges::any_of(families,
                             [name](std::string_view family) { return name.starts_with(family); });
}

}  // namespace

bool Vocabulary::is_word(std::string_view name) const {
  return is_one_of(words, name) || begins_with_one_of(reserved, name);
}

bool Vocabulary::is_function(std::string_view name) const {
  return is_one_of(functions, name) || begins_with_one_of(families, name);
}

bool Vocabulary::is_called(std::string_view name) const {
  return begins_with_one_of(called, name);
}

const Vocabulary& opencl_vocabulary() {
  static const Vocabulary made{opencl_word_list, opencl_reserved_list, opencl_function_list,
                               opencl_family_list, opencl_call_list};
  return made;
}

const Vocabulary& cuda_vocabulary() {
  static const Vocabulary made{cuda_word_list, cuda_reserved_list, cuda_function_list,
                               cuda_family_list, cuda_call_list};
  return made;
}

}  // namespace op2::cg
