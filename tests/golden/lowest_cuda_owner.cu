/* pyop2cxx VERSION: lowest, strategy owner */
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

// Launched on lanes for (end - begin) items, or on fewer, which stride,
// with n_columns = sizes[1], n_rows = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
// lowest_of_all_partial [blocks for end - begin]: kept until the last launch
// n_arrived [1]: 0 before the first launch; each finds what the last one left
extern "C" __global__ void wrap_lowest(
    const double *__restrict__ q,
    double *__restrict__ low,
    double *__restrict__ lowest_of_all,
    double *__restrict__ lowest_of_all_partial,
    const int *__restrict__ q_map,
    const int *__restrict__ incidence,
    const int *__restrict__ touched,
    long n_columns,
    long n_rows,
    long begin,
    long end,
    unsigned int *__restrict__ n_arrived) {
  // incidence [n_incidences] or [width, n_rows]: element * slots + slot; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  op2_start();
  q = (const double *)__builtin_assume_aligned(q, 16);
  low = (double *)__builtin_assume_aligned(low, 16);
  lowest_of_all = (double *)__builtin_assume_aligned(lowest_of_all, 16);
  lowest_of_all_partial = (double *)__builtin_assume_aligned(lowest_of_all_partial, 16);
  q_map = (const int *)__builtin_assume_aligned(q_map, 16);
  incidence = (const int *)__builtin_assume_aligned(incidence, 16);
  touched = (const int *)__builtin_assume_aligned(touched, 16);
  n_arrived = (unsigned int *)__builtin_assume_aligned(n_arrived, 16);
  __shared__ double lowest_of_all_tree[8];
  double lowest_of_all_lane[1];
  __shared__ int is_last;
  lowest_of_all_lane[0] = lowest_of_all[0];
  #pragma unroll 1
  for (int t = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); t < end; t += (int)(gridDim.x * blockDim.x)) {
    const int target = (touched ? touched[t] : t);
    double low_own[1];
    low_own[0] = low[target];
    // Every element that leads to the target, for what the target gets of it.
    long next = (0 < n_columns ? incidence[t] : -1);
    for (int k = 0; k < n_columns; ++k) {
      const int entry = next;
      next = (k + 1 < n_columns ? incidence[(k + 1) * n_rows + t] : -1);
      if (-1 < entry) {
        const int n = entry / 2;
        const int o = entry - n * 2;
        double q_pack[4];
        const int q_pack_from0 = q_map[n * 2] * 2;
        q_pack[0] = q[q_pack_from0];
        q_pack[1] = q[q_pack_from0 + 1];
        const int q_pack_from1 = q_map[n * 2 + 1] * 2;
        q_pack[2] = q[q_pack_from1];
        q_pack[3] = q[q_pack_from1 + 1];
        double low_pack[2];
        for (int i = 0; i < 2; ++i) {
          low_pack[i] = low_own[0];
        }
        double lowest_of_all_pack[1];
        lowest_of_all_pack[0] = lowest_of_all_lane[0];
        lowest(q_pack, low_pack, lowest_of_all_pack);
        if ((o == 0 ? low_pack[0] : low_pack[1]) < low_own[0]) {
          low_own[0] = (o == 0 ? low_pack[0] : low_pack[1]);
        }
        if (lowest_of_all_pack[0] < lowest_of_all_lane[0]) {
          lowest_of_all_lane[0] = lowest_of_all_pack[0];
        }
      }
    }
    low[target] = low_own[0];
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
