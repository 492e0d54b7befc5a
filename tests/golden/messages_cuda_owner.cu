/* pyop2cxx VERSION: messages, strategy owner */

/* A kernel starts while the last blocks of the one before it run, and waits here for all they write. */
#if __CUDA_ARCH__ >= 900
extern "C" __device__ const char op2_waits = 1;
#endif
static __device__ inline void op2_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ inline void messages(const double *a, const double *b, double *r) {
  for (int i = 0; i < 2; ++i) {
    r[i] += a[i] - b[i];
  }
}

// Launched on lanes for (end - begin) items, or on fewer, which stride,
// with n_columns = sizes[1], n_rows = sizes[0].
// sizes [1 or 2]: colours; or rows, and padded columns of a row
extern "C" __global__ void wrap_messages(
    const double *__restrict__ a,
    double *__restrict__ r,
    const int *__restrict__ a_map_rows,
    const int *__restrict__ touched,
    long n_columns,
    long n_rows,
    long begin,
    long end) {
  // a_map_rows [n_incidences, arity], [n_columns, lanes, arity], [width, n_rows, arity] or [n_rows, width, arity]:
  // where the elements of the incidences lead by a Map; -1 where a padded column has none
  // touched [n_rows]: the target of each row; absent: all in order
  a = (const double *)__builtin_assume_aligned(a, 16);
  r = (double *)__builtin_assume_aligned(r, 16);
  a_map_rows = (const int *)__builtin_assume_aligned(a_map_rows, 16);
  touched = (const int *)__builtin_assume_aligned(touched, 16);
  #pragma unroll 1
  for (int t = begin + (int)(blockIdx.x * blockDim.x + threadIdx.x); t < end; t += (int)(gridDim.x * blockDim.x)) {
    const int target = (touched ? touched[t] : t);
    double r_own[2];
    for (int c = 0; c < 2; ++c) {
      r_own[c] = 0;
    }
    double b_pack_own[2];
    const int b_pack_own_from0 = target * 2;
    op2_start();
    b_pack_own[0] = a[b_pack_own_from0];
    b_pack_own[1] = a[b_pack_own_from0 + 1];
    // Every element that leads to the target, for what the target gets of it.
    long next = (0 < n_columns ? a_map_rows[t] : -1);
    for (int k = 0; k < n_columns; ++k) {
      const int entry = next;
      next = (k + 1 < n_columns ? a_map_rows[(k + 1) * n_rows + t] : -1);
      if (-1 < entry) {
        double a_pack[2];
        const int a_pack_from0 = entry * 2;
        a_pack[0] = a[a_pack_from0];
        a_pack[1] = a[a_pack_from0 + 1];
        double b_pack[2];
        for (int c = 0; c < 2; ++c) {
          b_pack[c] = b_pack_own[c];
        }
        double r_pack[2] = {0};
        messages(a_pack, b_pack, r_pack);
        for (int c = 0; c < 2; ++c) {
          r_own[c] += r_pack[c];
        }
      }
    }
    for (int c = 0; c < 2; ++c) {
      r[target * 2 + c] += r_own[c];
    }
  }
}
