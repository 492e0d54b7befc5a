// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/repetition.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/error.hpp"

namespace op2::runtime::cuda {
namespace {

constexpr int least_driver = 12040;

// Written in PTX, because NVRTC may be newer than the driver, which then takes its machine code but
// not its PTX, and only PTX may call a function that the driver itself has.
const char* const code = R"ptx(
.version 6.0
.target sm_50
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.func (.param .f64 result) op2_side(.param .b64 memory, .param .f64 number, .param .b32 kind)
{
  .reg .pred %is;
  .reg .b32 %kind, %i;
  .reg .b64 %at;
  .reg .f32 %s;
  .reg .f64 %d;
  ld.param.u64 %at, [memory];
  ld.param.f64 %d, [number];
  ld.param.u32 %kind, [kind];
  setp.eq.u32 %is, %kind, 1;
  @%is ld.global.f64 %d, [%at];
  setp.ne.u32 %is, %kind, 2;
  @%is bra signed;
  ld.global.f32 %s, [%at];
  cvt.f64.f32 %d, %s;
signed:
  setp.ne.u32 %is, %kind, 3;
  @%is bra unsigned;
  ld.global.s32 %i, [%at];
  cvt.rn.f64.s32 %d, %i;
unsigned:
  setp.ne.u32 %is, %kind, 4;
  @%is bra known;
  ld.global.u32 %i, [%at];
  cvt.rn.f64.u32 %d, %i;
known:
  st.param.f64 [result], %d;
  ret;
}

.visible .entry op2_decide(
  .param .u64 handle, .param .u64 passes, .param .u64 left, .param .u64 right,
  .param .f64 left_number, .param .f64 right_number, .param .u64 mode, .param .u64 most)
{
  .reg .pred %holds, %is_equal, %or_equal, %is_left;
  .reg .b32 %n, %most, %mode, %kind, %value;
  .reg .b64 %at, %handle;
  .reg .f64 %a, %b;
  ld.param.u64 %at, [passes];
  ld.global.u32 %n, [%at];
  add.u32 %n, %n, 1;
  st.global.u32 [%at], %n;
  ld.param.u32 %mode, [mode];
  {
    .param .b64 memory;
    .param .f64 number;
    .param .b32 side;
    .param .f64 found;
    ld.param.u64 %at, [left];
    ld.param.f64 %a, [left_number];
    and.b32 %kind, %mode, 15;
    st.param.b64 [memory], %at;
    st.param.f64 [number], %a;
    st.param.b32 [side], %kind;
    call.uni (found), op2_side, (memory, number, side);
    ld.param.f64 %a, [found];
  }
  {
    .param .b64 memory;
    .param .f64 number;
    .param .b32 side;
    .param .f64 found;
    ld.param.u64 %at, [right];
    ld.param.f64 %b, [right_number];
    shr.u32 %kind, %mode, 4;
    and.b32 %kind, %kind, 15;
    st.param.b64 [memory], %at;
    st.param.f64 [number], %b;
    st.param.b32 [side], %kind;
    call.uni (found), op2_side, (memory, number, side);
    ld.param.f64 %b, [found];
  }
  setp.gt.f64 %holds, %a, %b;
  setp.eq.f64 %is_equal, %a, %b;
  and.b32 %kind, %mode, 256;
  setp.ne.u32 %or_equal, %kind, 0;
  and.pred %is_equal, %is_equal, %or_equal;
  or.pred %holds, %holds, %is_equal;
  ld.param.u32 %most, [most];
  setp.lt.u32 %is_left, %n, %most;
  and.pred %holds, %holds, %is_left;
  selp.u32 %value, 1, 0, %holds;
  ld.param.u64 %handle, [handle];
  {
    .param .b64 whose;
    .param .b32 what;
    st.param.b64 [whose], %handle;
    st.param.b32 [what], %value;
    call.uni cudaGraphSetConditional, (whose, what);
  }
  ret;
}
)ptx";

/// How the kernel reads a side.
std::uint64_t kind_of(const ComparedNumber& side) {
  if (side.memory == nullptr) return 0;
  switch (side.dtype) {
    case DType::float64:
      return 1;
    case DType::float32:
      return 2;
    case DType::int32:
      return 3;
    case DType::uint32:
      return 4;
    default:
      throw InternalError("a graph repeats itself by numbers of another type");
  }
}

}  // namespace

const char* deciding_code() {
  return code;
}

std::string Repetition::why_not(const Driver& driver) {
  int version = 0;
  (void)driver.driver_get_version(&version);
  const bool has_all = Capture::is_possible(driver) && driver.graph_create != nullptr &&
                       driver.graph_get_nodes != nullptr && driver.graph_add_node != nullptr &&
                       driver.graph_conditional_handle_create != nullptr &&
                       driver.stream_begin_capture_to_graph != nullptr;
  if (has_all && version >= least_driver) return "";
  return fmt::format("the driver is of CUDA {}; graphs repeat themselves from {} on",
                     version_text(version), version_text(least_driver));
}

Repetition::~Repetition() {
  if (is_capturing_) (void)end_capture();
  if (graph_ != nullptr) (void)context().driver().graph_destroy(graph_);
}

bool Repetition::is_done(Result result, const char* doing) {
  if (result == success) return true;
  refusal_ =
      fmt::format("the driver does not {} ({})", doing, describe(context().driver(), result));
  return false;
}

bool Repetition::begin() {
  const Driver& driver = context().driver();
  ContextHandle current = nullptr;
  GraphHandle body = nullptr;
  if (!is_done(driver.graph_create(&graph_, 0), "make a graph")) {
    graph_ = nullptr;
    return false;
  }
  return is_done(make_stream(), "make a stream") &&
         is_done(driver.ctx_get_current(&current), "name its context") &&
         is_done(driver.graph_conditional_handle_create(&handle_, graph_, current, 0, 0),
                 "make a condition") &&
         capture_into(graph_) && decide() && end_capture() && add_node(&body) && capture_into(body);
}

bool Repetition::capture_into(GraphHandle graph) {
  is_capturing_ = is_done(context().driver().stream_begin_capture_to_graph(
                              stream(), graph, nullptr, nullptr, 0, capture_relaxed),
                          "record into a graph");
  return is_capturing_;
}

bool Repetition::end_capture() {
  is_capturing_ = false;
  GraphHandle graph = nullptr;  // the one that was captured into
  return is_done(context().driver().stream_end_capture(stream(), &graph), "end a recording");
}

bool Repetition::decide() {
  const auto word = [](const void* memory) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(memory));
  };
  const ComparedNumber& left = condition_.left;
  const ComparedNumber& right = condition_.right;
  const std::uint64_t mode =
      kind_of(left) | kind_of(right) << 4U | std::uint64_t{condition_.or_equal} << 8U;
  std::array<std::uint64_t, 8> values = {handle_,
                                         word(decider_.n_done.get()),
                                         word(left.memory),
                                         word(right.memory),
                                         std::bit_cast<std::uint64_t>(left.value),
                                         std::bit_cast<std::uint64_t>(right.value),
                                         mode,
                                         static_cast<std::uint64_t>(condition_.most)};
  std::array<void*, 8> parameters{};
  for (std::size_t i = 0; i < values.size(); ++i) parameters[i] = &values[i];
  const auto& kernel = static_cast<const Kernel&>(decider_.program->kernel("op2_decide"));
  return is_done(context().driver().launch_kernel(kernel.function(), 1, 1, 1, 1, 1, 1, 0, stream(),
                                                  parameters.data(), nullptr),
                 "record who asks the condition");
}

/// Behind the one node that there is.
bool Repetition::add_node(GraphHandle* body) {
  const Driver& driver = context().driver();
  GraphNodeHandle first = nullptr;
  std::size_t n = 1;
  ConditionalNode node;
  node.handle = handle_;
  GraphNodeHandle added = nullptr;
  if (!is_done(driver.ctx_get_current(&node.context), "name its context") ||
      !is_done(driver.graph_get_nodes(graph_, &first, &n), "name a node") ||
      !is_done(driver.graph_add_node(&added, graph_, &first, nullptr, 1, &node),
               "add a node that repeats")) {
    return false;
  }
  if (n != 1 || node.graphs == nullptr) {
    refusal_ = "the driver's graph is not what was recorded";
    return false;
  }
  *body = node.graphs[0];
  return true;
}

std::unique_ptr<GraphRecording> Repetition::end() {
  GraphExecHandle made = nullptr;
  if (!is_capturing_ || !decide() || !end_capture() ||
      !is_done(context().driver().graph_instantiate(&made, graph_, 0), "take the graph")) {
    return nullptr;
  }
  return std::make_unique<RepeatedRecording>(shared_context(), made, take_loops(),
                                             std::exchange(graph_, nullptr), std::move(decider_));
}

}  // namespace op2::runtime::cuda
