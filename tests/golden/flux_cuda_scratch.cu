/* pyop2cxx VERSION: flux, strategy scratch */
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

// Phase 1 of 2: The results of all elements are kept.
// Launched on lanes for (end - begin) items, or on fewer, which stride.
// total_partial [blocks for end - begin]: kept until the last launch
// r_scratch [(end - begin) * 4]: kept until the last launch
// n_arrived [1]: 0 before the first launch; each finds what the last one left
extern "C" __global__ void wrap_flux(
    const double *__restrict__ q,
    double *__restrict__ total,
    double *__restrict__ total_partial,
    const int *__restrict__ q_map,
    double *__restrict__ r_scratch,
    long begin,
    long end,
    unsigned int *__restrict__ n_arrived) {
  op2_start();
  q = (const double *)__builtin_assume_aligned(q, 16);
  total = (double *)__builtin_assume_aligned(total, 16);
  total_partial = (double *)__builtin_assume_aligned(total_partial, 16);
  q_map = (const int *)__builtin_assume_aligned(q_map, 16);
  r_scratch = (double *)__builtin_assume_aligned(r_scratch, 16);
  n_arrived = (unsigned int *)__builtin_assume_aligned(n_arrived, 16);
  __shared__ double total_tree[8];
  double total_lane[1] = {0};
  __shared__ int is_last;
  #pragma unroll 1
  for (int n = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); n < end; n += (int)(gridDim.x * blockDim.x)) {
    double q_pack[4];
    const int q_pack_from0 = q_map[n * 2] * 2;
    q_pack[0] = q[q_pack_from0];
    q_pack[1] = q[q_pack_from0 + 1];
    const int q_pack_from1 = q_map[n * 2 + 1] * 2;
    q_pack[2] = q[q_pack_from1];
    q_pack[3] = q[q_pack_from1 + 1];
    double r_pack[4] = {0};
    double total_pack[1] = {0};
    flux(q_pack, r_pack, total_pack);
    for (int c = 0; c < 4; ++c) {
      r_scratch[n * 4 + c] = r_pack[c];
    }
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

// Phase 2 of 2: then each target sums what is its own, in the order of the elements.
// Launched on lanes for sizes[0] items, or on fewer, which stride,
// with n_columns = sizes[1], n_rows = sizes[0], begin = 0, end = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// r_scratch [(end - begin) * 4]: kept until the last launch
extern "C" __global__ void sum_flux(
    double *__restrict__ r,
    const int *__restrict__ incidence,
    const int *__restrict__ touched,
    long n_columns,
    long n_rows,
    const double *__restrict__ r_scratch,
    long begin,
    long end) {
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  r = (double *)__builtin_assume_aligned(r, 16);
  incidence = (const int *)__builtin_assume_aligned(incidence, 16);
  touched = (const int *)__builtin_assume_aligned(touched, 16);
  r_scratch = (const double *)__builtin_assume_aligned(r_scratch, 16);
  #pragma unroll 1
  for (int t = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); t < end; t += (int)(gridDim.x * blockDim.x)) {
    const int target = (touched ? touched[t] : t);
    double r_own[2];
    for (int c = 0; c < 2; ++c) {
      r_own[c] = 0;
    }
    long next = (0 < n_columns ? incidence[t] : -1);
    op2_start();
    for (int k = 0; k < n_columns; ++k) {
      const int entry = next;
      next = (k + 1 < n_columns ? incidence[(k + 1) * n_rows + t] : -1);
      if (-1 < entry) {
        const int n = entry / 2;
        const int o = entry - n * 2;
        for (int c = 0; c < 2; ++c) {
          r_own[c] += r_scratch[n * 4 + o * 2 + c];
        }
      }
    }
    for (int c = 0; c < 2; ++c) {
      r[target * 2 + c] += r_own[c];
    }
  }
}
