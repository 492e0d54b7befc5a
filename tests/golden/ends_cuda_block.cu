/* pyop2cxx VERSION: ends, strategy block */

/* A kernel starts while the last blocks of the one before it run, and waits here for all they write. */
#if __CUDA_ARCH__ >= 900
extern "C" __device__ const char op2_waits = 1;
#endif
static __device__ inline void op2_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void ends(double *r, double *last, const double *q) {
  for (int i = 0; i < 2; ++i) {
    r[i] += q[2 * i];
  }
  last[0] -= q[3];
}

// Launched for each colour in [0, sizes[0]) in (last - first) blocks,
// with block_offset = first.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
extern "C" __global__ void wrap_ends(
    double *__restrict__ r,
    const double *__restrict__ q,
    const int *__restrict__ r_map,
    const int *__restrict__ r_ind_map,
    const int *__restrict__ r_ind_map_1,
    const unsigned short *__restrict__ r_loc_map,
    const unsigned short *__restrict__ r_loc_map_1,
    const int *__restrict__ ind_sizes,
    const long *__restrict__ ind_offs,
    const int *__restrict__ blkmap,
    const long *__restrict__ offset,
    const int *__restrict__ nelems,
    const int *__restrict__ nthrcol,
    const int *__restrict__ thrcol,
    long block_offset) {
  // r_ind_map [n_staged of all blocks]: the targets of each block, ascending
  // r_ind_map_1 [n_staged of all blocks]: the targets of each block, ascending
  // r_loc_map [n_elements, arity]: where in its block's targets an entry is
  // r_loc_map_1 [n_elements, arity]: where in its block's targets an entry is
  // ind_sizes [n_blocks, n_lists]: targets of a block in a list
  // ind_offs [n_blocks, n_lists]: where they begin in the list
  // blkmap [n_blocks]: blocks by colour
  // offset [n_blocks]: the first element of each block
  // nelems [n_blocks]: elements of each block
  // nthrcol [n_blocks]: colours of the elements of each block
  // thrcol [n_elements]: the colour of an element within its block
  op2_start();
  r = (double *)__builtin_assume_aligned(r, 16);
  q = (const double *)__builtin_assume_aligned(q, 16);
  r_map = (const int *)__builtin_assume_aligned(r_map, 16);
  r_ind_map = (const int *)__builtin_assume_aligned(r_ind_map, 16);
  r_ind_map_1 = (const int *)__builtin_assume_aligned(r_ind_map_1, 16);
  r_loc_map = (const unsigned short *)__builtin_assume_aligned(r_loc_map, 16);
  r_loc_map_1 = (const unsigned short *)__builtin_assume_aligned(r_loc_map_1, 16);
  ind_sizes = (const int *)__builtin_assume_aligned(ind_sizes, 16);
  ind_offs = (const long *)__builtin_assume_aligned(ind_offs, 16);
  blkmap = (const int *)__builtin_assume_aligned(blkmap, 16);
  offset = (const long *)__builtin_assume_aligned(offset, 16);
  nelems = (const int *)__builtin_assume_aligned(nelems, 16);
  nthrcol = (const int *)__builtin_assume_aligned(nthrcol, 16);
  thrcol = (const int *)__builtin_assume_aligned(thrcol, 16);
  __shared__ double r_shared[512];
  __shared__ double r_shared_1[256];
  const int block = blkmap[block_offset + (int)blockIdx.x];
  const int first = offset[block];
  const int last = first + nelems[block];
  // What the block adds to its targets, in memory that its lanes share.
  for (int i = (int)threadIdx.x; i < ind_sizes[block * 2]; i += (int)blockDim.x) {
    r_shared[i] = 0;
  }
  for (int i = (int)threadIdx.x; i < ind_sizes[block * 2 + 1]; i += (int)blockDim.x) {
    r_shared_1[i] = 0;
  }
  __syncthreads();
  for (int k = 0; k < (last - first + (int)blockDim.x - 1) / (int)blockDim.x; ++k) {
    const int n = first + k * (int)blockDim.x + (int)threadIdx.x;
    double r_pack[2] = {0};
    double last_pack[1] = {0};
    double q_pack[4];
    if (n < last) {
      const double *q_pack_from0 = q + r_map[n * 2] * 2;
      q_pack[0] = q_pack_from0[0];
      q_pack[1] = q_pack_from0[1];
      const double *q_pack_from1 = q + r_map[n * 2 + 1] * 2;
      q_pack[2] = q_pack_from1[0];
      q_pack[3] = q_pack_from1[1];
      ends(r_pack, last_pack, q_pack);
    }
    const int own_colour = (n < last ? thrcol[n] : -1);
    // Elements of one thread colour share no target.
    for (int colour = 0; colour < nthrcol[block]; ++colour) {
      if (own_colour == colour) {
        const int r_pack_to0 = r_loc_map[n * 2];
        r_shared[r_pack_to0] += r_pack[0];
        const int r_pack_to1 = r_loc_map[n * 2 + 1];
        r_shared[r_pack_to1] += r_pack[1];
        const int last_pack_to0 = r_loc_map_1[n];
        r_shared_1[last_pack_to0] += last_pack[0];
      }
      __syncthreads();
    }
  }
  // The targets themselves.
  for (int i = (int)threadIdx.x; i < ind_sizes[block * 2]; i += (int)blockDim.x) {
    r[r_ind_map[ind_offs[block * 2] + i]] += r_shared[i];
  }
  __syncthreads();
  for (int i = (int)threadIdx.x; i < ind_sizes[block * 2 + 1]; i += (int)blockDim.x) {
    r[r_ind_map_1[ind_offs[block * 2 + 1] + i]] += r_shared_1[i];
  }
}
