/* pyop2cxx VERSION: flux, strategy colour */
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

// One colour after the other: what one has updates no target twice.
// Launched for each colour in [0, sizes[0]) on lanes for (last - first) items, or on fewer, which stride,
// with begin = first, end = last.
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// last = min(colour_offset[colour + 1], end)
// first = (colour_offset[colour] < begin ? begin : colour_offset[colour])
// colour_offset [n_colours + 1]: where the blocks or elements of each colour begin
// total_partial [blocks for end - begin]: kept until the last launch
// n_arrived [1]: 0 before the first launch; each finds what the last one left
extern "C" __global__ void wrap_flux(
    const double *__restrict__ q,
    double *__restrict__ r,
    double *__restrict__ total,
    double *__restrict__ total_partial,
    const int *__restrict__ q_map,
    const int *__restrict__ element,
    long begin,
    long end,
    unsigned int *__restrict__ n_arrived) {
  // element [n_elements]: elements by colour
  op2_start();
  q = (const double *)__builtin_assume_aligned(q, 16);
  r = (double *)__builtin_assume_aligned(r, 16);
  total = (double *)__builtin_assume_aligned(total, 16);
  total_partial = (double *)__builtin_assume_aligned(total_partial, 16);
  q_map = (const int *)__builtin_assume_aligned(q_map, 16);
  element = (const int *)__builtin_assume_aligned(element, 16);
  n_arrived = (unsigned int *)__builtin_assume_aligned(n_arrived, 16);
  __shared__ double total_tree[8];
  double total_lane[1] = {0};
  __shared__ int is_last;
  #pragma unroll 1
  for (int k = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); k < end; k += (int)(gridDim.x * blockDim.x)) {
    const int n = element[k];
    double q_pack[4];
    const double *q_pack_from0 = q + q_map[n * 2] * 2;
    q_pack[0] = q_pack_from0[0];
    q_pack[1] = q_pack_from0[1];
    const double *q_pack_from1 = q + q_map[n * 2 + 1] * 2;
    q_pack[2] = q_pack_from1[0];
    q_pack[3] = q_pack_from1[1];
    double r_pack[4] = {0};
    double total_pack[1] = {0};
    flux(q_pack, r_pack, total_pack);
    double *r_pack_to0 = r + q_map[n * 2] * 2;
    r_pack_to0[0] += r_pack[0];
    r_pack_to0[1] += r_pack[1];
    double *r_pack_to1 = r + q_map[n * 2 + 1] * 2;
    r_pack_to1[0] += r_pack[2];
    r_pack_to1[1] += r_pack[3];
    total_lane[0] += total_pack[0];
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
