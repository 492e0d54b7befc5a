/* pyop2cxx VERSION: layers, strategy block */

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

// Launched for each colour in [0, sizes[0]) in (last - first) blocks,
// with block_offset = first.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
extern "C" __global__ void wrap_layers(
    const double *__restrict__ x,
    double *__restrict__ y,
    const int *__restrict__ x_map,
    const long *__restrict__ layers_1,
    const int *__restrict__ blkmap,
    const long *__restrict__ offset,
    const int *__restrict__ nelems,
    const int *__restrict__ nthrcol,
    const int *__restrict__ thrcol,
    long block_offset) {
  // blkmap [n_blocks]: blocks by colour
  // offset [n_blocks]: the first element of each block
  // nelems [n_blocks]: elements of each block
  // nthrcol [n_blocks]: colours of the elements of each block
  // thrcol [n_elements]: the colour of an element within its block
  op2_start();
  x = (const double *)__builtin_assume_aligned(x, 16);
  y = (double *)__builtin_assume_aligned(y, 16);
  x_map = (const int *)__builtin_assume_aligned(x_map, 16);
  layers_1 = (const long *)__builtin_assume_aligned(layers_1, 16);
  blkmap = (const int *)__builtin_assume_aligned(blkmap, 16);
  offset = (const long *)__builtin_assume_aligned(offset, 16);
  nelems = (const int *)__builtin_assume_aligned(nelems, 16);
  nthrcol = (const int *)__builtin_assume_aligned(nthrcol, 16);
  thrcol = (const int *)__builtin_assume_aligned(thrcol, 16);
  const int block = blkmap[block_offset + (int)blockIdx.x];
  const int first = offset[block];
  const int last = first + nelems[block];
  for (int k = 0; k < (last - first + (int)blockDim.x - 1) / (int)blockDim.x; ++k) {
    const int position = first + k * (int)blockDim.x + (int)threadIdx.x;
    const int own_colour = (position < last ? thrcol[position] : -1);
    // Elements of one thread colour share no target.
    for (int colour = 0; colour < nthrcol[block]; ++colour) {
      if (own_colour == colour) {
        const int row = position / layers_1[0];
        const int n = row;
        const int level = layers_1[1] + (position - row * layers_1[0]);
        double x_pack[4];
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
      __syncthreads();
    }
  }
}
