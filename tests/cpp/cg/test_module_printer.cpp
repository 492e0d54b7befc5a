// SPDX-License-Identifier: BSD-3-Clause
#include "cg/module_printer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "../jit/support.hpp"
#include "../lower/loops.hpp"
#include "base/error.hpp"
#include "jit/probe.hpp"
#include "jit/process.hpp"
#include "unit_text.hpp"

namespace op2::cg {
namespace {

using lower::Strategy;
using lower::testing::edge_loop;
using lower::testing::indirect;
using lower::testing::lowered;
using lower::testing::make_loop;

constexpr Strategy all_strategies[] = {Strategy::direct, Strategy::owner, Strategy::scratch,
                                       Strategy::atomic, Strategy::block, Strategy::colour};

std::string printed_module(const kir::Module& module, const std::string& linkage = "") {
  Context context(c_dialect());
  print_module(context, module, {"res"}, linkage);
  return context.finish();
}

/// The statements of a launch function that has only @p block, without the frame around them.
std::string statements(kir::Block block) {
  kir::Module module;
  module.kernels = {edge_loop().members[0].kernel};
  module.launch_name = "launch";
  module.launch = std::move(block);
  const std::string text = printed_module(module);
  const std::string before = "  (void)argc;\n";
  const std::string after = "  return 0;\n";
  const std::size_t begin = text.find(before) + before.size();
  return text.substr(begin, text.rfind(after) - begin);
}

/// An expression as it is printed.
std::string module_text(kir::Expr expr) {
  const std::string text = statements({{kir::CallUser{{std::move(expr)}}}});
  return text.substr(6, text.size() - 6 - 3);  // "  res(" and ");\n"
}

std::size_t n_times(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(PrintModule, LoopsMayStepByAVariableAndStayLoops) {
  kir::For loop{kir::Axis::serial, "row", kir::integer(0), kir::name("end"), {}};
  loop.step_name = "live";
  EXPECT_EQ(statements({{loop}}), "  for (long row = 0; row < end; row += live) {\n  }\n");
  loop.is_rolled = true;
  EXPECT_EQ(statements({{loop}}),
            "  op2_rolled for (long row = 0; row < end; row += live) {\n  }\n");
}

TEST(PrintModule, LanesThatAVariableAsksForAreReadInMemory) {
  const auto stored = [](DType dtype, const kir::Expr& lane) {
    const std::string text =
        statements({{kir::Decl{{dtype, false, false, 4}, "pack", 2, {}}},
                    {kir::Assign{kir::element("y", kir::integer(0)), kir::Update::set,
                                 kir::lane_of("pack", kir::integer(1), lane)}}});
    return text.substr(text.find("y[0] = "));
  };
  EXPECT_EQ(stored(DType::float64, kir::name("lane")), "y[0] = ((double *)pack)[4 + lane];\n");
  EXPECT_EQ(stored(DType::float64, kir::integer(3)), "y[0] = pack[1][3];\n");
  EXPECT_NE(stored(DType::complex128, kir::name("lane")).find("((double *)&pack[1].im)[lane]"),
            std::string::npos);
}

TEST(PrintModule, AnArrayOfPointersStaysInMemory) {
  EXPECT_EQ(statements({{kir::Decl{{DType::float64, true, true}, "x_rows", 8, {}}}}),
            "  const double *volatile x_rows[8];\n");
}

// ------------------------------------------------------------------------------------ golden text

TEST(PrintModule, ABlockLoop) {
  EXPECT_EQ(printed_module(lowered(
                make_loop({indirect("y", Access::inc, 0)}, lower::testing::edges_to_nodes()),
                Strategy::block)),
            R"(static __attribute__((noinline)) void wrap_res(long begin, long end,
    double *__restrict__ y,
    const int *__restrict__ y_map) {
  for (long n = begin; n < end; ++n) {
    double y_pack[2] = {0};
    res(y_pack);
    double *y_pack_to0 = y + (long)y_map[n * 2];
    y_pack_to0[0] += y_pack[0];
    double *y_pack_to1 = y + (long)y_map[n * 2 + 1];
    y_pack_to1[0] += y_pack[1];
  }
}

#define OP2_ONE_THREAD 1u
#define OP2_IN_TEAM 2u
struct op2_team_v1 { int thread; int n_threads; void (*wait)(void); };
int op2_thread_number(void) __asm__("omp_get_thread_num");
int op2_n_in_team(void) __asm__("omp_get_num_threads");

static __attribute__((noinline)) void op2_launch_res_stage(
    const struct op2_context_v1 *context, long begin, long end, void *const *argv, long thread, long n_threads) {
  // What one of n_threads threads does.
  (void)context;
  (void)argv;
  double *const y = (double *)argv[0];
  const int *const y_map = (const int *)argv[1];
  // sizes [1 or 2]: colours; or rows, and padded columns of a row
  const long *const sizes = (const long *)argv[2];
  // colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
  const long *const colour_offset = (const long *)argv[3];
  // block_of [n_blocks]: blocks by colour
  const long *const block_of = (const long *)argv[4];
  // block_offset [n_blocks + 1]: where the elements of each block begin
  const long *const block_offset = (const long *)argv[5];
  // One colour after the other: what one has updates no target twice.
  for (long colour = 0; colour < sizes[0]; ++colour) {
    const long first = (colour_offset[colour] < begin ? begin : colour_offset[colour]);
    const long last = (colour_offset[colour + 1] < end ? colour_offset[colour + 1] : end);
    for (long k = first + (last - first) * thread / n_threads,
        past = first + (last - first) * (thread + 1) / n_threads; k < past; ++k) {
      const long block = block_of[k];
      wrap_res(block_offset[block], block_offset[block + 1], y, y_map);
    }
    if (context->flags == OP2_IN_TEAM) {
      ((const struct op2_team_v1 *)context->parameters)->wait();
    } else if (n_threads > 1) {
      #pragma omp barrier
    }
  }
}

int op2_launch_res(const struct op2_context_v1 *context, long begin, long end,
    void *const *argv, unsigned int argc) {
  (void)argc;
  if (context->flags == OP2_ONE_THREAD) {
    op2_launch_res_stage(context, begin, end, argv, 0, 1);
  } else if (context->flags == OP2_IN_TEAM) {
    const struct op2_team_v1 *team = (const struct op2_team_v1 *)context->parameters;
    op2_launch_res_stage(context, begin, end, argv, team->thread, team->n_threads);
    team->wait();
  } else {
    #pragma omp parallel num_threads(context->n_threads)
    {
      op2_launch_res_stage(context, begin, end, argv, op2_thread_number(), op2_n_in_team());
    }
  }
  return 0;
}
)");
}

TEST(PrintModule, NeedsAnExpandedModule) {
  Context context(c_dialect());
  const kir::Module module =
      lowered(edge_loop(), Strategy::direct, lower::testing::threads, lower::Stage::layout);
  EXPECT_THROW(print_module(context, module, {"res"}, ""), InternalError);
}

TEST(PrintModule, OneLaneSaysNothingOfThreads) {
  for (const Strategy strategy : all_strategies) {
    const std::string text =
        printed_module(lowered(edge_loop(), strategy, lower::testing::one_lane));
    EXPECT_EQ(text.find("#pragma"), std::string::npos) << text;
  }
}

TEST(PrintModule, LinkageStandsBeforeTheLaunchFunctionOnly) {
  const kir::Module module = lowered(edge_loop(), Strategy::block);
  EXPECT_EQ(printed_module(module).find("extern"), std::string::npos);
  const std::string text = printed_module(module, "extern \"C\" ");
  EXPECT_EQ(n_times(text, "extern \"C\""), 1U);
  EXPECT_NE(text.find("\nextern \"C\" int op2_launch_res(const struct op2_context_v1 *context, "),
            std::string::npos)
      << text;
}

TEST(PrintModule, CallsTheKernelByTheNameItGot) {
  Context context(c_dialect());
  print_module(context, lowered(edge_loop(), Strategy::direct), {"res_1"}, "");
  EXPECT_NE(context.finish().find("res_1(x_pack, y_pack);"), std::string::npos);
}

TEST(PrintModule, AnArrayStartsAtZeroInOneInitialiser) {
  EXPECT_EQ(statements({{kir::Decl{{DType::complex64}, "p", 3, {kir::integer(0)}}}}),
            "  float _Complex p[3] = {0};\n");
}

TEST(PrintModule, MemoryFromScratchIsCastForCxx) {
  EXPECT_EQ(statements({{kir::Decl{{DType::float64, false, true},
                                   "sums",
                                   0,
                                   {kir::scratch_at(kir::name("begin") * kir::integer(64))}}}}),
            "  double *sums = (double *)((char *)context->scratch + begin * 64);\n");
}

// ------------------------------------------------------------------------------------ expressions

TEST(PrintExpression, ParenthesesOnlyWhereTheyAreNeeded) {
  const kir::Expr a = kir::name("a");
  const kir::Expr b = kir::name("b");
  const kir::Expr c = kir::name("c");
  EXPECT_EQ(module_text(a + b * c), "a + b * c");
  EXPECT_EQ(module_text((a + b) * c), "(a + b) * c");
  EXPECT_EQ(module_text(a - b - c), "a - b - c");
  EXPECT_EQ(module_text(a - (b - c)), "a - (b - c)");
  EXPECT_EQ(module_text(a - (b + c)), "a - (b + c)");
  EXPECT_EQ(module_text(a * b / c), "a * b / c");
  EXPECT_EQ(module_text(a * (b / c)), "a * (b / c)");
  EXPECT_EQ(module_text(kir::less(a + b, c)), "a + b < c");
  EXPECT_EQ(module_text(kir::equal(kir::less(a, b), c)), "a < b == c");
}

TEST(PrintExpression, ChoicesAreClosedInThemselves) {
  const kir::Expr a = kir::name("a");
  const kir::Expr b = kir::name("b");
  EXPECT_EQ(module_text(kir::minimum(a + kir::integer(1), b) * kir::integer(2)),
            "(a + 1 < b ? a + 1 : b) * 2");
  EXPECT_EQ(module_text(kir::select(kir::less(a, b), b, a) - a), "(a < b ? b : a) - a");
  EXPECT_EQ(module_text(kir::minimum(kir::minimum(a, b), kir::integer(3))),
            "((a < b ? a : b) < 3 ? (a < b ? a : b) : 3)");
}

TEST(PrintExpression, AddressesCastsAndBuiltins) {
  const kir::Expr n = kir::name("n");
  EXPECT_EQ(module_text(kir::offset("x", n * kir::integer(4))), "x + n * 4");
  EXPECT_EQ(module_text(kir::element("x", kir::element("m", n) + kir::integer(1))), "x[m[n] + 1]");
  EXPECT_EQ(module_text(kir::widen(kir::element("m", n)) * kir::integer(4)), "(long)m[n] * 4");
  EXPECT_EQ(module_text(kir::widen(n + kir::integer(1))), "(long)(n + 1)");
  EXPECT_EQ(module_text(kir::builtin(kir::Builtin::n_threads)), "context->n_threads");
  EXPECT_EQ(module_text(kir::scratch_at(n + kir::integer(8))),
            "((char *)context->scratch + n + 8)");
}

// ---------------------------------------------------------------------------------------- atomics

kir::Stmt atomic(DType dtype, kir::Update update = kir::Update::add) {
  return {kir::Atomic{dtype, kir::element("x", kir::name("begin")), update,
                      kir::element("p", kir::integer(1))}};
}

std::string with_atomics(kir::Block block) {
  kir::Module module;
  module.kernels = {edge_loop().members[0].kernel};
  module.launch_name = "launch";
  module.launch = std::move(block);
  return printed_module(module);
}

TEST(PrintAtomics, AHelperIsWrittenOnceForEachTypeAndOperation) {
  const std::string text =
      with_atomics({atomic(DType::float64), atomic(DType::float64),
                    atomic(DType::float64, kir::Update::min), atomic(DType::int32)});
  EXPECT_EQ(n_times(text, "static inline void op2_atomic_add_float64("), 1U);
  EXPECT_EQ(n_times(text, "static inline void op2_atomic_min_float64("), 1U);
  EXPECT_EQ(n_times(text, "static inline void op2_atomic_add_int32(int *target, int value)"), 1U);
  EXPECT_EQ(n_times(text, "op2_atomic_add_float64(&x[begin], p[1]);"), 2U);
  EXPECT_LT(text.find("static inline void op2_atomic"), text.find("int launch("));
}

TEST(PrintAtomics, EachOperationCombinesInItsWay) {
  const auto combines = [](kir::Update update, const std::string& how) {
    const std::string text = with_atomics({atomic(DType::int64, update)});
    EXPECT_NE(text.find("wanted = (long)(" + how + ");"), std::string::npos) << text;
  };
  combines(kir::Update::add, "seen + value");
  combines(kir::Update::min, "value < seen ? value : seen");
  combines(kir::Update::max, "seen < value ? value : seen");
}

TEST(PrintAtomics, AComplexSumIsTwoSums) {
  const std::string text = with_atomics({atomic(DType::complex128)});
  EXPECT_NE(text.find("  op2_atomic_add_float64((double *)&x[begin], __real__ p[1]);\n"
                      "  op2_atomic_add_float64((double *)&x[begin] + 1, __imag__ p[1]);\n"),
            std::string::npos)
      << text;
  EXPECT_NE(with_atomics({atomic(DType::complex64)}).find("op2_atomic_add_float32((float *)"),
            std::string::npos);
}

// ------------------------------------------------------------------------------------------ grids

/// A launched function that takes a pointer and a number and has @p body.
std::string printed_kernel(const Dialect& dialect, kir::Block body) {
  kir::Module module;
  module.kernels = {edge_loop().members[0].kernel};
  module.launch_name = "launch";
  module.functions = {{"wrap_res",
                       {{"x", {DType::float64, false, true}, true, kir::Role::data, 0},
                        {"end", {DType::int64}, false, kir::Role::local, 0}},
                       std::move(body),
                       true}};
  Context context(dialect);
  print_module(context, module, {"res"}, "");
  return context.finish();
}

kir::Block striding_body() {
  using kir::Axis;
  const kir::Expr end = kir::name("end");
  return {
      {kir::Decl{{DType::float64}, "shared", 32, {}, kir::Storage::block}},
      {kir::For{Axis::grid, "n", kir::integer(2), end, {}}},
      {kir::For{
          Axis::lane, "k", kir::integer(0), kir::integer(256), {{kir::Barrier{}}}, DType::int32}},
      {kir::For{Axis::block, "block", kir::integer(0), end, {}}}};
}

TEST(PrintKernel, StridesOverTheGridInOpenCl) {
  EXPECT_EQ(printed_kernel(opencl_dialect(), striding_body()),
            R"(__kernel void wrap_res(
    __global double *restrict x,
    long end) {
  __local double shared[32];
  for (long n = 2 + (int)get_global_id(0); n < end; n += (int)get_global_size(0)) {
  }
  for (int k = (int)get_local_id(0); k < 256; k += (int)get_local_size(0)) {
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  for (long block = (int)get_group_id(0); block < end; block += (int)get_num_groups(0)) {
  }
}
)");
}

TEST(PrintKernel, StridesOverTheGridInCuda) {
  EXPECT_EQ(printed_kernel(cuda_dialect(), striding_body()),
            R"(extern "C" __global__ void wrap_res(
    double *__restrict__ x,
    long end) {
  op2_start();
  x = (double *)__builtin_assume_aligned(x, 16);
  __shared__ double shared[32];
  #pragma unroll 1
  for (long n = 2 + (int)(blockIdx.x * blockDim.x + threadIdx.x); n < end; n += (int)(gridDim.x * blockDim.x)) {
  }
  for (int k = (int)threadIdx.x; k < 256; k += (int)blockDim.x) {
    __syncthreads();
  }
  for (long block = (int)blockIdx.x; block < end; block += (int)gridDim.x) {
  }
}
)");
}

TEST(PrintKernel, LargeMemoryOfABlockIsGivenByLaunches) {
  const auto with = [](int extent) -> kir::Block {
    using kir::Storage;
    return {{kir::Decl{{DType::float32}, "flag", 0, {}, Storage::block}},
            {kir::Decl{{DType::float64}, "shared", extent, {}, Storage::block}},
            {kir::Assign{kir::element("shared", kir::integer(1)), kir::Update::set,
                         kir::name("flag")}}};
  };
  EXPECT_EQ(printed_kernel(cuda_dialect(), with(6143)),
            R"(extern "C" __device__ const int op2_shared_wrap_res = 49168;
extern "C" __global__ void wrap_res(
    double *__restrict__ x,
    long end) {
  op2_start();
  x = (double *)__builtin_assume_aligned(x, 16);
  extern __shared__ double2 op2_block[];
  float *const flag = (float *)((char *)op2_block + 0);
  double *const shared = (double *)((char *)op2_block + 16);
  shared[1] = flag;
}
)");
  const std::string small = printed_kernel(cuda_dialect(), with(6142));
  EXPECT_TRUE(contains(small, "__shared__ double shared[6142];"));
  EXPECT_FALSE(contains(small, "op2_block"));
  EXPECT_TRUE(
      contains(printed_kernel(opencl_dialect(), with(100000)), "__local double shared[100000];"));
}

TEST(PrintKernel, ExchangesRegisters) {
  const kir::Expr lane = kir::builtin(kir::Builtin::lane_id) % kir::integer(4);
  const std::string text = printed_kernel(
      cuda_dialect(), {{kir::Decl{{DType::float64}, "v", 0, {}}},
                       {kir::Assign{kir::name("v"), kir::Update::set,
                                    kir::shuffle(kir::name("v"), lane + kir::integer(1), 4)}}});
  EXPECT_NE(text.find("v = __shfl_sync(0xffffffffu, v, (int)threadIdx.x % 4 + 1, 4);"),
            std::string::npos)
      << text;
}

TEST(PrintKernel, TheLastBlockKnowsThatItIs) {
  const std::string text =
      printed_kernel(cuda_dialect(), {{kir::Intrinsic{kir::Instruction::arrive,
                                                      {kir::name("is_last"), kir::name("n"),
                                                       kir::builtin(kir::Builtin::n_blocks)}}}});
  EXPECT_NE(text.find("  is_last = op2_is_last(n, (int)gridDim.x);\n"), std::string::npos) << text;
}

TEST(PrintKernel, IndicesOfOneWordAreFetched) {
  const std::string text = printed_kernel(
      cuda_dialect(),
      {{kir::Decl{{DType::int32}, "row", 4, {}}},
       {kir::Intrinsic{kir::Instruction::fetch,
                       {kir::name("row"), kir::offset("map", kir::name("end") * kir::integer(4))},
                       {DType::int32},
                       4}}});
  EXPECT_NE(text.find("  op2_fetch<4>(row, map + end * 4);\n"), std::string::npos) << text;
}

TEST(PrintKernel, PointersSayWhichMemoryTheyReach) {
  const std::string text = printed_kernel(
      opencl_dialect(),
      {{kir::Decl{{DType::float64, true, true}, "row", 0, {kir::offset("x", kir::name("end"))}}}});
  EXPECT_NE(text.find("  __global const double *row = x + end;\n"), std::string::npos) << text;
}

// ---------------------------------------------------------------------------- what compilers say

/// What the compiler has to say about @p text; nothing if it is content. A kernel need not use what
/// it is handed.
std::string complaints(jit::Language language, const std::string& text,
                       std::vector<std::string> flags) {
  const jit::testing::TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / ("loop" + jit::source_suffix(language));
  jit::testing::write_file(path, text);
  std::vector<std::string> command = jit::find_compiler(language, "");
  flags.insert(flags.end(), {"-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
                             "-fsyntax-only", path.string()});
  command.insert(command.end(), flags.begin(), flags.end());
  const jit::ProcessResult result = jit::run_process(command, {}, {60.0, {}});
  return result.exit_code == 0 ? "" : result.output + "\n" + text;
}

/// Kernel, wrappers and launch: all that is compiled.
std::string whole_text(const ir::Loop& loop, Strategy strategy, const std::string& linkage = "") {
  return testing::unit_text(
      print_source(lowered(loop, strategy), c_dialect(), /*line_markers=*/false, linkage));
}

/// Arguments of every kind and of types that C and C++ treat differently.
ir::Loop varied_loop() {
  return make_loop(
      {indirect("y", Access::inc, 0, 2),
       indirect("z", Access::inc, 0, 1, lower::testing::own_data, DType::complex128),
       indirect("m", Access::max, 0, 1, lower::testing::own_data, DType::int8),
       indirect("x", Access::read, 0, 80), lower::testing::direct("d", Access::read),
       lower::testing::global_read("g"), lower::testing::global_reduce("s", Access::inc),
       lower::testing::global_reduce("u", Access::min, 2, DType::uint16)},
      {{2, 0}});
}

TEST(PrintedText, IsCAndCxxWithoutWarnings) {
  for (const Strategy strategy : all_strategies) {
    EXPECT_EQ(
        complaints(jit::Language::c, whole_text(varied_loop(), strategy), {"-std=c11", "-fopenmp"}),
        "")
        << name_of(strategy);
  }
  for (const Strategy strategy : {Strategy::atomic, Strategy::scratch}) {
    const std::string text = whole_text(varied_loop(), strategy, "extern \"C\" ");
    EXPECT_EQ(complaints(jit::Language::cxx, text, {"-fopenmp"}), "") << name_of(strategy);
  }
}

TEST(PrintedText, CompilesWhateverTheKernelIsCalled) {
  for (const std::string name : {"n", "k", "t", "o", "c", "target", "block", "first", "slot"}) {
    const ir::Loop loop = lower::testing::make_loop_of(
        name, {indirect("y", Access::inc, 0)}, lower::testing::edges_to_nodes(),
        [](int) { return lower::testing::literal("1.0"); });
    for (const Strategy strategy : {Strategy::block, Strategy::owner, Strategy::colour}) {
      const std::string text = whole_text(loop, strategy);
      EXPECT_EQ(complaints(jit::Language::c, text, {"-std=c11", "-fopenmp"}), "")
          << "kernel '" << name << "', strategy " << name_of(strategy);
    }
  }
}

// -------------------------------------------------------------------------------------------- ABI

/// The members of `struct op2_context_v1` in @p text, whatever the comments and blanks.
std::string members_in(const std::string& text) {
  const std::string code =
      std::regex_replace(text, std::regex("/\\*[^*]*\\*+([^/*][^*]*\\*+)*/"), "");
  const std::size_t begin = code.find("struct op2_context_v1 {");
  if (begin == std::string::npos) return "";
  const std::string members = code.substr(begin, code.find("};", begin) - begin);
  const std::string stars = std::regex_replace(members, std::regex("\\s*\\*\\s*"), " *");
  return std::regex_replace(stars, std::regex("\\s+"), " ");
}

std::string abi_header() {
  return jit::testing::read_file(std::filesystem::path(__FILE__).parent_path() /
                                 "../../../cpp/base/abi.h");
}

TEST(Abi, GeneratedCodeDeclaresTheContextAsTheHeaderDoes) {
  const std::string members = members_in(abi_header());
  EXPECT_EQ(std::count(members.begin(), members.end(), ';'), 7) << members;
  EXPECT_EQ(members_in(testing::launch_context_declaration()), members);
}

TEST(Abi, GeneratedCodeDefinesALaunchOfTheHeadersType) {
  // The header's own structs are renamed away, then the two must be the same, member by member.
  // Its flags are macros, so compilers complain if others are defined.
  const std::string renamed = "#define op2_team_v1 generated_team\n";
  std::string text = abi_header() + renamed + "#define op2_context_v1 generated_context\n";
  text += whole_text(edge_loop(), Strategy::block);
  text += "#undef op2_context_v1\n#undef op2_team_v1\n#include <stddef.h>\n";
  for (const std::string member : {"thread", "n_threads", "wait"}) {
    text += "_Static_assert(offsetof(struct op2_team_v1, " + member +
            ") == offsetof(struct generated_team, " + member + "), \"" + member + "\");\n";
  }
  for (const std::string member :
       {"queue", "scratch", "scratch_bytes", "parameters", "error", "n_threads", "flags"}) {
    text += "_Static_assert(offsetof(struct op2_context_v1, " + member +
            ") == offsetof(struct generated_context, " + member + "), \"" + member + "\");\n";
  }
  text +=
      "_Static_assert(sizeof(struct op2_context_v1) == sizeof(struct generated_context), \"\");\n";
  EXPECT_EQ(complaints(jit::Language::c, text, {"-std=c11", "-fopenmp"}), "");
  // The function itself, against the header's type.
  std::string launch = whole_text(edge_loop(), Strategy::block);
  const std::string declared = testing::launch_context_declaration();
  launch.erase(launch.find("struct op2_context_v1 {"), declared.size());
  EXPECT_EQ(
      complaints(jit::Language::c,
                 abi_header() + renamed + launch + "const op2_launch_v1 check = op2_launch_res;\n",
                 {"-std=c11", "-fopenmp"}),
      "");
}

}  // namespace
}  // namespace op2::cg
