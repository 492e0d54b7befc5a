// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/deciding_code.hpp"

namespace op2::runtime::cuda {
namespace {

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

}  // namespace

const char* deciding_code() {
  return code;
}

}  // namespace op2::runtime::cuda
