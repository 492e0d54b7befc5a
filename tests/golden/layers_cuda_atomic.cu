/* pyop2cxx VERSION: layers, strategy atomic */

/* A kernel starts while the last blocks of the one before it run, and waits here for all they write. */
#if __CUDA_ARCH__ >= 900
extern "C" __device__ const char op2_waits = 1;
#endif
static __device__ inline void op2_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void layers(const double *x, double *y) {
  for (int i = 0; i < 4; ++i) {
    y[i] += x[i] - x[3 - i];
  }
}

// Launched on lanes for (end - begin) items, or on fewer, which stride.
extern "C" __global__ void wrap_layers(
    const double *__restrict__ x,
    double *__restrict__ y,
    const int *__restrict__ x_map,
    const long *__restrict__ layers_1,
    long begin,
    long end) {
  x = (const double *)__builtin_assume_aligned(x, 16);
  y = (double *)__builtin_assume_aligned(y, 16);
  x_map = (const int *)__builtin_assume_aligned(x_map, 16);
  layers_1 = (const long *)__builtin_assume_aligned(layers_1, 16);
  #pragma unroll 1
  for (int position = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); position < end; position +=
      (int)(gridDim.x * blockDim.x)) {
    const int row = position / layers_1[0];
    const int n = row;
    const int level = layers_1[1] + (position - row * layers_1[0]);
    double x_pack[4];
    op2_start();
    const double *x_pack_from0 = x + x_map[n * 4] + level;
    x_pack[0] = x_pack_from0[0];
    const double *x_pack_from1 = x + x_map[n * 4 + 1] + level;
    x_pack[1] = x_pack_from1[0];
    const double *x_pack_from2 = x + x_map[n * 4 + 2] + level;
    x_pack[2] = x_pack_from2[0];
    const double *x_pack_from3 = x + x_map[n * 4 + 3] + level;
    x_pack[3] = x_pack_from3[0];
    double y_pack[4] = {0};
    layers(x_pack, y_pack);
    double *y_pack_to0 = y + x_map[n * 4] + level;
    atomicAdd(&y_pack_to0[0], y_pack[0]);
    double *y_pack_to1 = y + x_map[n * 4 + 1] + level;
    atomicAdd(&y_pack_to1[0], y_pack[1]);
    double *y_pack_to2 = y + x_map[n * 4 + 2] + level;
    atomicAdd(&y_pack_to2[0], y_pack[2]);
    double *y_pack_to3 = y + x_map[n * 4 + 3] + level;
    atomicAdd(&y_pack_to3[0], y_pack[3]);
  }
}
