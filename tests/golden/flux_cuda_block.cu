/* pyop2cxx VERSION: flux, strategy block */
/* Count a block that is done, at n_arrived. Whether all n are: then what they wrote can be read.
   Fences on both sides would order everything; release and acquire wait for less. */
static __device__ inline int op2_is_last(unsigned int *n_arrived, unsigned int n) {
#if __CUDA_ARCH__ >= 700
  unsigned int before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(n_arrived), "r"(n - 1)
               : "memory");
#else
  __threadfence();
  const unsigned int before = atomicInc(n_arrived, n - 1);
  __threadfence();
#endif
  return before == n - 1;
}

/* A kernel starts while the last blocks of the one before it run, and waits here for all they write. */
#if __CUDA_ARCH__ >= 900
extern "C" __device__ const char op2_waits = 1;
#endif
static __device__ inline void op2_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void flux(const double *q, double *r, double *total) {
  for (int c = 0; c < 2; c++) {
    double f = q[c] - q[2 + c];
    r[c] += f;
    r[2 + c] -= f;
    total[0] += f * f;
  }
}

// Launched for each colour in [0, sizes[0]) in (last - first) blocks,
// with block_offset = first.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
// total_partial [end - begin]: kept until the last launch
// n_arrived [1]: 0 before the first launch; each finds what the last one left
extern "C" __global__ void wrap_flux(
    const double *__restrict__ q,
    double *__restrict__ r,
    double *__restrict__ total,
    double *__restrict__ total_partial,
    const int *__restrict__ q_map,
    const int *__restrict__ r_ind_map,
    const unsigned short *__restrict__ r_loc_map,
    const int *__restrict__ ind_sizes,
    const long *__restrict__ ind_offs,
    const int *__restrict__ blkmap,
    const long *__restrict__ offset,
    const int *__restrict__ nelems,
    const int *__restrict__ nthrcol,
    const int *__restrict__ thrcol,
    long block_offset,
    unsigned int *__restrict__ n_arrived) {
  // r_ind_map [n_staged of all blocks]: the targets of each block, ascending
  // r_loc_map [n_elements, arity]: where in its block's targets an entry is
  // ind_sizes [n_blocks, n_lists]: targets of a block in a list
  // ind_offs [n_blocks, n_lists]: where they begin in the list
  // blkmap [n_blocks]: blocks by colour
  // offset [n_blocks]: the first element of each block
  // nelems [n_blocks]: elements of each block
  // nthrcol [n_blocks]: colours of the elements of each block
  // thrcol [n_elements]: the colour of an element within its block
  op2_start();
  q = (const double *)__builtin_assume_aligned(q, 16);
  r = (double *)__builtin_assume_aligned(r, 16);
  total = (double *)__builtin_assume_aligned(total, 16);
  total_partial = (double *)__builtin_assume_aligned(total_partial, 16);
  q_map = (const int *)__builtin_assume_aligned(q_map, 16);
  r_ind_map = (const int *)__builtin_assume_aligned(r_ind_map, 16);
  r_loc_map = (const unsigned short *)__builtin_assume_aligned(r_loc_map, 16);
  ind_sizes = (const int *)__builtin_assume_aligned(ind_sizes, 16);
  ind_offs = (const long *)__builtin_assume_aligned(ind_offs, 16);
  blkmap = (const int *)__builtin_assume_aligned(blkmap, 16);
  offset = (const long *)__builtin_assume_aligned(offset, 16);
  nelems = (const int *)__builtin_assume_aligned(nelems, 16);
  nthrcol = (const int *)__builtin_assume_aligned(nthrcol, 16);
  thrcol = (const int *)__builtin_assume_aligned(thrcol, 16);
  n_arrived = (unsigned int *)__builtin_assume_aligned(n_arrived, 16);
  __shared__ double total_tree[8];
  double total_lane[1] = {0};
  __shared__ int is_last;
  __shared__ double r_shared[1024];
  const int block = blkmap[block_offset + (int)blockIdx.x];
  const int first = offset[block];
  const int last = first + nelems[block];
  // What the block adds to its targets, in memory that its lanes share.
  for (int i = (int)threadIdx.x; i < ind_sizes[block] * 2; i += (int)blockDim.x) {
    r_shared[i] = 0;
  }
  __syncthreads();
  for (int k = 0; k < (last - first + (int)blockDim.x - 1) / (int)blockDim.x; ++k) {
    const int n = first + k * (int)blockDim.x + (int)threadIdx.x;
    double q_pack[4];
    double r_pack[4] = {0};
    double total_pack[1] = {0};
    if (n < last) {
      const double *q_pack_from0 = q + q_map[n * 2] * 2;
      q_pack[0] = q_pack_from0[0];
      q_pack[1] = q_pack_from0[1];
      const double *q_pack_from1 = q + q_map[n * 2 + 1] * 2;
      q_pack[2] = q_pack_from1[0];
      q_pack[3] = q_pack_from1[1];
      flux(q_pack, r_pack, total_pack);
      total_lane[0] += total_pack[0];
    }
    const int own_colour = (n < last ? thrcol[n] : -1);
    // Elements of one thread colour share no target.
    for (int colour = 0; colour < nthrcol[block]; ++colour) {
      if (own_colour == colour) {
        const int r_pack_to0 = r_loc_map[n * 2] * 2;
        r_shared[r_pack_to0] += r_pack[0];
        r_shared[r_pack_to0 + 1] += r_pack[1];
        const int r_pack_to1 = r_loc_map[n * 2 + 1] * 2;
        r_shared[r_pack_to1] += r_pack[2];
        r_shared[r_pack_to1 + 1] += r_pack[3];
      }
      __syncthreads();
    }
  }
  // The targets themselves.
  for (int i = (int)threadIdx.x; i < ind_sizes[block] * 2; i += (int)blockDim.x) {
    r[r_ind_map[ind_offs[block] + i / 2] * 2 + i % 2] += r_shared[i];
  }
  // The values of the block's lanes become one.
  total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 16, 32);
  total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 8, 32);
  total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 4, 32);
  total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 2, 32);
  total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 1, 32);
  if ((int)threadIdx.x % 32 == 0) {
    total_tree[(int)threadIdx.x / 32] = total_lane[0];
  }
  __syncthreads();
  if ((int)threadIdx.x < 32) {
    total_lane[0] = ((int)threadIdx.x < (int)blockDim.x / 32 ? total_tree[(int)threadIdx.x] : 0);
    total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 4, 32);
    total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 2, 32);
    total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 1, 32);
  }
  if ((int)threadIdx.x == 0) {
    total_partial[(int)blockIdx.x] = total_lane[0];
  }
  // The block that is done last combines the results of all.
  if ((int)threadIdx.x == 0) {
    is_last = op2_is_last(n_arrived, (int)gridDim.x);
  }
  __syncthreads();
  if (is_last) {
    total_lane[0] = 0;
    for (int k = (int)threadIdx.x; k < (int)gridDim.x; k += (int)blockDim.x) {
      total_lane[0] += total_partial[k];
    }
    // The values of the block's lanes become one.
    total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 16, 32);
    total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 8, 32);
    total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 4, 32);
    total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 2, 32);
    total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 1, 32);
    if ((int)threadIdx.x % 32 == 0) {
      total_tree[(int)threadIdx.x / 32] = total_lane[0];
    }
    __syncthreads();
    if ((int)threadIdx.x < 32) {
      total_lane[0] = ((int)threadIdx.x < (int)blockDim.x / 32 ? total_tree[(int)threadIdx.x] : 0);
      total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 4, 32);
      total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 2, 32);
      total_lane[0] += __shfl_sync(0xffffffffu, total_lane[0], (int)threadIdx.x + 1, 32);
    }
    if ((int)threadIdx.x == 0) {
      total[0] += total_lane[0];
    }
  }
}
