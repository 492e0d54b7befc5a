/* pyop2cxx VERSION: layers, strategy scratch */

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

// Phase 1 of 2: The results of all elements are kept.
// Launched on lanes for (end - begin) items, or on fewer, which stride.
// y_scratch [(end - begin) * 4]: kept until the last launch
extern "C" __global__ void wrap_layers(
    const double *__restrict__ x,
    const int *__restrict__ x_map,
    const long *__restrict__ layers_1,
    double *__restrict__ y_scratch,
    long begin,
    long end) {
  x = (const double *)__builtin_assume_aligned(x, 16);
  x_map = (const int *)__builtin_assume_aligned(x_map, 16);
  layers_1 = (const long *)__builtin_assume_aligned(layers_1, 16);
  y_scratch = (double *)__builtin_assume_aligned(y_scratch, 16);
  #pragma unroll 1
  for (int position = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); position < end; position +=
      (int)(gridDim.x * blockDim.x)) {
    const int row = position / layers_1[0];
    const int n = row;
    const int level = layers_1[1] + (position - row * layers_1[0]);
    double x_pack[4];
    const int x_pack_from0 = x_map[n * 4] + level;
    op2_start();
    x_pack[0] = x[x_pack_from0];
    const int x_pack_from1 = x_map[n * 4 + 1] + level;
    x_pack[1] = x[x_pack_from1];
    const int x_pack_from2 = x_map[n * 4 + 2] + level;
    x_pack[2] = x[x_pack_from2];
    const int x_pack_from3 = x_map[n * 4 + 3] + level;
    x_pack[3] = x[x_pack_from3];
    double y_pack[4] = {0};
    layers(x_pack, y_pack);
    for (int c = 0; c < 4; ++c) {
      y_scratch[position * 4 + c] = y_pack[c];
    }
  }
}

// Phase 2 of 2: then each target sums what is its own, in the order of the elements.
// Launched on lanes for sizes[0] items, or on fewer, which stride,
// with begin = 0, end = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// y_scratch [(end - begin) * 4]: kept until the last launch
extern "C" __global__ void sum_layers(
    double *__restrict__ y,
    const long *__restrict__ incidence_offset,
    const int *__restrict__ incidence,
    const int *__restrict__ touched,
    const double *__restrict__ y_scratch,
    long begin,
    long end) {
  // incidence_offset [n_rows + 1]: where the incidences of each target begin
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  y = (double *)__builtin_assume_aligned(y, 16);
  incidence_offset = (const long *)__builtin_assume_aligned(incidence_offset, 16);
  incidence = (const int *)__builtin_assume_aligned(incidence, 16);
  touched = (const int *)__builtin_assume_aligned(touched, 16);
  y_scratch = (const double *)__builtin_assume_aligned(y_scratch, 16);
  #pragma unroll 1
  for (int t = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); t < end; t += (int)(gridDim.x * blockDim.x)) {
    const int target = (touched ? touched[t] : t);
    double y_own[1];
    y_own[0] = 0;
    op2_start();
    for (int k = incidence_offset[t]; k < incidence_offset[t + 1]; ++k) {
      const int position = incidence[k] / 4;
      const int o = incidence[k] - position * 4;
      y_own[0] += y_scratch[position * 4 + o];
    }
    y[target] += y_own[0];
  }
}
