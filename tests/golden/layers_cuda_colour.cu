/* pyop2cxx VERSION: layers, strategy colour */

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

// One colour after the other: what one has updates no target twice.
// Launched for each colour in [0, sizes[0]) on lanes for (last - first) items, or on fewer, which stride,
// with begin = first, end = last.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
extern "C" __global__ void wrap_layers(
    const double *__restrict__ x,
    double *__restrict__ y,
    const int *__restrict__ x_map,
    const long *__restrict__ layers_1,
    const int *__restrict__ element,
    long begin,
    long end) {
  // element [n_elements]: elements by colour
  x = (const double *)__builtin_assume_aligned(x, 16);
  y = (double *)__builtin_assume_aligned(y, 16);
  x_map = (const int *)__builtin_assume_aligned(x_map, 16);
  layers_1 = (const long *)__builtin_assume_aligned(layers_1, 16);
  element = (const int *)__builtin_assume_aligned(element, 16);
  #pragma unroll 1
  for (int k = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); k < end; k += (int)(gridDim.x * blockDim.x)) {
    const int position = element[k];
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
    y_pack_to0[0] += y_pack[0];
    double *y_pack_to1 = y + x_map[n * 4 + 1] + level;
    y_pack_to1[0] += y_pack[1];
    double *y_pack_to2 = y + x_map[n * 4 + 2] + level;
    y_pack_to2[0] += y_pack[2];
    double *y_pack_to3 = y + x_map[n * 4 + 3] + level;
    y_pack_to3[0] += y_pack[3];
  }
}
