/* pyop2cxx VERSION: lowest, strategy block */
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

static __device__ inline double least(double a, double b) {
  return fmin(a, b);
}

static __device__ inline void lowest(const double *q, double *low, double *lowest_of_all) {
  double value = least(q[0], q[2]);
  for (int i = 0; i < 2; ++i) {
    if (value < low[i]) {
      low[i] = value;
    }
  }
  if (value < lowest_of_all[0]) {
    lowest_of_all[0] = value;
  }
}

// Launched for each colour in [0, sizes[0]) in (last - first) blocks,
// with block_offset = first.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
// lowest_of_all_partial [end - begin]: kept until the last launch
// n_arrived [1]: 0 before the first launch; each finds what the last one left
extern "C" __global__ void wrap_lowest(
    const double *__restrict__ q,
    double *__restrict__ low,
    double *__restrict__ lowest_of_all,
    double *__restrict__ lowest_of_all_partial,
    const int *__restrict__ q_map,
    const int *__restrict__ low_ind_map,
    const unsigned short *__restrict__ low_loc_map,
    const int *__restrict__ ind_sizes,
    const long *__restrict__ ind_offs,
    const int *__restrict__ blkmap,
    const long *__restrict__ offset,
    const int *__restrict__ nelems,
    const int *__restrict__ nthrcol,
    const int *__restrict__ thrcol,
    long block_offset,
    unsigned int *__restrict__ n_arrived) {
  // low_ind_map [n_staged of all blocks]: the targets of each block, ascending
  // low_loc_map [n_elements, arity]: where in its block's targets an entry is
  // ind_sizes [n_blocks, n_lists]: targets of a block in a list
  // ind_offs [n_blocks, n_lists]: where they begin in the list
  // blkmap [n_blocks]: blocks by colour
  // offset [n_blocks]: the first element of each block
  // nelems [n_blocks]: elements of each block
  // nthrcol [n_blocks]: colours of the elements of each block
  // thrcol [n_elements]: the colour of an element within its block
  op2_start();
  q = (const double *)__builtin_assume_aligned(q, 16);
  low = (double *)__builtin_assume_aligned(low, 16);
  lowest_of_all = (double *)__builtin_assume_aligned(lowest_of_all, 16);
  lowest_of_all_partial = (double *)__builtin_assume_aligned(lowest_of_all_partial, 16);
  q_map = (const int *)__builtin_assume_aligned(q_map, 16);
  low_ind_map = (const int *)__builtin_assume_aligned(low_ind_map, 16);
  low_loc_map = (const unsigned short *)__builtin_assume_aligned(low_loc_map, 16);
  ind_sizes = (const int *)__builtin_assume_aligned(ind_sizes, 16);
  ind_offs = (const long *)__builtin_assume_aligned(ind_offs, 16);
  blkmap = (const int *)__builtin_assume_aligned(blkmap, 16);
  offset = (const long *)__builtin_assume_aligned(offset, 16);
  nelems = (const int *)__builtin_assume_aligned(nelems, 16);
  nthrcol = (const int *)__builtin_assume_aligned(nthrcol, 16);
  thrcol = (const int *)__builtin_assume_aligned(thrcol, 16);
  n_arrived = (unsigned int *)__builtin_assume_aligned(n_arrived, 16);
  __shared__ double lowest_of_all_tree[8];
  double lowest_of_all_lane[1];
  __shared__ int is_last;
  lowest_of_all_lane[0] = lowest_of_all[0];
  __shared__ double low_shared[512];
  const int block = blkmap[block_offset + (int)blockIdx.x];
  const int first = offset[block];
  const int last = first + nelems[block];
  // What the block adds to its targets, in memory that its lanes share.
  for (int i = (int)threadIdx.x; i < ind_sizes[block]; i += (int)blockDim.x) {
    low_shared[i] = low[low_ind_map[ind_offs[block] + i]];
  }
  __syncthreads();
  for (int k = 0; k < (last - first + (int)blockDim.x - 1) / (int)blockDim.x; ++k) {
    const int n = first + k * (int)blockDim.x + (int)threadIdx.x;
    double q_pack[4];
    double low_pack[2];
    double lowest_of_all_pack[1];
    if (n < last) {
      const double *q_pack_from0 = q + q_map[n * 2] * 2;
      q_pack[0] = q_pack_from0[0];
      q_pack[1] = q_pack_from0[1];
      const double *q_pack_from1 = q + q_map[n * 2 + 1] * 2;
      q_pack[2] = q_pack_from1[0];
      q_pack[3] = q_pack_from1[1];
      const double *low_pack_from0 = low + q_map[n * 2];
      low_pack[0] = low_pack_from0[0];
      const double *low_pack_from1 = low + q_map[n * 2 + 1];
      low_pack[1] = low_pack_from1[0];
      lowest_of_all_pack[0] = lowest_of_all_lane[0];
      lowest(q_pack, low_pack, lowest_of_all_pack);
      if (lowest_of_all_pack[0] < lowest_of_all_lane[0]) {
        lowest_of_all_lane[0] = lowest_of_all_pack[0];
      }
    }
    const int own_colour = (n < last ? thrcol[n] : -1);
    // Elements of one thread colour share no target.
    for (int colour = 0; colour < nthrcol[block]; ++colour) {
      if (own_colour == colour) {
        const int low_pack_to0 = low_loc_map[n * 2];
        if (low_pack[0] < low_shared[low_pack_to0]) {
          low_shared[low_pack_to0] = low_pack[0];
        }
        const int low_pack_to1 = low_loc_map[n * 2 + 1];
        if (low_pack[1] < low_shared[low_pack_to1]) {
          low_shared[low_pack_to1] = low_pack[1];
        }
      }
      __syncthreads();
    }
  }
  // The targets themselves.
  for (int i = (int)threadIdx.x; i < ind_sizes[block]; i += (int)blockDim.x) {
    if (low_shared[i] < low[low_ind_map[ind_offs[block] + i]]) {
      low[low_ind_map[ind_offs[block] + i]] = low_shared[i];
    }
  }
  // The values of the block's lanes become one.
  double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 16, 32);
  if (lowest_of_all_got < lowest_of_all_lane[0]) {
    lowest_of_all_lane[0] = lowest_of_all_got;
  }
  double lowest_of_all_got2 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 8, 32);
  if (lowest_of_all_got2 < lowest_of_all_lane[0]) {
    lowest_of_all_lane[0] = lowest_of_all_got2;
  }
  double lowest_of_all_got3 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 4, 32);
  if (lowest_of_all_got3 < lowest_of_all_lane[0]) {
    lowest_of_all_lane[0] = lowest_of_all_got3;
  }
  double lowest_of_all_got4 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 2, 32);
  if (lowest_of_all_got4 < lowest_of_all_lane[0]) {
    lowest_of_all_lane[0] = lowest_of_all_got4;
  }
  double lowest_of_all_got5 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 1, 32);
  if (lowest_of_all_got5 < lowest_of_all_lane[0]) {
    lowest_of_all_lane[0] = lowest_of_all_got5;
  }
  if ((int)threadIdx.x % 32 == 0) {
    lowest_of_all_tree[(int)threadIdx.x / 32] = lowest_of_all_lane[0];
  }
  __syncthreads();
  if ((int)threadIdx.x < 32) {
    lowest_of_all_lane[0] =
        ((int)threadIdx.x < (int)blockDim.x / 32 ? lowest_of_all_tree[(int)threadIdx.x] : lowest_of_all[0]);
    double lowest_of_all_got6 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 4, 32);
    if (lowest_of_all_got6 < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_got6;
    }
    double lowest_of_all_got7 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 2, 32);
    if (lowest_of_all_got7 < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_got7;
    }
    double lowest_of_all_got8 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 1, 32);
    if (lowest_of_all_got8 < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_got8;
    }
  }
  if ((int)threadIdx.x == 0) {
    lowest_of_all_partial[(int)blockIdx.x] = lowest_of_all_lane[0];
  }
  // The block that is done last combines the results of all.
  if ((int)threadIdx.x == 0) {
    is_last = op2_is_last(n_arrived, (int)gridDim.x);
  }
  __syncthreads();
  if (is_last) {
    lowest_of_all_lane[0] = lowest_of_all[0];
    for (int k = (int)threadIdx.x; k < (int)gridDim.x; k += (int)blockDim.x) {
      if (lowest_of_all_partial[k] < lowest_of_all_lane[0]) {
        lowest_of_all_lane[0] = lowest_of_all_partial[k];
      }
    }
    // The values of the block's lanes become one.
    double lowest_of_all_got6 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 16, 32);
    if (lowest_of_all_got6 < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_got6;
    }
    double lowest_of_all_got7 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 8, 32);
    if (lowest_of_all_got7 < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_got7;
    }
    double lowest_of_all_got8 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 4, 32);
    if (lowest_of_all_got8 < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_got8;
    }
    double lowest_of_all_got9 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 2, 32);
    if (lowest_of_all_got9 < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_got9;
    }
    double lowest_of_all_got10 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 1, 32);
    if (lowest_of_all_got10 < lowest_of_all_lane[0]) {
      lowest_of_all_lane[0] = lowest_of_all_got10;
    }
    if ((int)threadIdx.x % 32 == 0) {
      lowest_of_all_tree[(int)threadIdx.x / 32] = lowest_of_all_lane[0];
    }
    __syncthreads();
    if ((int)threadIdx.x < 32) {
      lowest_of_all_lane[0] =
          ((int)threadIdx.x < (int)blockDim.x / 32 ? lowest_of_all_tree[(int)threadIdx.x] : lowest_of_all[0]);
      double lowest_of_all_got11 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 4, 32);
      if (lowest_of_all_got11 < lowest_of_all_lane[0]) {
        lowest_of_all_lane[0] = lowest_of_all_got11;
      }
      double lowest_of_all_got12 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 2, 32);
      if (lowest_of_all_got12 < lowest_of_all_lane[0]) {
        lowest_of_all_lane[0] = lowest_of_all_got12;
      }
      double lowest_of_all_got13 = __shfl_sync(0xffffffffu, lowest_of_all_lane[0], (int)threadIdx.x + 1, 32);
      if (lowest_of_all_got13 < lowest_of_all_lane[0]) {
        lowest_of_all_lane[0] = lowest_of_all_got13;
      }
    }
    if ((int)threadIdx.x == 0) {
      if (lowest_of_all_lane[0] < lowest_of_all[0]) {
        lowest_of_all[0] = lowest_of_all_lane[0];
      }
    }
  }
}
