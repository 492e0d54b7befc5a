/* pyop2cxx VERSION: lowest, strategy owner */

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
  for (int c = 0; c < 1; ++c) {
    lowest_of_all_lane[c] = lowest_of_all[c];
  }
  #pragma unroll 1
  for (int t = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); t < end; t += (int)(gridDim.x * blockDim.x)) {
    const int target = (touched ? touched[t] : t);
    double low_own[1];
    for (int c = 0; c < 1; ++c) {
      low_own[c] = low[target + c];
    }
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
          for (int c = 0; c < 1; ++c) {
            low_pack[i + c] = low_own[c];
          }
        }
        double lowest_of_all_pack[1];
        for (int c = 0; c < 1; ++c) {
          lowest_of_all_pack[c] = lowest_of_all_lane[c];
        }
        lowest(q_pack, low_pack, lowest_of_all_pack);
        for (int c = 0; c < 1; ++c) {
          if ((o == 0 ? low_pack[c] : low_pack[1 + c]) < low_own[c]) {
            low_own[c] = (o == 0 ? low_pack[c] : low_pack[1 + c]);
          }
        }
        for (int c = 0; c < 1; ++c) {
          if (lowest_of_all_pack[c] < lowest_of_all_lane[c]) {
            lowest_of_all_lane[c] = lowest_of_all_pack[c];
          }
        }
      }
    }
    for (int c = 0; c < 1; ++c) {
      low[target + c] = low_own[c];
    }
  }
  for (int c = 0; c < 1; ++c) {
    double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 16, 32);
    if (lowest_of_all_got < lowest_of_all_lane[c]) {
      lowest_of_all_lane[c] = lowest_of_all_got;
    }
  }
  for (int c = 0; c < 1; ++c) {
    double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 8, 32);
    if (lowest_of_all_got < lowest_of_all_lane[c]) {
      lowest_of_all_lane[c] = lowest_of_all_got;
    }
  }
  for (int c = 0; c < 1; ++c) {
    double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 4, 32);
    if (lowest_of_all_got < lowest_of_all_lane[c]) {
      lowest_of_all_lane[c] = lowest_of_all_got;
    }
  }
  for (int c = 0; c < 1; ++c) {
    double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 2, 32);
    if (lowest_of_all_got < lowest_of_all_lane[c]) {
      lowest_of_all_lane[c] = lowest_of_all_got;
    }
  }
  for (int c = 0; c < 1; ++c) {
    double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 1, 32);
    if (lowest_of_all_got < lowest_of_all_lane[c]) {
      lowest_of_all_lane[c] = lowest_of_all_got;
    }
  }
  if ((int)threadIdx.x % 32 == 0) {
    for (int c = 0; c < 1; ++c) {
      lowest_of_all_tree[c * 8 + (int)threadIdx.x / 32] = lowest_of_all_lane[c];
    }
  }
  __syncthreads();
  if ((int)threadIdx.x == 0) {
    for (int k = 1; k < (int)blockDim.x / 32; ++k) {
      for (int c = 0; c < 1; ++c) {
        if (lowest_of_all_tree[c * 8 + k] < lowest_of_all_lane[c]) {
          lowest_of_all_lane[c] = lowest_of_all_tree[c * 8 + k];
        }
      }
    }
  }
  if ((int)threadIdx.x == 0) {
    for (int c = 0; c < 1; ++c) {
      lowest_of_all_partial[(int)blockIdx.x + c] = lowest_of_all_lane[c];
    }
  }
  if ((int)threadIdx.x == 0) {
    __threadfence();
    is_last = atomicInc(n_arrived, (int)gridDim.x - 1) == (int)gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last) {
    for (int c = 0; c < 1; ++c) {
      lowest_of_all_lane[c] = lowest_of_all[c];
    }
    for (int k = (int)threadIdx.x; k < (int)gridDim.x; k += (int)blockDim.x) {
      for (int c = 0; c < 1; ++c) {
        if (lowest_of_all_partial[k + c] < lowest_of_all_lane[c]) {
          lowest_of_all_lane[c] = lowest_of_all_partial[k + c];
        }
      }
    }
    for (int c = 0; c < 1; ++c) {
      double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 16, 32);
      if (lowest_of_all_got < lowest_of_all_lane[c]) {
        lowest_of_all_lane[c] = lowest_of_all_got;
      }
    }
    for (int c = 0; c < 1; ++c) {
      double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 8, 32);
      if (lowest_of_all_got < lowest_of_all_lane[c]) {
        lowest_of_all_lane[c] = lowest_of_all_got;
      }
    }
    for (int c = 0; c < 1; ++c) {
      double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 4, 32);
      if (lowest_of_all_got < lowest_of_all_lane[c]) {
        lowest_of_all_lane[c] = lowest_of_all_got;
      }
    }
    for (int c = 0; c < 1; ++c) {
      double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 2, 32);
      if (lowest_of_all_got < lowest_of_all_lane[c]) {
        lowest_of_all_lane[c] = lowest_of_all_got;
      }
    }
    for (int c = 0; c < 1; ++c) {
      double lowest_of_all_got = __shfl_sync(0xffffffffu, lowest_of_all_lane[c], (int)threadIdx.x + 1, 32);
      if (lowest_of_all_got < lowest_of_all_lane[c]) {
        lowest_of_all_lane[c] = lowest_of_all_got;
      }
    }
    if ((int)threadIdx.x % 32 == 0) {
      for (int c = 0; c < 1; ++c) {
        lowest_of_all_tree[c * 8 + (int)threadIdx.x / 32] = lowest_of_all_lane[c];
      }
    }
    __syncthreads();
    if ((int)threadIdx.x == 0) {
      for (int k = 1; k < (int)blockDim.x / 32; ++k) {
        for (int c = 0; c < 1; ++c) {
          if (lowest_of_all_tree[c * 8 + k] < lowest_of_all_lane[c]) {
            lowest_of_all_lane[c] = lowest_of_all_tree[c * 8 + k];
          }
        }
      }
    }
    if ((int)threadIdx.x == 0) {
      for (int c = 0; c < 1; ++c) {
        if (lowest_of_all_lane[c] < lowest_of_all[c]) {
          lowest_of_all[c] = lowest_of_all_lane[c];
        }
      }
    }
  }
}
