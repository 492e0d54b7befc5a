/* pyop2cxx VERSION: wide, strategy direct */

/* A kernel starts while the last blocks of the one before it run, and waits here for all they write. */
#if __CUDA_ARCH__ >= 900
extern "C" __device__ const char op2_waits = 1;
#endif
static __device__ inline void op2_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void wide(const double *x, double *y) {
  for (int i = 0; i < 8; ++i) {
    y[i] = x[7 - i];
  }
}

// Launched on lanes for (end - begin) items, or on fewer, which stride.
extern "C" __global__ void wrap_wide(
    const double *__restrict__ x,
    double *__restrict__ y,
    long begin,
    long end) {
  op2_start();
  x = (const double *)__builtin_assume_aligned(x, 16);
  y = (double *)__builtin_assume_aligned(y, 16);
  #pragma unroll 1
  for (int n = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); n < begin + (end - begin + 31) / 32 * 32; n +=
      (int)(gridDim.x * blockDim.x)) {
    double x_pack[8];
    double y_pack[8];
    const int x_pack_at0 = (n < end ? n * 8 : -1);
    double x_pack_lane0 = 0;
    const int x_pack_to = __shfl_sync(0xffffffffu, x_pack_at0, 0, 8);
    if (-1 < x_pack_to) {
      x_pack_lane0 = x[x_pack_to + (int)threadIdx.x % 8];
    }
    double x_pack_lane1 = 0;
    const int x_pack_to_1 = __shfl_sync(0xffffffffu, x_pack_at0, 1, 8);
    if (-1 < x_pack_to_1) {
      x_pack_lane1 = x[x_pack_to_1 + (int)threadIdx.x % 8];
    }
    double x_pack_lane2 = 0;
    const int x_pack_to_2 = __shfl_sync(0xffffffffu, x_pack_at0, 2, 8);
    if (-1 < x_pack_to_2) {
      x_pack_lane2 = x[x_pack_to_2 + (int)threadIdx.x % 8];
    }
    double x_pack_lane3 = 0;
    const int x_pack_to_3 = __shfl_sync(0xffffffffu, x_pack_at0, 3, 8);
    if (-1 < x_pack_to_3) {
      x_pack_lane3 = x[x_pack_to_3 + (int)threadIdx.x % 8];
    }
    double x_pack_lane4 = 0;
    const int x_pack_to_4 = __shfl_sync(0xffffffffu, x_pack_at0, 4, 8);
    if (-1 < x_pack_to_4) {
      x_pack_lane4 = x[x_pack_to_4 + (int)threadIdx.x % 8];
    }
    double x_pack_lane5 = 0;
    const int x_pack_to_5 = __shfl_sync(0xffffffffu, x_pack_at0, 5, 8);
    if (-1 < x_pack_to_5) {
      x_pack_lane5 = x[x_pack_to_5 + (int)threadIdx.x % 8];
    }
    double x_pack_lane6 = 0;
    const int x_pack_to_6 = __shfl_sync(0xffffffffu, x_pack_at0, 6, 8);
    if (-1 < x_pack_to_6) {
      x_pack_lane6 = x[x_pack_to_6 + (int)threadIdx.x % 8];
    }
    double x_pack_lane7 = 0;
    const int x_pack_to_7 = __shfl_sync(0xffffffffu, x_pack_at0, 7, 8);
    if (-1 < x_pack_to_7) {
      x_pack_lane7 = x[x_pack_to_7 + (int)threadIdx.x % 8];
    }
    const int x_pack_upper = (int)threadIdx.x % 2;
    const int x_pack_partner = (x_pack_upper ? (int)threadIdx.x % 8 - 1 : (int)threadIdx.x % 8 + 1);
    double x_pack_got = __shfl_sync(0xffffffffu, (x_pack_upper ? x_pack_lane0 : x_pack_lane1), x_pack_partner, 8);
    x_pack_lane0 = (x_pack_upper ? x_pack_got : x_pack_lane0);
    x_pack_lane1 = (x_pack_upper ? x_pack_lane1 : x_pack_got);
    double x_pack_got_1 = __shfl_sync(0xffffffffu, (x_pack_upper ? x_pack_lane2 : x_pack_lane3), x_pack_partner, 8);
    x_pack_lane2 = (x_pack_upper ? x_pack_got_1 : x_pack_lane2);
    x_pack_lane3 = (x_pack_upper ? x_pack_lane3 : x_pack_got_1);
    double x_pack_got_2 = __shfl_sync(0xffffffffu, (x_pack_upper ? x_pack_lane4 : x_pack_lane5), x_pack_partner, 8);
    x_pack_lane4 = (x_pack_upper ? x_pack_got_2 : x_pack_lane4);
    x_pack_lane5 = (x_pack_upper ? x_pack_lane5 : x_pack_got_2);
    double x_pack_got_3 = __shfl_sync(0xffffffffu, (x_pack_upper ? x_pack_lane6 : x_pack_lane7), x_pack_partner, 8);
    x_pack_lane6 = (x_pack_upper ? x_pack_got_3 : x_pack_lane6);
    x_pack_lane7 = (x_pack_upper ? x_pack_lane7 : x_pack_got_3);
    const int x_pack_upper_1 = (int)threadIdx.x / 2 % 2;
    const int x_pack_partner_1 = (x_pack_upper_1 ? (int)threadIdx.x % 8 - 2 : (int)threadIdx.x % 8 + 2);
    double x_pack_got_4 = __shfl_sync(0xffffffffu, (x_pack_upper_1 ? x_pack_lane0 : x_pack_lane2), x_pack_partner_1, 8);
    x_pack_lane0 = (x_pack_upper_1 ? x_pack_got_4 : x_pack_lane0);
    x_pack_lane2 = (x_pack_upper_1 ? x_pack_lane2 : x_pack_got_4);
    double x_pack_got_5 = __shfl_sync(0xffffffffu, (x_pack_upper_1 ? x_pack_lane1 : x_pack_lane3), x_pack_partner_1, 8);
    x_pack_lane1 = (x_pack_upper_1 ? x_pack_got_5 : x_pack_lane1);
    x_pack_lane3 = (x_pack_upper_1 ? x_pack_lane3 : x_pack_got_5);
    double x_pack_got_6 = __shfl_sync(0xffffffffu, (x_pack_upper_1 ? x_pack_lane4 : x_pack_lane6), x_pack_partner_1, 8);
    x_pack_lane4 = (x_pack_upper_1 ? x_pack_got_6 : x_pack_lane4);
    x_pack_lane6 = (x_pack_upper_1 ? x_pack_lane6 : x_pack_got_6);
    double x_pack_got_7 = __shfl_sync(0xffffffffu, (x_pack_upper_1 ? x_pack_lane5 : x_pack_lane7), x_pack_partner_1, 8);
    x_pack_lane5 = (x_pack_upper_1 ? x_pack_got_7 : x_pack_lane5);
    x_pack_lane7 = (x_pack_upper_1 ? x_pack_lane7 : x_pack_got_7);
    const int x_pack_upper_2 = (int)threadIdx.x / 4 % 2;
    const int x_pack_partner_2 = (x_pack_upper_2 ? (int)threadIdx.x % 8 - 4 : (int)threadIdx.x % 8 + 4);
    double x_pack_got_8 = __shfl_sync(0xffffffffu, (x_pack_upper_2 ? x_pack_lane0 : x_pack_lane4), x_pack_partner_2, 8);
    x_pack_lane0 = (x_pack_upper_2 ? x_pack_got_8 : x_pack_lane0);
    x_pack_lane4 = (x_pack_upper_2 ? x_pack_lane4 : x_pack_got_8);
    double x_pack_got_9 = __shfl_sync(0xffffffffu, (x_pack_upper_2 ? x_pack_lane1 : x_pack_lane5), x_pack_partner_2, 8);
    x_pack_lane1 = (x_pack_upper_2 ? x_pack_got_9 : x_pack_lane1);
    x_pack_lane5 = (x_pack_upper_2 ? x_pack_lane5 : x_pack_got_9);
    double x_pack_got_10 =
        __shfl_sync(0xffffffffu, (x_pack_upper_2 ? x_pack_lane2 : x_pack_lane6), x_pack_partner_2, 8);
    x_pack_lane2 = (x_pack_upper_2 ? x_pack_got_10 : x_pack_lane2);
    x_pack_lane6 = (x_pack_upper_2 ? x_pack_lane6 : x_pack_got_10);
    double x_pack_got_11 =
        __shfl_sync(0xffffffffu, (x_pack_upper_2 ? x_pack_lane3 : x_pack_lane7), x_pack_partner_2, 8);
    x_pack_lane3 = (x_pack_upper_2 ? x_pack_got_11 : x_pack_lane3);
    x_pack_lane7 = (x_pack_upper_2 ? x_pack_lane7 : x_pack_got_11);
    x_pack[0] = x_pack_lane0;
    x_pack[1] = x_pack_lane1;
    x_pack[2] = x_pack_lane2;
    x_pack[3] = x_pack_lane3;
    x_pack[4] = x_pack_lane4;
    x_pack[5] = x_pack_lane5;
    x_pack[6] = x_pack_lane6;
    x_pack[7] = x_pack_lane7;
    if (n < end) {
      wide(x_pack, y_pack);
    }
    const int y_pack_at0 = (n < end ? n * 8 : -1);
    double y_pack_lane0 = y_pack[0];
    double y_pack_lane1 = y_pack[1];
    double y_pack_lane2 = y_pack[2];
    double y_pack_lane3 = y_pack[3];
    double y_pack_lane4 = y_pack[4];
    double y_pack_lane5 = y_pack[5];
    double y_pack_lane6 = y_pack[6];
    double y_pack_lane7 = y_pack[7];
    const int y_pack_upper = (int)threadIdx.x % 2;
    const int y_pack_partner = (y_pack_upper ? (int)threadIdx.x % 8 - 1 : (int)threadIdx.x % 8 + 1);
    double y_pack_got = __shfl_sync(0xffffffffu, (y_pack_upper ? y_pack_lane0 : y_pack_lane1), y_pack_partner, 8);
    y_pack_lane0 = (y_pack_upper ? y_pack_got : y_pack_lane0);
    y_pack_lane1 = (y_pack_upper ? y_pack_lane1 : y_pack_got);
    double y_pack_got_1 = __shfl_sync(0xffffffffu, (y_pack_upper ? y_pack_lane2 : y_pack_lane3), y_pack_partner, 8);
    y_pack_lane2 = (y_pack_upper ? y_pack_got_1 : y_pack_lane2);
    y_pack_lane3 = (y_pack_upper ? y_pack_lane3 : y_pack_got_1);
    double y_pack_got_2 = __shfl_sync(0xffffffffu, (y_pack_upper ? y_pack_lane4 : y_pack_lane5), y_pack_partner, 8);
    y_pack_lane4 = (y_pack_upper ? y_pack_got_2 : y_pack_lane4);
    y_pack_lane5 = (y_pack_upper ? y_pack_lane5 : y_pack_got_2);
    double y_pack_got_3 = __shfl_sync(0xffffffffu, (y_pack_upper ? y_pack_lane6 : y_pack_lane7), y_pack_partner, 8);
    y_pack_lane6 = (y_pack_upper ? y_pack_got_3 : y_pack_lane6);
    y_pack_lane7 = (y_pack_upper ? y_pack_lane7 : y_pack_got_3);
    const int y_pack_upper_1 = (int)threadIdx.x / 2 % 2;
    const int y_pack_partner_1 = (y_pack_upper_1 ? (int)threadIdx.x % 8 - 2 : (int)threadIdx.x % 8 + 2);
    double y_pack_got_4 = __shfl_sync(0xffffffffu, (y_pack_upper_1 ? y_pack_lane0 : y_pack_lane2), y_pack_partner_1, 8);
    y_pack_lane0 = (y_pack_upper_1 ? y_pack_got_4 : y_pack_lane0);
    y_pack_lane2 = (y_pack_upper_1 ? y_pack_lane2 : y_pack_got_4);
    double y_pack_got_5 = __shfl_sync(0xffffffffu, (y_pack_upper_1 ? y_pack_lane1 : y_pack_lane3), y_pack_partner_1, 8);
    y_pack_lane1 = (y_pack_upper_1 ? y_pack_got_5 : y_pack_lane1);
    y_pack_lane3 = (y_pack_upper_1 ? y_pack_lane3 : y_pack_got_5);
    double y_pack_got_6 = __shfl_sync(0xffffffffu, (y_pack_upper_1 ? y_pack_lane4 : y_pack_lane6), y_pack_partner_1, 8);
    y_pack_lane4 = (y_pack_upper_1 ? y_pack_got_6 : y_pack_lane4);
    y_pack_lane6 = (y_pack_upper_1 ? y_pack_lane6 : y_pack_got_6);
    double y_pack_got_7 = __shfl_sync(0xffffffffu, (y_pack_upper_1 ? y_pack_lane5 : y_pack_lane7), y_pack_partner_1, 8);
    y_pack_lane5 = (y_pack_upper_1 ? y_pack_got_7 : y_pack_lane5);
    y_pack_lane7 = (y_pack_upper_1 ? y_pack_lane7 : y_pack_got_7);
    const int y_pack_upper_2 = (int)threadIdx.x / 4 % 2;
    const int y_pack_partner_2 = (y_pack_upper_2 ? (int)threadIdx.x % 8 - 4 : (int)threadIdx.x % 8 + 4);
    double y_pack_got_8 = __shfl_sync(0xffffffffu, (y_pack_upper_2 ? y_pack_lane0 : y_pack_lane4), y_pack_partner_2, 8);
    y_pack_lane0 = (y_pack_upper_2 ? y_pack_got_8 : y_pack_lane0);
    y_pack_lane4 = (y_pack_upper_2 ? y_pack_lane4 : y_pack_got_8);
    double y_pack_got_9 = __shfl_sync(0xffffffffu, (y_pack_upper_2 ? y_pack_lane1 : y_pack_lane5), y_pack_partner_2, 8);
    y_pack_lane1 = (y_pack_upper_2 ? y_pack_got_9 : y_pack_lane1);
    y_pack_lane5 = (y_pack_upper_2 ? y_pack_lane5 : y_pack_got_9);
    double y_pack_got_10 =
        __shfl_sync(0xffffffffu, (y_pack_upper_2 ? y_pack_lane2 : y_pack_lane6), y_pack_partner_2, 8);
    y_pack_lane2 = (y_pack_upper_2 ? y_pack_got_10 : y_pack_lane2);
    y_pack_lane6 = (y_pack_upper_2 ? y_pack_lane6 : y_pack_got_10);
    double y_pack_got_11 =
        __shfl_sync(0xffffffffu, (y_pack_upper_2 ? y_pack_lane3 : y_pack_lane7), y_pack_partner_2, 8);
    y_pack_lane3 = (y_pack_upper_2 ? y_pack_got_11 : y_pack_lane3);
    y_pack_lane7 = (y_pack_upper_2 ? y_pack_lane7 : y_pack_got_11);
    const int y_pack_to = __shfl_sync(0xffffffffu, y_pack_at0, 0, 8);
    if (-1 < y_pack_to) {
      y[y_pack_to + (int)threadIdx.x % 8] = y_pack_lane0;
    }
    const int y_pack_to_1 = __shfl_sync(0xffffffffu, y_pack_at0, 1, 8);
    if (-1 < y_pack_to_1) {
      y[y_pack_to_1 + (int)threadIdx.x % 8] = y_pack_lane1;
    }
    const int y_pack_to_2 = __shfl_sync(0xffffffffu, y_pack_at0, 2, 8);
    if (-1 < y_pack_to_2) {
      y[y_pack_to_2 + (int)threadIdx.x % 8] = y_pack_lane2;
    }
    const int y_pack_to_3 = __shfl_sync(0xffffffffu, y_pack_at0, 3, 8);
    if (-1 < y_pack_to_3) {
      y[y_pack_to_3 + (int)threadIdx.x % 8] = y_pack_lane3;
    }
    const int y_pack_to_4 = __shfl_sync(0xffffffffu, y_pack_at0, 4, 8);
    if (-1 < y_pack_to_4) {
      y[y_pack_to_4 + (int)threadIdx.x % 8] = y_pack_lane4;
    }
    const int y_pack_to_5 = __shfl_sync(0xffffffffu, y_pack_at0, 5, 8);
    if (-1 < y_pack_to_5) {
      y[y_pack_to_5 + (int)threadIdx.x % 8] = y_pack_lane5;
    }
    const int y_pack_to_6 = __shfl_sync(0xffffffffu, y_pack_at0, 6, 8);
    if (-1 < y_pack_to_6) {
      y[y_pack_to_6 + (int)threadIdx.x % 8] = y_pack_lane6;
    }
    const int y_pack_to_7 = __shfl_sync(0xffffffffu, y_pack_at0, 7, 8);
    if (-1 < y_pack_to_7) {
      y[y_pack_to_7 + (int)threadIdx.x % 8] = y_pack_lane7;
    }
  }
}
